//! Rules for a scale, a zero point, a tensor's type and an op.
//!
//! Sources: the RFC's "Per-axis quantization integrity" and the "Verification" of each op; blocks:
//! llvm/llvm-project mlir/lib/Dialect/Quant/IR/QuantOps.cpp, `verifySubChannelQuantization`.

use super::error::Fault;
use super::op::Cast;
use super::print::{literal, six_digits};
use super::spans::{Located, Parts, Span};
use super::{Element, Expressed, Granularity, Quantized, Storage, Type};
use std::ops::RangeInclusive;
use tiebreak_oracle::float::Format;

/// Returns the smallest positive, the smallest normal and the largest number of a format, all exact in double.
fn limits(format: Format) -> [f64; 3] {
    let normal = 1 << (format.precision() - 1);
    [1, normal, format.largest()].map(|bits| format.decode(bits).finite().map_or(f64::NAN, |value| value.to_f64()))
}

/// Checks that a scale is a positive number in the range of the expressed type; unless `denormal`, a normal one. Its bits can be those of a NaN.
pub(super) fn scale(scale: f64, expressed: Expressed, denormal: bool) -> Result<(), String> {
    let [least, normal, most] = limits(super::format(expressed));
    if scale.is_nan() {
        Err("scale is NaN (mlir-opt accepts it): a scale is a positive number".to_owned())
    } else if scale < least || scale > most {
        let [scale, least, most] = [scale, least, most].map(six_digits);
        let expressed = expressed.name();
        Err(format!("scale {scale} out of expressed type range [{least}, {most}] of {expressed}; a scale is positive"))
    } else if scale < normal && !denormal {
        let ([scale, normal], expressed) = ([scale, normal].map(literal), expressed.name());
        Err(format!(
            "scale {scale} is denormal in {expressed}, whose smallest normal number is {normal} (mlir-opt accepts it)"
        ))
    } else {
        Ok(())
    }
}

/// Checks that a zero point is a stored value.
pub(super) fn zero_point(zero_point: i64, storage: Storage, bounds: &RangeInclusive<i64>) -> Result<(), String> {
    let (least, most) = storage.range().into_inner();
    let (min, max) = (*bounds.start(), *bounds.end());
    if !(least..=most).contains(&zero_point) {
        // mlir-opt keeps the low bits.
        let low = zero_point & ((1 << storage.bits) - 1);
        let truncated = if low > most { low - (1 << storage.bits) } else { low };
        let storage = storage.name();
        return Err(format!(
            "zero point {zero_point} outside the storage type {storage}, {least} to {most} (mlir-opt accepts it; its \
             lowering truncates it to {truncated})"
        ));
    }
    if !bounds.contains(&zero_point) {
        // Clamping never returns such a stored value.
        let clamped = zero_point.clamp(min, max);
        return Err(format!(
            "zero point {zero_point} outside the storage bounds {min}:{max}: real 0 would be stored as {clamped} \
             (mlir-opt accepts it)"
        ));
    }
    Ok(())
}

/// Checks that blocks of a type without a tensor are along axes of its scales. Otherwise no tensor can have the type.
pub(super) fn bare(element: &Element, parts: &Parts) -> Result<(), Fault> {
    let Element::Uniform(Quantized { granularity: Granularity::Blocks { sizes, counts }, .. }) = element else {
        return Ok(());
    };
    let scales = counts.len();
    match sizes.iter().position(|(axis, _)| *axis >= scales) {
        Some(at) => {
            let axis = sizes[at].0;
            let rule = format!(
                "quantized dimension {axis} must be less than the rank of the scales, {scales}, which is that of the \
                 tensor: write braces {} deep",
                axis + 1
            );
            Err(Fault::new(rule, parts.axes[at].clone()))
        }
        None => Ok(()),
    }
}

/// Checks that the scales of a tensor fit its dimensions. The rules on channels are the RFC's per-axis integrity: for scalars, for the axis, then for
/// the number of scales.
pub(super) fn container(located: &Located) -> Result<(), Fault> {
    let Element::Uniform(uniform) = located.ty.element() else { return Ok(()) };
    let parts = &located.parts;
    match (&located.ty, &uniform.granularity) {
        (_, Granularity::Layer) | (Type::Unranked(_), Granularity::Channel { .. }) => Ok(()),
        (Type::Scalar(_), Granularity::Channel { .. }) => {
            let rule = "scalar types may not use per-axis quantization: the type must be the element type of a tensor";
            Err(Fault::new(rule, parts.axes[0].clone()))
        }
        (Type::Scalar(_), Granularity::Blocks { .. }) => {
            let rule = "scalar types may not use sub-channel quantization: the type must be the element type of a \
                        ranked tensor";
            Err(Fault::new(rule, parts.scales.clone()))
        }
        (Type::Unranked(_), Granularity::Blocks { .. }) => {
            let rule = "tensor containing the sub-channel quantized type must be ranked";
            Err(Fault::new(rule, parts.scales.clone()))
        }
        (Type::Ranked { dims, .. }, Granularity::Channel { axis }) => channels(located, uniform, dims, *axis),
        (Type::Ranked { dims, .. }, Granularity::Blocks { sizes, counts }) => blocks(located, dims, sizes, counts),
    }
}

fn channels(located: &Located, uniform: &Quantized, dims: &[Option<u64>], axis: usize) -> Result<(), Fault> {
    let scales = uniform.scales.len();
    match dims.get(axis) {
        None => {
            let rank = dims.len();
            let rule = format!("quantized dimension must be less than tensor rank: dimension {axis}, rank {rank}");
            Err(Fault::new(rule, located.parts.axes[0].clone()))
        }
        Some(Some(size)) if *size != scales as u64 => {
            let rule = format!(
                "quantized dimension size does not match number of scales: dimension {axis} has size {size}, scales \
                 {scales}"
            );
            Err(Fault::new(rule, located.parts.scales.clone()))
        }
        Some(_) => Ok(()),
    }
}

fn blocks(located: &Located, dims: &[Option<u64>], sizes: &[(usize, usize)], counts: &[usize]) -> Result<(), Fault> {
    let rank = dims.len();
    let span = &located.parts.scales;
    for ((axis, _), span) in sizes.iter().zip(&located.parts.axes) {
        if *axis >= rank {
            let rule = format!("quantized dimension {axis} must be less than tensor rank {rank}");
            return Err(Fault::new(rule, span.clone()));
        }
    }
    if counts.len() != rank {
        let rule = format!("Rank of scales {} must match the rank of the tensor {rank}", counts.len());
        return Err(Fault::new(rule, span.clone()));
    }
    for (axis, (dim, scales)) in dims.iter().zip(counts).enumerate() {
        let at = sizes.iter().position(|(other, _)| *other == axis);
        let blocks = match (dim, at) {
            (Some(0), _) => {
                let rule = "tensor dimension size of zero is not allowed with sub-channel quantization";
                return Err(Fault::new(rule, located.dims[axis].clone()));
            }
            (_, None) => 1,
            (None, Some(_)) => continue,
            (Some(size), Some(at)) => {
                let block = sizes[at].1 as u64;
                if size % block != 0 {
                    let rule = format!(
                        "tensor dimension size {size} at axis {axis} must be divisible by the corresponding block \
                         size {block}"
                    );
                    return Err(Fault::new(rule, located.parts.axes[at].clone()));
                }
                size / block
            }
        };
        if blocks != *scales as u64 {
            let rule = format!(
                "dimension size {scales} of scales tensor at axis {axis} should match (tensor dimension at axis / \
                 block sizes at axis) = {blocks}"
            );
            return Err(Fault::new(rule, span.clone()));
        }
    }
    Ok(())
}

/// Checks the types of operand and result in mlir-opt's order: each side, both together, then the quantized type.
pub(super) fn op(cast: Cast, input: &Located, result: &Located) -> Result<(), Fault> {
    let op = cast.name();
    for (which, side, wanted) in [("operand", input, cast.operand()), ("result", result, cast.result())] {
        if !wanted.takes(side.ty.element()) {
            let (wanted, got) = (wanted.words(), &side.ty);
            let rule = format!("'{op}' op {which} #0 must be scalar or tensor of {wanted}, but got '{got}'");
            return Err(Fault::new(rule, side.span.clone()));
        }
    }
    let (quantized, other) = match (input.ty.uniform(), result.ty.uniform()) {
        (Some(_), None) => (input, result),
        (None, Some(_)) => (result, input),
        // scast from integer to integer, or from quantized to quantized.
        _ => {
            let rule = format!(
                "'{op}' op failed to verify that input must be integer and result must be quantized, or vice versa"
            );
            return Err(Fault::new(rule, result.span.clone()));
        }
    };
    if let Some(span) = differ(input, result) {
        let rule = format!(
            "'{op}' op failed to verify that input and result are both scalars or both tensors with matching shape"
        );
        return Err(Fault::new(rule, span));
    }
    if let Some(uniform) = quantized.ty.uniform() {
        elements(uniform, quantized, other.ty.element())?;
    }
    container(quantized)
}

/// Returns the place at which the shape of the result differs from the input's.
fn differ(input: &Located, result: &Located) -> Option<Span> {
    match (&input.ty, &result.ty) {
        (Type::Scalar(_), Type::Scalar(_)) | (Type::Unranked(_), Type::Unranked(_)) => None,
        (Type::Ranked { dims: before, .. }, Type::Ranked { dims: after, .. }) if before == after => None,
        (Type::Ranked { dims: before, .. }, Type::Ranked { dims: after, .. }) => {
            let at = after.iter().zip(before).position(|(after, before)| after != before);
            Some(at.map_or(&result.span, |at| &result.dims[at]).clone())
        }
        _ => Some(result.span.clone()),
    }
}

/// Checks that the expressed or the storage type equals the type of the other side.
fn elements(uniform: &Quantized, quantized: &Located, other: &Element) -> Result<(), Fault> {
    match other {
        Element::Float(float) if *float != uniform.expressed => {
            let (expressed, float) = (uniform.expressed.name(), float.name());
            let rule =
                format!("expressed type in quantized type expected to match float type: {expressed} is not {float}");
            Err(Fault::new(rule, quantized.parts.expressed.clone()))
        }
        Element::Integer(integer) if *integer != uniform.storage.bits => {
            let storage = uniform.storage.name();
            let rule = format!(
                "storage type in quantized type expected to match integer type: {storage} has not the width of i{integer}"
            );
            Err(Fault::new(rule, quantized.parts.storage.clone()))
        }
        _ => Ok(()),
    }
}

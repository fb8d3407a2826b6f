//! Rules for a scale, a zero point, a tensor's type and an op.
//!
//! Sources: the RFC's "Per-axis quantization integrity" and the "Verification" of each op; blocks:
//! llvm/llvm-project mlir/lib/Dialect/Quant/IR/QuantOps.cpp, `verifySubChannelQuantization`.

use super::error::Fault;
use super::op::Cast;
use super::rule::Rule;
use super::spans::{Located, Parts, Span};
use super::{Element, Expressed, Granularity, Quantized, Storage, Type};
use std::ops::RangeInclusive;
use tiebreak_oracle::float::Format;

/// Returns the smallest positive, the smallest normal and the largest number of a format, all exact in double.
fn limits(format: Format) -> [f64; 3] {
    let normal = 1 << (format.precision() - 1);
    [1, normal, format.largest()].map(|bits| format.decode(bits).finite().map_or(f64::NAN, |value| value.to_f64()))
}

/// Checks that a scale is a positive normal number in the range of the expressed type.
pub(super) fn scale(scale: f64, expressed: Expressed) -> Result<(), Rule> {
    let [least, normal, most] = limits(super::format(expressed));
    if scale.is_nan() {
        Err(Rule::ScaleNan)
    } else if scale < least || scale > most {
        Err(Rule::ScaleRange { scale, expressed: expressed.name(), least, most })
    } else if scale < normal {
        Err(Rule::ScaleDenormal { scale, expressed: expressed.name(), least: normal })
    } else {
        Ok(())
    }
}

/// Checks that a zero point is a stored value.
pub(super) fn zero_point(zero_point: i64, storage: Storage, bounds: &RangeInclusive<i64>) -> Result<(), Rule> {
    let (least, most) = storage.range().into_inner();
    let (min, max) = (*bounds.start(), *bounds.end());
    if !(least..=most).contains(&zero_point) {
        let low = zero_point & ((1 << storage.bits) - 1);
        let truncated = if low > most { low - (1 << storage.bits) } else { low };
        let storage = storage.name();
        return Err(Rule::ZeroPointStorage { zero_point, storage, least, most, truncated });
    }
    if !bounds.contains(&zero_point) {
        return Err(Rule::ZeroPointBounds { zero_point, min, max, clamped: zero_point.clamp(min, max) });
    }
    Ok(())
}

/// Checks that blocks of a type without a tensor are along axes of its scales. Otherwise no tensor can have the type.
pub(super) fn bare(element: &Element, parts: &Parts) -> Result<(), Fault> {
    let Element::Uniform(Quantized { granularity: Granularity::Blocks { sizes, counts }, .. }) = element else {
        return Ok(());
    };
    match sizes.iter().position(|(axis, _)| *axis >= counts.len()) {
        Some(at) => {
            Err(Fault::new(Rule::BlockRank { axis: sizes[at].0, scales: counts.len() }, parts.axes[at].clone()))
        }
        None => Ok(()),
    }
}

/// Checks that the scales of a tensor fit its dimensions.
pub(super) fn container(located: &Located) -> Result<(), Fault> {
    let Element::Uniform(uniform) = located.ty.element() else { return Ok(()) };
    match (&located.ty, &uniform.granularity) {
        (_, Granularity::Layer) | (Type::Unranked(_), Granularity::Channel { .. }) => Ok(()),
        (Type::Scalar(_), Granularity::Channel { .. }) => {
            Err(Fault::new(Rule::ScalarPerAxis, located.parts.axes[0].clone()))
        }
        (Type::Scalar(_), Granularity::Blocks { .. }) => {
            Err(Fault::new(Rule::ScalarBlocks, located.parts.scales.clone()))
        }
        (Type::Unranked(_), Granularity::Blocks { .. }) => {
            Err(Fault::new(Rule::UnrankedBlocks, located.parts.scales.clone()))
        }
        (Type::Ranked { dims, .. }, Granularity::Channel { axis }) => channels(located, uniform, dims, *axis),
        (Type::Ranked { dims, .. }, Granularity::Blocks { sizes, counts }) => blocks(located, dims, sizes, counts),
    }
}

fn channels(located: &Located, uniform: &Quantized, dims: &[Option<u64>], axis: usize) -> Result<(), Fault> {
    let scales = uniform.scales.len();
    match dims.get(axis) {
        None => Err(Fault::new(Rule::AxisRank { axis, rank: dims.len() }, located.parts.axes[0].clone())),
        Some(Some(size)) if *size != scales as u64 => {
            Err(Fault::new(Rule::ScaleCount { axis, size: *size, scales }, located.parts.scales.clone()))
        }
        Some(_) => Ok(()),
    }
}

fn blocks(located: &Located, dims: &[Option<u64>], sizes: &[(usize, usize)], counts: &[usize]) -> Result<(), Fault> {
    let rank = dims.len();
    let scales = &located.parts.scales;
    for ((axis, _), span) in sizes.iter().zip(&located.parts.axes) {
        if *axis >= rank {
            return Err(Fault::new(Rule::BlockAxis { axis: *axis, rank }, span.clone()));
        }
    }
    if counts.len() != rank {
        return Err(Fault::new(Rule::ScaleRank { scales: counts.len(), rank }, scales.clone()));
    }
    for (axis, (dim, count)) in dims.iter().zip(counts).enumerate() {
        let at = sizes.iter().position(|(other, _)| *other == axis);
        let blocks = match (dim, at) {
            (Some(0), _) => return Err(Fault::new(Rule::BlockZero, located.dims[axis].clone())),
            (_, None) => 1,
            (None, Some(_)) => continue,
            (Some(size), Some(at)) => {
                let block = sizes[at].1 as u64;
                if size % block != 0 {
                    let rule = Rule::BlockDivides { axis, size: *size, block };
                    return Err(Fault::new(rule, located.parts.axes[at].clone()));
                }
                size / block
            }
        };
        if blocks != *count as u64 {
            return Err(Fault::new(Rule::BlockCount { axis, scales: *count, blocks }, scales.clone()));
        }
    }
    Ok(())
}

/// Checks the types of operand and result in mlir-opt's order: each side, both together, then the quantized type.
pub(super) fn op(cast: Cast, input: &Located, result: &Located) -> Result<(), Fault> {
    let op = cast.name();
    for (which, side, wanted) in [("operand", input, cast.operand()), ("result", result, cast.result())] {
        if !wanted.takes(side.ty.element()) {
            let rule = Rule::Operand { op, which, wanted: wanted.words(), got: side.ty.to_string() };
            return Err(Fault::new(rule, side.span.clone()));
        }
    }
    let (quantized, other) = match (input.ty.uniform(), result.ty.uniform()) {
        (Some(_), None) => (input, result),
        (None, Some(_)) => (result, input),
        _ => return Err(Fault::new(Rule::OneSide { op }, result.span.clone())),
    };
    if let Some(span) = differ(input, result) {
        return Err(Fault::new(Rule::Shapes { op }, span));
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
            let rule = Rule::ExpressedType { expressed: uniform.expressed.name(), float: float.name() };
            Err(Fault::new(rule, quantized.parts.expressed.clone()))
        }
        Element::Integer(integer) if *integer != uniform.storage.bits => {
            let rule = Rule::StorageType { storage: uniform.storage.name(), integer: *integer };
            Err(Fault::new(rule, quantized.parts.storage.clone()))
        }
        _ => Ok(()),
    }
}

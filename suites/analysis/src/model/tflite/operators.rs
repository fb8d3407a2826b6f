//! Operators for an audit, from tables.

use super::layers::{Tensors, Visited, each, layer, no_options, operands};
use super::tables;
use super::tensor::{Context, Place, Tensor};
use crate::model::names::{self, TFLITE, tensor_type};
use crate::model::operators::{Arithmetic, Elementwise, Kind, MOVES, Operator, Products, Rescale, Weights, reason};
use crate::model::{Fault, MAX_CHANNELS, Op, Quantized};
use std::borrow::Cow;
use std::collections::BTreeSet;
use tiebreak_impls::element::Element;
use tiebreak_oracle::Rational;
use tiebreak_oracle::derivation::dyadic::nearest;
use tiebreak_oracle::float::Format::F32;
use tiebreak_oracle::rounding::RoundingRule::TiesAway;

/// Number in `enum TensorType`.
const INT32: i8 = 2;

/// Passes each operator of a file to `visit`.
pub(in crate::model) fn operators(
    file: &[u8],
    visit: &mut dyn FnMut(Operator<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    each(&tables::root(file)?, |context, operator, code, Visited { index, place }| {
        let op = called(code);
        let arithmetic = match (code.op(), op.as_str()) {
            (Some(op), _) => products(context, operator, &place, op).map(|p| Arithmetic::Products(Box::new(p))),
            (None, "ADD" | "MUL") => elementwise(context, operator, &place, &op),
            (None, "QUANTIZE") => rescale(context, operator, &place).map(Arithmetic::Rescale),
            (None, "CONCATENATION") if only_joins(context, operator, &place) => Err(place.unsupported(MOVES)),
            _ => Err(place.unsupported(reason(&op))),
        };
        let arithmetic = match arithmetic {
            Err(Fault::Unsupported { problem, .. }) => Err(problem),
            other => Ok(other?),
        };
        let result = Tensor::optional(context, &place, operator.outputs(), 0);
        let name = result.ok().flatten().and_then(|tensor| tensor.name()).unwrap_or_else(|| place.name.clone());
        visit(Operator { index, op, name, arithmetic })
    })
}

/// Returns the name of an operator.
pub(super) fn called(code: &tables::OperatorCode<'_>) -> String {
    let number = code.builtin();
    match usize::try_from(number).ok().and_then(|at| TFLITE.get(at).copied()) {
        Some("CUSTOM") => code.custom().map_or("CUSTOM".to_owned(), |name| format!("CUSTOM {name}")),
        known => known.map_or_else(|| format!("builtin operator {number}"), str::to_owned),
    }
}

/// Upper bound on the tensors of a concatenation that is examined.
const MAX_JOINED: usize = 64;

/// True if a concatenation only moves values: all tensors have the same type, scale and zero point.
pub(super) fn only_joins(context: &Context<'_>, operator: &tables::Operator<'_>, place: &Place) -> bool {
    let stored = |operands, at| Tensor::read(context, place, operands, at).ok().and_then(|tensor| tensor.stored_as());
    let count = operator.inputs().map_or(0, |inputs| inputs.len());
    let output = stored(operator.outputs(), 0);
    output.is_some() && count <= MAX_JOINED && (0..count).all(|at| stored(operator.inputs(), at) == output)
}

pub(super) fn products<'a>(
    context: &Context<'a>,
    operator: &tables::Operator<'a>,
    place: &Place,
    op: Op,
) -> Result<Products<'a>, Fault> {
    let Tensors { layer, input: activations, weights, output: results } = layer(context, operator, place, op)?;
    let [input, output] = [activations.quantized()?, results.quantized()?];
    if [input.element, layer.weights, output.element].contains(&Element::I16) {
        return Err(place.unsupported("a layer of 16 bits: its sums have 64 bits, and other multipliers"));
    }
    // There are as many bytes as the shape has elements, so no product of its dimensions overflows from here on.
    let bytes = weights.constant(1)?;
    let params = layer.params;
    let (kind, strides, depth) = match op {
        Op::Conv2d | Op::TransposeConv => {
            (Kind::Convolution, None, params.kernel_h * params.kernel_w * (params.channels / params.groups))
        }
        Op::DepthwiseConv2d => (Kind::Depthwise, Some((1, params.out_channels)), params.kernel_h * params.kernel_w),
        Op::FullyConnected => (Kind::Dense, None, params.channels),
    };
    let channels = params.out_channels;
    if channels > MAX_CHANNELS {
        return Err(place.unsupported(format!("{channels} channels; at most {MAX_CHANNELS} can be audited")));
    }
    let scales = weights.scales()?;
    let dimension = if op == Op::DepthwiseConv2d { 3 } else { 0 };
    if scales.len() > 1 && (scales.len() != channels || weights.quantized_dimension() != dimension) {
        let (count, along) = (scales.len(), weights.quantized_dimension());
        let problem = format!("{count} scales along dimension {along}, for {channels} channels along {dimension}");
        return Err(weights.place.malformed(problem));
    }
    let bias = Tensor::optional(context, place, operator.inputs(), operands(op).1)?;
    let bias = bias.map_or(Ok(Vec::new()), |bias| biases(&bias, channels))?;
    let strides = strides.unwrap_or((depth, 1));
    let zero_points = vec![layer.params.weight_zero_point];
    let weights =
        Weights { element: layer.weights, bytes: Cow::Borrowed(bytes), channels, depth, strides, zero_points };
    let clamp = clamp(place, activation(operator, op), output)?;
    Ok(Products { kind, input, output, clamp, weights, scales, bias })
}

/// Reads one bias for each channel.
fn biases(tensor: &Tensor<'_>, channels: usize) -> Result<Vec<i32>, Fault> {
    if tensor.element_type() != INT32 {
        let other = tensor_type(tensor.element_type());
        return Err(tensor.place.unsupported(format!("a bias of {other}; one of INT32 can be audited")));
    }
    let bias: Vec<i32> = tensor.constant(4)?.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
    match bias.len() {
        n if n == channels => Ok(bias),
        n => Err(tensor.place.malformed(format!("{n} biases for {channels} channels"))),
    }
}

/// Returns the number in `enum ActivationFunctionType`.
pub(super) fn activation(operator: &tables::Operator<'_>, op: Op) -> i8 {
    let activation = match op {
        Op::Conv2d => operator.conv_2d().and_then(|o| o.fused_activation_function()),
        Op::DepthwiseConv2d => operator.depthwise_conv_2d().and_then(|o| o.fused_activation_function()),
        Op::FullyConnected => operator.fully_connected().and_then(|o| o.fused_activation_function()),
        Op::TransposeConv => operator.transpose_conv().and_then(|o| o.fused_activation_function()),
    };
    activation.unwrap_or(0)
}

/// Returns the smallest and largest stored result within the type and the activation
/// (`tensorflow/lite/kernels/kernel_util.cc`, `CalculateActivationRangeQuantized`: in float, rounded half away from zero).
pub(super) fn clamp(place: &Place, activation: i8, output: Quantized) -> Result<(i32, i32), Fault> {
    let range = output.element.range();
    let stored = |real: i32| {
        let scale = Rational::from_f32(output.scale).expect("a scale is a finite number");
        let steps = TiesAway.round(&nearest(F32, &(Rational::from(real) / scale)));
        let stored = steps + output.zero_point;
        stored.clamp(range.start(), range.end()).to_i32().expect("a value of the type")
    };
    match activation {
        0 => Ok((*range.start(), *range.end())),
        1 => Ok((stored(0), *range.end())),
        2 => Ok((stored(-1), stored(1))),
        3 => Ok((stored(0), stored(6))),
        other => {
            let other = names::activation(other);
            Err(place
                .unsupported(format!("the fused activation {other}; NONE, RELU, RELU6 and RELU_N1_TO_1 are known")))
        }
    }
}

pub(super) fn elementwise<'a>(
    context: &Context<'a>,
    operator: &tables::Operator<'a>,
    place: &Place,
    op: &str,
) -> Result<Arithmetic<'a>, Fault> {
    let [lhs, rhs] = [0, 1].map(|at| Tensor::read(context, place, operator.inputs(), at));
    let operands = [lhs?, rhs?];
    let output = Tensor::read(context, place, operator.outputs(), 0)?.quantized()?;
    let activation = match op {
        "ADD" => operator.add().map(|o| o.fused_activation_function()),
        _ => operator.mul().map(|o| o.fused_activation_function()),
    };
    let (kind, options) = if op == "ADD" { (11, "AddOptions") } else { (21, "MulOptions") };
    let activation = activation.ok_or_else(|| no_options(operator, place, kind, options))?.unwrap_or(0);
    let quantized = [operands[0].quantized()?, operands[1].quantized()?];
    if [quantized[0], quantized[1], output].iter().any(|tensor| tensor.element == Element::I16) {
        return Err(place.unsupported("tensors of 16 bits: their pairs are too many to go through"));
    }
    let [lhs, rhs] = [0, 1].map(|at| constant(&operands[at], quantized[at]));
    let clamp = clamp(place, activation, output)?;
    let elementwise = Elementwise { operands: quantized, constants: [lhs?, rhs?], output, clamp };
    Ok(if op == "ADD" { Arithmetic::Add(elementwise) } else { Arithmetic::Mul(elementwise) })
}

/// Returns the values of a constant operand; `None` for a computed operand.
fn constant(tensor: &Tensor<'_>, quantized: Quantized) -> Result<Option<BTreeSet<i32>>, Fault> {
    match tensor.constant(1) {
        Ok(bytes) => Ok(Some(bytes.iter().map(|byte| quantized.element.read(&[*byte])).collect())),
        Err(Fault::Unsupported { .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

pub(super) fn rescale(context: &Context<'_>, operator: &tables::Operator<'_>, place: &Place) -> Result<Rescale, Fault> {
    let input = Tensor::read(context, place, operator.inputs(), 0)?;
    let output = Tensor::read(context, place, operator.outputs(), 0)?;
    match (input.element(), output.element()) {
        (Ok(Element::I8 | Element::U8), Ok(Element::I8 | Element::U8)) => {}
        _ => return Err(place.unsupported("it quantizes floats or integers of other widths than 8 bits")),
    }
    Ok(Rescale { input: input.quantized()?, output: output.quantized()? })
}

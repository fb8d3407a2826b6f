//! Shapes of layers, from tables.

use super::tables::{self, Model, Operator, OperatorCode, Tables};
use super::tensor::{Context, Place, Tensor, printable, product};
use super::transposed;
use crate::model::{Fault, Layer, LeftOut, MAX_LAYERS, MAX_OPERATORS, Op};
use tiebreak_impls::conv2d::Params;

/// Visits the operators of every subgraph in the file's order, each with its code and place.
pub(super) fn each<'a>(
    model: &Model<'a>,
    mut visit: impl FnMut(&Context<'a>, &Operator<'a>, &OperatorCode<'a>, Visited) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let codes = model.operator_codes();
    let mut seen = 0;
    let mut count = || {
        // Many entries can refer to one table, so the size of the file does not bound their number.
        seen += 1;
        let problem = format!("more than {MAX_OPERATORS} subgraphs and operators; give a smaller model");
        if seen > MAX_OPERATORS { Err(Fault::Unsupported { place: "Model".into(), problem }) } else { Ok(()) }
    };
    for (graph, subgraph) in model.subgraphs().iter().flatten().enumerate() {
        count()?;
        let context = Context { tensors: subgraph.tensors(), buffers: model.buffers(), graph };
        for (index, operator) in subgraph.operators().iter().flatten().enumerate() {
            count()?;
            let place =
                Place { name: format!("Model.subgraphs[{graph}].operators[{index}]"), offset: operator.offset() };
            let code = code(codes, &operator, &place)?;
            visit(&context, &operator, &code, Visited { index, place })?;
        }
    }
    Ok(())
}

/// Number of an operator in its subgraph, and its place in the file.
pub(super) struct Visited {
    pub(super) index: usize,
    pub(super) place: Place,
}

fn code<'a>(
    codes: Option<Tables<'a, OperatorCode<'a>>>,
    operator: &Operator<'a>,
    place: &Place,
) -> Result<OperatorCode<'a>, Fault> {
    let (number, count) = (operator.opcode_index().unwrap_or(0), codes.map_or(0, |codes| codes.len()));
    let index = usize::try_from(number).ok().filter(|index| *index < count);
    let none = || place.malformed(format!("its code is {number}; {count} are counted from 0"));
    index.zip(codes).map(|(index, codes)| codes.get(index)).ok_or_else(none)
}

impl OperatorCode<'_> {
    /// Returns the number in `enum BuiltinOperator`.
    pub(super) fn builtin(&self) -> i32 {
        let byte = self.deprecated_builtin_code().unwrap_or(0);
        self.builtin_code().unwrap_or(0).max(byte.into())
    }

    /// Returns the name of an operator that is not built in.
    pub(super) fn custom(&self) -> Option<String> {
        printable(self.custom_code()?.bytes())
    }

    /// Returns the kind of layer; `None` if the operator is no layer.
    pub(super) fn op(&self) -> Option<Op> {
        match self.builtin() {
            3 => Some(Op::Conv2d),
            4 => Some(Op::DepthwiseConv2d),
            9 => Some(Op::FullyConnected),
            _ => None,
        }
    }
}

pub(in crate::model) fn layers(file: &[u8]) -> Result<Vec<Result<Layer, LeftOut>>, Fault> {
    let mut layers = Vec::new();
    each(&tables::root(file)?, |context, operator, code, visited| {
        let Some(op) = code.op() else { return Ok(()) };
        if layers.len() == MAX_LAYERS {
            return Err(visited.place.unsupported(format!("more than {MAX_LAYERS} layers; give a smaller model")));
        }
        layers.push(match layer(context, operator, &visited.place, op) {
            Ok(tensors) => Ok(tensors.layer),
            Err(Fault::Unsupported { place, problem }) => Err(LeftOut { place, problem }),
            Err(fault) => return Err(fault),
        });
        Ok(())
    })?;
    Ok(layers)
}

/// Layer with its tensors.
pub(super) struct Tensors<'a> {
    pub(super) layer: Layer,
    pub(super) input: Tensor<'a>,
    pub(super) weights: Tensor<'a>,
    pub(super) output: Tensor<'a>,
}

/// Returns the indices of the activations and of the bias among the operands.
pub(super) fn operands(op: Op) -> (usize, usize) {
    if op == Op::TransposeConv { (2, 3) } else { (0, 2) }
}

pub(super) fn layer<'a>(
    context: &Context<'a>,
    operator: &Operator<'a>,
    place: &Place,
    op: Op,
) -> Result<Tensors<'a>, Fault> {
    let input = Tensor::read(context, place, operator.inputs(), operands(op).0)?;
    let weights = Tensor::read(context, place, operator.inputs(), 1)?;
    let output = Tensor::read(context, place, operator.outputs(), 0)?;
    let [input_type, weights_type] = [input.element()?, weights.element()?];
    let params = shape(operator, place, op, [&input, &weights, &output]);
    let dynamic = [&input, &weights, &output].into_iter().find(|tensor| tensor.is_dynamic());
    let params = params.map_err(|fault| match (fault, dynamic) {
        (Fault::Malformed { .. }, Some(tensor)) => tensor.place.unsupported(
            "its shape is not resolved: a dimension of shape_signature is -1; convert the model with a shape that is fixed",
        ),
        (fault, _) => fault,
    })?;
    let params = Params {
        input_zero_point: input.zero_point(input_type)?,
        weight_zero_point: weights.zero_point(weights_type)?,
        ..params
    };
    let name = output.name().unwrap_or_else(|| place.name.clone());
    let layer = Layer { name, op, input: input_type, weights: weights_type, params };
    Ok(Tensors { layer, input, weights, output })
}

/// Returns the parameters of a layer without zero points. Contradictory shapes are an error.
fn shape(
    operator: &Operator<'_>,
    place: &Place,
    op: Op,
    [input, weights, output]: [&Tensor<'_>; 3],
) -> Result<Params, Fault> {
    let params = match op {
        Op::Conv2d | Op::DepthwiseConv2d => convolution(operator, place, op, input, weights)?,
        Op::FullyConnected => fully_connected(operator, place, input, weights)?,
        Op::TransposeConv => transposed::convolution(operator, place, [input, weights, output])?,
    };
    let (rows, columns) = params.output().map_err(|e| place.malformed(e.to_string()))?;
    let out = [params.batches, rows, columns, params.out_channels];
    let same = match op {
        // The output may keep the dimensions of the input.
        Op::FullyConnected => product(&output.shape) == product(&out) && output.shape.last() == out.last(),
        _ => output.shape == out,
    };
    if !same {
        return Err(output.place.malformed(format!("a shape of {:?} for a result of {out:?}", output.shape)));
    }
    Ok(params)
}

/// Options of both kinds of convolution; strides and dilations are `[h, w]`.
struct Window {
    padding: i8,
    strides: [i32; 2],
    dilations: [i32; 2],
}

/// Returns the parameters of a convolution without zero points. The filter is `[O,KH,KW,C/groups]`, depthwise `[1,KH,KW,O]`
/// (`tensorflow/lite/kernels/conv.cc`, `depthwise_conv.cc`).
fn convolution(
    operator: &Operator<'_>,
    place: &Place,
    op: Op,
    input: &Tensor<'_>,
    weights: &Tensor<'_>,
) -> Result<Params, Fault> {
    let [batches, height, width, channels] = input.four()?;
    let [first, kernel_h, kernel_w, last] = weights.four()?;
    let depthwise = op == Op::DepthwiseConv2d;
    let (out_channels, depth) = if depthwise { (last, 1) } else { (first, last) };
    let fits = channels.is_multiple_of(depth) && out_channels.is_multiple_of(channels / depth);
    if !fits || (depthwise && first != 1) {
        let problem = format!("a filter of {:?} for an input of {channels} channels", weights.shape);
        return Err(weights.place.malformed(problem));
    }
    let window = window(operator, depthwise).ok_or_else(|| match depthwise {
        true => no_options(operator, place, 2, "DepthwiseConv2DOptions"),
        false => no_options(operator, place, 1, "Conv2DOptions"),
    })?;
    let step = |n: i32, name: &str| step(place, n, name);
    let (stride_h, stride_w) = (step(window.strides[0], "stride_h")?, step(window.strides[1], "stride_w")?);
    let dilation_h = step(window.dilations[0], "dilation_h_factor")?;
    let dilation_w = step(window.dilations[1], "dilation_w_factor")?;
    let ([top, bottom], [left, right]) = match window.padding {
        0 => (same(height, kernel_h, stride_h, dilation_h), same(width, kernel_w, stride_w, dilation_w)),
        1 => ([0; 2], [0; 2]),
        other => return Err(place.malformed(format!("padding is {other}; it must be 0 (SAME) or 1 (VALID)"))),
    };
    #[rustfmt::skip]
    let params = Params {
        batches, height, width, channels, kernel_h, kernel_w, out_channels, groups: channels / depth,
        stride_h, stride_w, dilation_h, dilation_w, top, bottom, left, right, input_zero_point: 0, weight_zero_point: 0,
        ..Params::default()
    };
    Ok(params)
}

/// Checks a stride or a dilation.
pub(super) fn step(place: &Place, step: i32, name: &str) -> Result<usize, Fault> {
    let positive = usize::try_from(step).ok().filter(|step| *step > 0);
    positive.ok_or_else(|| place.malformed(format!("{name} is {step}; it must be at least 1")))
}

/// Returns the options of the operator, with the defaults of the schema.
fn window(operator: &Operator<'_>, depthwise: bool) -> Option<Window> {
    let of = |padding: Option<i8>, strides: [Option<i32>; 2], dilations: [Option<i32>; 2]| Window {
        padding: padding.unwrap_or(0),
        strides: strides.map(|stride| stride.unwrap_or(0)),
        dilations: dilations.map(|dilation| dilation.unwrap_or(1)),
    };
    Some(if depthwise {
        let o = operator.depthwise_conv_2d()?;
        of(o.padding(), [o.stride_h(), o.stride_w()], [o.dilation_h_factor(), o.dilation_w_factor()])
    } else {
        let o = operator.conv_2d()?;
        of(o.padding(), [o.stride_h(), o.stride_w()], [o.dilation_h_factor(), o.dilation_w_factor()])
    })
}

/// Returns the SAME padding before and after, which gives `size / stride` outputs, rounded up. An odd element is added after
/// (`tensorflow/core/framework/kernel_shape_util.cc`, `GetWindowedOutputSizeVerbose`; `tensorflow/lite/kernels/padding.h`).
/// Nothing overflows, because each argument is an int32 of the file.
pub(in crate::model) fn same(size: usize, kernel: usize, stride: usize, dilation: usize) -> [usize; 2] {
    let [size, kernel, stride, dilation] = [size, kernel, stride, dilation].map(|n| n as u128);
    let reach = (kernel - 1) * dilation + 1;
    let total = ((size.div_ceil(stride) - 1) * stride + reach).saturating_sub(size);
    // Padding beyond `usize` is refused together with the padded input.
    [total / 2, total - total / 2].map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// Returns the parameters of `[rows,K]`, with any number of dimensions, by weights `[O,K]` (`tensorflow/lite/kernels/fully_connected.cc`).
fn fully_connected(
    operator: &Operator<'_>,
    place: &Place,
    input: &Tensor<'_>,
    weights: &Tensor<'_>,
) -> Result<Params, Fault> {
    let &[out_channels, channels] = weights.shape.as_slice() else {
        return Err(weights.place.malformed(format!("weights of {:?}; there must be two dimensions", weights.shape)));
    };
    let elements = product(&input.shape).filter(|n| n.is_multiple_of(channels));
    let Some(elements) = elements else {
        let problem = format!("an input of {:?} does not fall into rows of {channels}", input.shape);
        return Err(input.place.malformed(problem));
    };
    let options = operator.fully_connected().ok_or_else(|| no_options(operator, place, 8, "FullyConnectedOptions"))?;
    if options.weights_format().unwrap_or(0) != 0 {
        return Err(place.unsupported("the weights are shuffled; convert the model with weights in the default format"));
    }
    #[rustfmt::skip]
    let params = Params {
        batches: 1, height: 1, width: elements / channels, channels, kernel_h: 1, kernel_w: 1, out_channels, groups: 1,
        stride_h: 1, stride_w: 1, dilation_h: 1, dilation_w: 1, top: 0, bottom: 0, left: 0, right: 0,
        input_zero_point: 0, weight_zero_point: 0,
        ..Params::default()
    };
    Ok(params)
}

/// Returns the fault of an operator whose options have another type.
pub(super) fn no_options(operator: &Operator<'_>, place: &Place, number: u8, name: &str) -> Fault {
    match operator.options_type() {
        kind if kind == number => place.malformed(format!("its {name} are not there")),
        kind => place.malformed(format!("no {name}: its options are of type {kind}, not {number}")),
    }
}

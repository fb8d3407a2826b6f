//! From tables to layers.

use super::flatbuffer::{Field, Table, Vector};
use super::schema::{code, convolution, fully_connected, graph, model, operator, tensor};
use super::{Fault, Layer, MAX_LAYERS, MAX_OPERATORS, Op};
use tiebreak_impls::conv2d::Params;
use tiebreak_impls::element::Element;

/// Longest name of a layer, in bytes: a converter joins the names of everything it has fused.
const MAX_NAME: usize = 256;

/// Most zero points of one tensor, and most dimensions.
const MAX_ZERO_POINTS: usize = 1 << 16;
const MAX_RANK: usize = 8;

pub(super) fn layers(file: &[u8]) -> Result<Vec<Layer>, Fault> {
    let model = Table::root(file, "Model")?;
    let codes = model.vector(model::OPERATOR_CODES)?;
    let subgraphs = model.vector(model::SUBGRAPHS)?;
    let (mut seen, mut layers) = (0, Vec::new());
    let mut count = || {
        // Many entries may lead to one table, so the file's size does not bound them.
        seen += 1;
        let problem = format!("more than {MAX_OPERATORS} subgraphs and operators; give a smaller model");
        if seen > MAX_OPERATORS { Err(model.unsupported(problem)) } else { Ok(()) }
    };
    for at in 0..subgraphs.elements.len() {
        count()?;
        let graph = subgraphs.table(at)?;
        let tensors = graph.vector(graph::TENSORS)?;
        let operators = graph.vector(graph::OPERATORS)?;
        for at in 0..operators.elements.len() {
            count()?;
            let operator = operators.table(at)?;
            let Some(op) = op(&codes, &operator)? else { continue };
            if layers.len() == MAX_LAYERS {
                return Err(operator.unsupported(format!("more than {MAX_LAYERS} layers; give a smaller model")));
            }
            layers.push(layer(&tensors, &operator, op)?);
        }
    }
    Ok(layers)
}

/// What an operator is, if it makes a layer.
fn op(codes: &Vector<'_, 4>, operator: &Table<'_>) -> Result<Option<Op>, Fault> {
    let index = operator.number(operator::CODE, u32::from_le_bytes, 0)?;
    // An index that no `usize` holds is beyond every vector too.
    let code = codes.table(usize::try_from(index).unwrap_or(usize::MAX))?;
    let byte = code.number(code::DEPRECATED, i8::from_le_bytes, 0)?;
    // `enum BuiltinOperator`.
    Ok(match code.number(code::BUILTIN, i32::from_le_bytes, 0)?.max(byte.into()) {
        3 => Some(Op::Conv2d),
        4 => Some(Op::DepthwiseConv2d),
        9 => Some(Op::FullyConnected),
        _ => None,
    })
}

fn layer(tensors: &Vector<'_, 4>, operator: &Table<'_>, op: Op) -> Result<Layer, Fault> {
    let inputs = operator.vector(operator::INPUTS)?;
    let input = Tensor::read(tensors, &inputs, 0)?;
    let weights = Tensor::read(tensors, &inputs, 1)?;
    let output = Tensor::read(tensors, &operator.vector(operator::OUTPUTS)?, 0)?;
    let params = match op {
        Op::Conv2d | Op::DepthwiseConv2d => convolution(operator, op, &input, &weights)?,
        Op::FullyConnected => fully_connected(operator, &input, &weights)?,
    };
    let (rows, columns) = params.output().map_err(|e| operator.malformed(e.to_string()))?;
    let out = [params.batches, rows, columns, params.out_channels];
    let same = match op {
        // Its output may keep the dimensions of its input.
        Op::FullyConnected => product(&output.shape) == product(&out) && output.shape.last() == out.last(),
        _ => output.shape == out,
    };
    if !same {
        return Err(output.table.malformed(format!("a shape of {:?} for a result of {out:?}", output.shape)));
    }
    let [input_type, weights_type] = [input.element()?, weights.element()?];
    let params = Params {
        input_zero_point: input.zero_point(input_type)?,
        weight_zero_point: weights.zero_point(weights_type)?,
        ..params
    };
    let name = output.name()?.unwrap_or_else(|| operator.place.clone());
    Ok(Layer { name, op, input: input_type, weights: weights_type, params })
}

/// Everything of a convolution but its zero points. The filter is `[O,KH,KW,C/groups]`, depthwise `[1,KH,KW,O]`
/// (`tensorflow/lite/kernels/conv.cc`, `depthwise_conv.cc`).
fn convolution(operator: &Table<'_>, op: Op, input: &Tensor<'_>, weights: &Tensor<'_>) -> Result<Params, Fault> {
    let [batches, height, width, channels] = input.four()?;
    let [first, kernel_h, kernel_w, last] = weights.four()?;
    let depthwise = op == Op::DepthwiseConv2d;
    let (out_channels, depth) = if depthwise { (last, 1) } else { (first, last) };
    let fits = channels.is_multiple_of(depth) && out_channels.is_multiple_of(channels / depth);
    if !fits || (depthwise && first != 1) {
        let problem = format!("a filter of {:?} for an input of {channels} channels", weights.shape);
        return Err(weights.table.malformed(problem));
    }
    // `union BuiltinOptions`.
    let options = options(operator, if depthwise { (2, "DepthwiseConv2DOptions") } else { (1, "Conv2DOptions") })?;
    let dilation_fields = if depthwise {
        [convolution::DEPTHWISE_DILATION_H, convolution::DEPTHWISE_DILATION_W]
    } else {
        [convolution::DILATION_H, convolution::DILATION_W]
    };
    let step = |field: Field, default| {
        let step = options.number(field, i32::from_le_bytes, default)?;
        let positive = usize::try_from(step).ok().filter(|step| *step > 0);
        positive.ok_or_else(|| options.malformed(format!("{} is {step}; it must be at least 1", field.1)))
    };
    let (stride_h, stride_w) = (step(convolution::STRIDE_H, 0)?, step(convolution::STRIDE_W, 0)?);
    let (dilation_h, dilation_w) = (step(dilation_fields[0], 1)?, step(dilation_fields[1], 1)?);
    let ([top, bottom], [left, right]) = match options.number(convolution::PADDING, i8::from_le_bytes, 0)? {
        0 => (same(height, kernel_h, stride_h, dilation_h), same(width, kernel_w, stride_w, dilation_w)),
        1 => ([0; 2], [0; 2]),
        other => return Err(options.malformed(format!("padding is {other}; it must be 0 (SAME) or 1 (VALID)"))),
    };
    #[rustfmt::skip]
    let params = Params {
        batches, height, width, channels, kernel_h, kernel_w, out_channels, groups: channels / depth,
        stride_h, stride_w, dilation_h, dilation_w, top, bottom, left, right, input_zero_point: 0, weight_zero_point: 0,
    };
    Ok(params)
}

/// Padding before and after: so much that there are `size / stride` outputs, rounded up; the odd one after
/// (`tensorflow/core/framework/kernel_shape_util.cc`, `GetWindowedOutputSizeVerbose`; `tensorflow/lite/kernels/padding.h`).
/// Nothing overflows: each argument is an int32 of the file.
pub(super) fn same(size: usize, kernel: usize, stride: usize, dilation: usize) -> [usize; 2] {
    let [size, kernel, stride, dilation] = [size, kernel, stride, dilation].map(|n| n as u128);
    let reach = (kernel - 1) * dilation + 1;
    let total = ((size.div_ceil(stride) - 1) * stride + reach).saturating_sub(size);
    // What no `usize` holds is refused with the padded input.
    [total / 2, total - total / 2].map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// `[rows,K]` of any number of dimensions by weights of `[O,K]` (`tensorflow/lite/kernels/fully_connected.cc`).
fn fully_connected(operator: &Table<'_>, input: &Tensor<'_>, weights: &Tensor<'_>) -> Result<Params, Fault> {
    let &[out_channels, channels] = weights.shape.as_slice() else {
        return Err(weights.table.malformed(format!("weights of {:?}; there must be two dimensions", weights.shape)));
    };
    let elements = product(&input.shape).filter(|n| n.is_multiple_of(channels));
    let Some(elements) = elements else {
        let problem = format!("an input of {:?} does not fall into rows of {channels}", input.shape);
        return Err(input.table.malformed(problem));
    };
    let options = options(operator, (8, "FullyConnectedOptions"))?;
    if options.number(fully_connected::WEIGHTS_FORMAT, i8::from_le_bytes, 0)? != 0 {
        return Err(
            options.unsupported("the weights are shuffled; convert the model with weights in the default format")
        );
    }
    #[rustfmt::skip]
    let params = Params {
        batches: 1, height: 1, width: elements / channels, channels, kernel_h: 1, kernel_w: 1, out_channels, groups: 1,
        stride_h: 1, stride_w: 1, dilation_h: 1, dilation_w: 1, top: 0, bottom: 0, left: 0, right: 0,
        input_zero_point: 0, weight_zero_point: 0,
    };
    Ok(params)
}

/// The options of an operator, which must be of that type.
fn options<'a>(operator: &Table<'a>, (number, name): (u8, &str)) -> Result<Table<'a>, Fault> {
    let found = operator.number(operator::OPTIONS_TYPE, u8::from_le_bytes, 0)?;
    let table = if found == number { operator.table(operator::OPTIONS)? } else { None };
    table.ok_or_else(|| operator.malformed(format!("no {name}: its options are of type {found}, not {number}")))
}

fn product(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size))
}

struct Tensor<'a> {
    table: Table<'a>,
    /// Each at least 1.
    shape: Vec<usize>,
}

impl<'a> Tensor<'a> {
    /// The tensor whose number is element `at` of `operands`.
    fn read(tensors: &Vector<'a, 4>, operands: &Vector<'a, 4>, at: usize) -> Result<Self, Fault> {
        let number = operands.elements.get(at).map(|number| i32::from_le_bytes(*number));
        let number = number.ok_or_else(|| operands.malformed(format!("there is no operand {at}")))?;
        // -1 is an operand left out, which these operators need.
        let index = usize::try_from(number).map_err(|_| operands.malformed(format!("operand {at} is {number}")))?;
        let table = tensors.table(index)?;
        let sizes = table.vector::<4>(tensor::SHAPE)?.elements;
        if sizes.len() > MAX_RANK {
            return Err(table.unsupported(format!("{} dimensions; at most {MAX_RANK} can be used", sizes.len())));
        }
        let sizes = sizes.iter().map(|size| i32::from_le_bytes(*size));
        let shape = sizes.map(|size| usize::try_from(size).ok().filter(|size| *size > 0).ok_or(size));
        let shape = shape.collect::<Result<_, _>>().map_err(|size| {
            table.unsupported(format!("a dimension is {size}; convert the model with a shape that is fixed"))
        })?;
        Ok(Self { table, shape })
    }

    fn four(&self) -> Result<[usize; 4], Fault> {
        let wrong = |_| self.table.malformed(format!("a shape of {:?}; there must be four dimensions", self.shape));
        self.shape.as_slice().try_into().map_err(wrong)
    }

    /// `enum TensorType`.
    fn element(&self) -> Result<Element, Fault> {
        match self.table.number(tensor::TYPE, i8::from_le_bytes, 0)? {
            3 => Ok(Element::U8),
            7 => Ok(Element::I16),
            9 => Ok(Element::I8),
            other => Err(self.table.unsupported(format!(
                "TensorType {other} is not UINT8, INT16 or INT8; quantize the model with full integer quantization"
            ))),
        }
    }

    /// The one zero point of all channels.
    fn zero_point(&self, element: Element) -> Result<i32, Fault> {
        let none = || self.table.unsupported("no zero point; quantize the model with full integer quantization");
        let quantization = self.table.table(tensor::QUANTIZATION)?.ok_or_else(none)?;
        let points = quantization.vector::<8>(tensor::ZERO_POINT)?;
        if points.elements.len() > MAX_ZERO_POINTS {
            return Err(quantization.unsupported(format!("more than {MAX_ZERO_POINTS} zero points cannot be used")));
        }
        let first = points.elements.first().ok_or_else(none)?;
        if points.elements.iter().any(|point| point != first) {
            let problem =
                "channels of different zero points, which no kernel takes; quantize the weights symmetrically";
            return Err(quantization.unsupported(problem));
        }
        let point = i64::from_le_bytes(*first);
        let valid = i32::try_from(point).ok().filter(|point| element.range().contains(point));
        valid.ok_or_else(|| points.malformed(format!("{point} is no {}", element.name())))
    }

    fn name(&self) -> Result<Option<String>, Fault> {
        let name = self.table.vector::<1>(tensor::NAME)?.elements.as_flattened();
        let name = String::from_utf8_lossy(&name[..name.len().min(MAX_NAME)]);
        // A name goes to terminals and reports.
        let name = name.replace(char::is_control, "?");
        Ok((!name.is_empty()).then_some(name))
    }
}

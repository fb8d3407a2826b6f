//! Network, from tables.

use super::layers::{Tensors, Visited, each, layer, same};
use super::operators::{called, clamp, elementwise, only_joins, products, rescale};
use super::tables::{self, Operator, OperatorCode};
use super::tensor::{Context, Place, Tensor, printable};
use crate::model::network::{MAX_VALUES, Network, Node, Source, Stored, Work};
use crate::model::operators::{Arithmetic, Quantized, reason};
use crate::model::{Fault, Op, network};
use std::collections::HashMap;
use tiebreak_impls::pool::{Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Upper bound on all values together that are constant or that operators move.
const MAX_MOVED: usize = 1 << 25;

/// Number of FLOAT32 in `enum TensorType`.
const FLOAT32: i8 = 0;

/// Reads the first subgraph.
pub(in crate::model) fn network(file: &[u8]) -> Result<Network<'_>, Fault> {
    let model = tables::root(file)?;
    let mut out = Network::default();
    let Some(graph) = model.subgraphs().iter().flatten().next() else { return Ok(out) };
    let context = Context { tensors: graph.tensors(), buffers: model.buffers(), graph: 0 };
    let place = Place { name: "Model.subgraphs[0]".to_owned(), offset: graph.offset() };
    let count = context.tensors.map_or(0, |tensors| tensors.len());
    // Many tensors can name one buffer, and many operators one shape, so the size of the file bounds neither.
    let mut room = MAX_MOVED;
    out.tensors = (0..count).map(|at| tensor(&context, &place, at, &mut room)).collect();
    let numbers = |list: Option<flatbuffers::Vector<'_, i32>>| -> Vec<Option<usize>> {
        list.map_or_else(Vec::new, |list| list.iter().map(|n| usize::try_from(n).ok().filter(|n| *n < count)).collect())
    };
    (out.inputs, out.outputs) = (
        numbers(graph.inputs()).into_iter().flatten().collect(),
        numbers(graph.outputs()).into_iter().flatten().collect(),
    );
    let mut variables: HashMap<usize, String> = HashMap::new();
    each(&model, |context, operator, code, Visited { index, place }| {
        if context.graph > 0 {
            return Ok(());
        }
        let (mut inputs, outputs) =
            (numbers(operator.inputs()), numbers(operator.outputs()).into_iter().flatten().collect());
        let op = called(code);
        let transposes = op == "TRANSPOSE_CONV";
        if transposes && inputs.len() > 2 {
            // The first operand must be the activations, not the sizes of the output.
            inputs.swap(0, 2);
        }
        let node = Node { index, op, inputs, outputs, work: Ok(Work::Nothing) };
        if let ("VAR_HANDLE", Some(handle)) = (node.op.as_str(), node.outputs.first()) {
            let name = operator.var_handle().and_then(|options| printable(options.shared_name()?.bytes()));
            variables.insert(*handle, name.unwrap_or_else(|| format!("variable {index}")));
        }
        let moved = node.outputs.first().map_or(0, |at| out.tensors[*at].len());
        if code.op().is_none() && !transposes && !take(&mut room, moved) {
            let work = Err(format!("more than {MAX_MOVED} values are constant or moved; give a smaller model"));
            out.nodes.push(Node { work, ..node });
            return Ok(());
        }
        let work = match work(context, operator, code, &place, (&node, &out.tensors, &variables)) {
            Err(Fault::Unsupported { problem, .. }) => Err(problem),
            other => Ok(other?),
        };
        out.nodes.push(Node { work, ..node });
        Ok(())
    })?;
    Ok(out)
}

/// Takes room for values; true if there was enough.
fn take(room: &mut usize, values: usize) -> bool {
    let left = room.checked_sub(values);
    *room = left.unwrap_or(*room);
    left.is_some()
}

/// Reads a tensor of the graph with the shape in the model. A tensor with too many values has no shape.
fn tensor<'a>(context: &Context<'a>, place: &Place, at: usize, room: &mut usize) -> network::Tensor {
    let none = network::Tensor { shape: Vec::new(), stored: Stored::Other, constant: None };
    let Ok(tensor) = Tensor::numbered(context, place, at as i32, at) else { return none };
    if super::tensor::product(&tensor.shape).is_none_or(|n| n > MAX_VALUES) {
        return none;
    }
    let stored = match tensor.quantized() {
        Ok(quantized) => Stored::Quantized(quantized),
        Err(_) if tensor.element_type() == FLOAT32 => Stored::Float,
        Err(_) => Stored::Other,
    };
    let constant = match stored {
        Stored::Quantized(Quantized { element, .. }) => tensor.constant(element.bytes()).ok(),
        _ => None,
    };
    let values = |bytes: &[u8], element: tiebreak_impls::element::Element| {
        bytes.chunks(element.bytes()).map(|b| element.read(b)).collect()
    };
    let constant = match (constant, stored) {
        (Some(bytes), Stored::Quantized(q)) if take(room, bytes.len()) => Some(values(bytes, q.element)),
        _ => None,
    };
    network::Tensor { shape: tensor.shape, stored, constant }
}

/// Operator, all tensors, and the variable of each handle.
type Around<'n> = (&'n Node<'n>, &'n [network::Tensor], &'n HashMap<usize, String>);

fn work<'a>(
    context: &Context<'a>,
    operator: &Operator<'a>,
    code: &OperatorCode<'a>,
    place: &Place,
    (node, tensors, variables): Around<'_>,
) -> Result<Work<'a>, Fault> {
    let unknown = |problem: &str| Err(place.unsupported(problem));
    let at = |which: usize| node.inputs.get(which).copied().flatten().map(|at| &tensors[at]);
    let result = node.outputs.first().map(|at| &tensors[*at]);
    let transposed = (node.op == "TRANSPOSE_CONV").then_some(Op::TransposeConv);
    if let Some(op) = code.op().or(transposed) {
        let products = products(context, operator, place, op)?;
        let Tensors { layer, .. } = layer(context, operator, place, op)?;
        return Ok(Work::Products(Box::new((layer, products))));
    }
    let moved = |sources: Option<Vec<Source>>| match sources {
        Some(sources) if result.is_some_and(|result| result.len() == sources.len()) => Ok(Work::Move(sources)),
        _ => unknown("its shapes do not fit, or are open until the model runs"),
    };
    match node.op.as_str() {
        op @ ("ADD" | "MUL") => {
            let (Some(lhs), Some(rhs)) = (at(0), at(1)) else { return unknown("an operand is left out") };
            if lhs.shape != rhs.shape || lhs.shape.is_empty() {
                return unknown("its operands have different shapes, which is not defined here");
            }
            match elementwise(context, operator, place, op)? {
                Arithmetic::Add(layer) => Ok(Work::Add(layer.clamp)),
                Arithmetic::Mul(layer) => Ok(Work::Mul(layer.clamp)),
                _ => unknown("another operator"),
            }
        }
        op @ ("AVERAGE_POOL_2D" | "MAX_POOL_2D") => {
            let params = pool(context, operator, place)?;
            Ok(Work::Pool { largest: op == "MAX_POOL_2D", params })
        }
        "QUANTIZE" if at(0).is_some_and(|input| input.stored == Stored::Float) => Ok(Work::Quantize),
        "QUANTIZE" => rescale(context, operator, place).map(|_| Work::Rescale),
        "DEQUANTIZE" if result.is_some_and(|result| result.stored == Stored::Float) => Ok(Work::Dequantize),
        "RESHAPE" | "SQUEEZE" | "EXPAND_DIMS" => {
            let input = at(0).filter(|input| result.is_some_and(|result| result.len() == input.len()));
            moved(input.map(|input| (0..input.len() as u32).map(|i| Source::Value(0, i)).collect()))
        }
        "CONCATENATION" if only_joins(context, operator, place) => {
            let options = operator.concatenation();
            if options.and_then(|o| o.fused_activation_function()).unwrap_or(0) != 0 {
                return unknown("a concatenation with an activation");
            }
            let operands: Option<Vec<_>> = (0..node.inputs.len()).map(at).collect();
            moved(joined(&operands.unwrap_or_default(), options.and_then(|o| o.axis()).unwrap_or(0)))
        }
        "STRIDED_SLICE" if result.is_some_and(|result| result.stored != Stored::Other) => {
            let lists = [1, 2, 3].map(|which| integers(context, operator, place, which));
            moved(at(0).and_then(|input| sliced(operator, input, lists)))
        }
        "PAD" => {
            let borders = integers(context, operator, place, 1);
            moved(at(0).and_then(|input| padded(input, &borders?)))
        }
        // Results of these operators are shapes, which no value depends on.
        "STRIDED_SLICE" | "SHAPE" | "PACK" | "CALL_ONCE" | "VAR_HANDLE" => Ok(Work::Nothing),
        op @ ("READ_VARIABLE" | "ASSIGN_VARIABLE") => {
            let name = node.inputs.first().copied().flatten().and_then(|handle| variables.get(&handle)).cloned();
            let Some(name) = name else { return unknown("its handle is of no VAR_HANDLE before it") };
            Ok(if op == "READ_VARIABLE" { Work::Read(name) } else { Work::Assign(name) })
        }
        _ => unknown(&reason(&node.op)),
    }
}

/// Reads `AVERAGE_POOL_2D` or `MAX_POOL_2D` (`tensorflow/lite/kernels/pooling.cc`). The divisor does not count padding.
fn pool(context: &Context<'_>, operator: &Operator<'_>, place: &Place) -> Result<Params, Fault> {
    let input = Tensor::read(context, place, operator.inputs(), 0)?;
    let output = Tensor::read(context, place, operator.outputs(), 0)?;
    let options = operator.pool_2d().ok_or_else(|| place.unsupported("it has no Pool2DOptions"))?;
    let [batches, height, width, channels] = input.four()?;
    let positive = |n: Option<i32>| {
        let n = usize::try_from(n.unwrap_or(0)).ok().filter(|n| *n > 0);
        n.ok_or_else(|| place.malformed("a window or a stride is not positive"))
    };
    let (kernel_h, kernel_w) = (positive(options.filter_height())?, positive(options.filter_width())?);
    let (stride_h, stride_w) = (positive(options.stride_h())?, positive(options.stride_w())?);
    let ([top, bottom], [left, right]) = match options.padding().unwrap_or(0) {
        0 => (same(height, kernel_h, stride_h, 1), same(width, kernel_w, stride_w, 1)),
        _ => ([0; 2], [0; 2]),
    };
    let (from, to) = (input.quantized()?, output.quantized()?);
    let (min, max) = clamp(place, options.fused_activation_function().unwrap_or(0), to)?;
    let operand = |q: Quantized| Operand { scale: Scale(q.scale.into()), zero_point: q.zero_point };
    #[rustfmt::skip]
    let params = Params {
        element: from.element, batches, height, width, channels, kernel_h, kernel_w, stride_h, stride_w, top, bottom, left, right,
        count_padding: false, input: operand(from), out: operand(to), min, max,
    };
    let (rows, columns) = params.output().map_err(|error| place.malformed(error.to_string()))?;
    match output.shape == [batches, rows, columns, channels] && to.element == from.element {
        true => Ok(params),
        false => Err(output.place.malformed(format!("a shape of {:?} for windows of {:?}", output.shape, input.shape))),
    }
}

/// Returns the constant int32 values of an operand.
fn integers(context: &Context<'_>, operator: &Operator<'_>, place: &Place, which: usize) -> Option<Vec<i32>> {
    let tensor = Tensor::read(context, place, operator.inputs(), which).ok()?;
    Some(tensor.constant(4).ok()?.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect())
}

/// Iterates over the positions of a row-major tensor.
fn places(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let count = shape.iter().product::<usize>();
    (0..count).map(|index| {
        let mut rest = index;
        let mut place: Vec<usize> = shape.iter().rev().map(|size| (rest % size, rest /= size).0).collect();
        place.reverse();
        place
    })
}

/// Returns the index of a position in a tensor of this shape.
fn number(place: &[usize], shape: &[usize]) -> usize {
    place.iter().zip(shape).fold(0, |n, (at, size)| n * size + at)
}

/// Returns the sources of tensors that are joined along an axis.
fn joined(operands: &[&network::Tensor], axis: i32) -> Option<Vec<Source>> {
    let rank = operands.first()?.shape.len();
    let axis = if axis < 0 { rank.checked_sub(axis.unsigned_abs() as usize)? } else { axis as usize };
    let mut shape = operands.first()?.shape.clone();
    if axis >= rank
        || operands.iter().any(|o| o.shape.len() != rank || (0..rank).any(|a| a != axis && o.shape[a] != shape[a]))
    {
        return None;
    }
    shape[axis] = operands.iter().map(|operand| operand.shape[axis]).sum();
    let source = |mut place: Vec<usize>| {
        let mut which = 0;
        while place[axis] >= operands[which].shape[axis] {
            place[axis] -= operands[which].shape[axis];
            which += 1;
        }
        Source::Value(which as u32, number(&place, &operands[which].shape) as u32)
    };
    (shape.iter().product::<usize>() <= MAX_MOVED).then(|| places(&shape).map(source).collect())
}

/// Returns the sources of a strided slice (`tensorflow/lite/kernels/internal/strided_slice_logic.h`): forward, without ellipsis and new axes.
fn sliced(
    operator: &Operator<'_>,
    input: &network::Tensor,
    [begin, end, strides]: [Option<Vec<i32>>; 3],
) -> Option<Vec<Source>> {
    let (begin, end, strides) = (begin?, end?, strides?);
    let options = operator.strided_slice();
    let mask = |of: Option<i32>, axis: usize| of.unwrap_or(0) >> axis & 1 == 1;
    let rank = input.shape.len();
    if [&begin, &end, &strides].iter().any(|list| list.len() != rank)
        || strides.iter().any(|stride| *stride < 1)
        || rank > 8
    {
        return None;
    }
    if options.is_some_and(|o| o.ellipsis_mask().unwrap_or(0) != 0 || o.new_axis_mask().unwrap_or(0) != 0) {
        return None;
    }
    let mut axes = Vec::new();
    for (axis, size) in input.shape.iter().enumerate() {
        let size = i64::try_from(*size).ok()?;
        let within = |v: i32| (i64::from(v) + if v < 0 { size } else { 0 }).clamp(0, size);
        let from = if mask(options.and_then(|o| o.begin_mask()), axis) { 0 } else { within(begin[axis]) };
        let shrinks = mask(options.and_then(|o| o.shrink_axis_mask()), axis);
        let to = match () {
            () if shrinks => from + 1,
            () if mask(options.and_then(|o| o.end_mask()), axis) => size,
            () => within(end[axis]),
        };
        axes.push((from..to.min(size)).step_by(strides[axis] as usize).map(|at| at as usize).collect::<Vec<_>>());
    }
    let shape: Vec<usize> = axes.iter().map(Vec::len).collect();
    super::tensor::product(&shape).filter(|n| *n <= MAX_MOVED)?;
    let source = |place: Vec<usize>| {
        let place: Vec<usize> = place.iter().zip(&axes).map(|(at, axis)| axis[*at]).collect();
        Source::Value(0, number(&place, &input.shape) as u32)
    };
    Some(places(&shape).map(source).collect())
}

/// Returns the sources of a tensor padded with its zero point, before and after along each axis.
fn padded(input: &network::Tensor, borders: &[i32]) -> Option<Vec<Source>> {
    let borders: Vec<usize> = borders.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<_>>()?;
    let (pairs, rest) = borders.as_chunks::<2>();
    if pairs.len() != input.shape.len() || !rest.is_empty() {
        return None;
    }
    let sizes =
        input.shape.iter().zip(pairs).map(|(size, [before, after])| size.checked_add(*before)?.checked_add(*after));
    let shape: Vec<usize> = sizes.collect::<Option<_>>()?;
    super::tensor::product(&shape).filter(|n| *n <= MAX_MOVED)?;
    let source = |place: Vec<usize>| {
        let inner = place
            .iter()
            .zip(pairs)
            .zip(&input.shape)
            .map(|((at, [before, _]), size)| at.checked_sub(*before).filter(|at| at < size));
        let inner: Option<Vec<usize>> = inner.collect();
        inner.map_or(Source::Zero, |inner| Source::Value(0, number(&inner, &input.shape) as u32))
    };
    Some(places(&shape).map(source).collect())
}

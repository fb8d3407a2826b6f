//! Writer of small models, over the flatbuffers crate. Its field numbers come from the schema, independently of the reader.

use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, UnionWIPOffset, Vector, WIPOffset};

type Built = WIPOffset<TableFinishedWIPOffset>;

/// Fields of a tensor: shape, type, zero points, name, scales, the dimension along which they differ, and the bytes of a constant.
#[derive(Clone, Default)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<i32>,
    pub(crate) kind: i8,
    pub(crate) zero_points: Vec<i64>,
    pub(crate) name: &'static str,
    pub(crate) scales: Vec<f32>,
    pub(crate) dimension: i32,
    pub(crate) data: Vec<u8>,
    /// True to write the zero points at an odd multiple of 4, as some writers do.
    pub(crate) loose: bool,
    /// Shape before the model runs, with -1 for an open dimension.
    pub(crate) signature: Vec<i32>,
}

/// Type of the union's table, and its fields by number.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) kind: u8,
    pub(crate) bytes: Vec<(usize, i8)>,
    pub(crate) ints: Vec<(usize, i32)>,
}

/// Operator with the tensors that it reads and writes.
#[derive(Clone, Default)]
pub(crate) struct Operator {
    pub(crate) code: i32,
    pub(crate) tensors: [Tensor; 3],
    pub(crate) bias: Option<Tensor>,
    pub(crate) options: Option<Options>,
}

/// Returns a field's offset in the vtable, whose first two entries are lengths.
fn slot(field: usize) -> u16 {
    (4 + 2 * field) as u16
}

/// Number in `enum BuiltinOperator`.
pub(crate) const TRANSPOSE_CONV: i32 = 67;

/// Number of tensors reserved for each operator.
const PLACES: usize = 4;

/// Writes tensor `at`. Its buffer has the next number, because the first buffer is empty.
fn tensor(b: &mut FlatBufferBuilder<'_>, at: usize, tensor: &Tensor) -> Built {
    let shape = b.create_vector(&tensor.shape);
    let name = b.create_string(tensor.name);
    let points = zero_points(b, tensor);
    let signature = (!tensor.signature.is_empty()).then(|| b.create_vector(&tensor.signature));
    let scales = b.create_vector(&tensor.scales);
    let table = b.start_table();
    b.push_slot_always(slot(2), scales);
    b.push_slot_always(slot(3), points);
    b.push_slot(slot(6), tensor.dimension, 0);
    let quantization = b.end_table(table);
    let table = b.start_table();
    b.push_slot_always(slot(0), shape);
    b.push_slot(slot(1), tensor.kind, 0);
    b.push_slot(slot(2), at as u32 + 1, 0);
    b.push_slot_always(slot(3), name);
    b.push_slot_always(slot(4), quantization);
    if let Some(signature) = signature {
        b.push_slot_always(slot(7), signature);
    }
    b.end_table(table)
}

/// Files are built from the end, and their length is a multiple of 8. An odd multiple of 4 from the end is therefore also one from the start.
fn zero_points<'a>(b: &mut FlatBufferBuilder<'a>, tensor: &Tensor) -> WIPOffset<Vector<'a, i64>> {
    let points = &tensor.zero_points;
    if !tensor.loose {
        return b.create_vector(points);
    }
    // List of int64, written as int32 halves.
    let halves: Vec<i32> = points.iter().flat_map(|p| [*p as i32, (*p >> 32) as i32]).collect();
    let at = |b: &FlatBufferBuilder<'_>| b.unfinished_data().len();
    b.start_vector::<i32>(halves.len());
    if (at(b) + 8 * points.len()).is_multiple_of(8) {
        b.push(0i32);
    }
    for half in halves.iter().rev() {
        b.push(*half);
    }
    b.end_vector::<i64>(points.len())
}

fn operator(b: &mut FlatBufferBuilder<'_>, at: usize, operator: &Operator, chained: bool) -> Built {
    let first = (PLACES * at) as i32;
    // Result of the previous operator, which is the third of its tensors.
    let input = if chained && at > 0 { first - PLACES as i32 + 2 } else { first };
    // The bias is optional.
    let bias = if operator.bias.is_some() { first + 3 } else { -1 };
    // Transposed convolution: output sizes (those of the output tensor), filter, activations, bias.
    let inputs = match operator.code {
        TRANSPOSE_CONV => b.create_vector(&[-1, first + 1, input, bias]),
        _ => b.create_vector(&[input, first + 1, bias]),
    };
    let outputs = b.create_vector(&[first + 2]);
    let options = operator.options.as_ref().map(|options| {
        let table = b.start_table();
        options.bytes.iter().for_each(|(field, value)| b.push_slot(slot(*field), *value, 0));
        options.ints.iter().for_each(|(field, value)| b.push_slot_always(slot(*field), *value));
        (options.kind, b.end_table(table))
    });
    let table = b.start_table();
    b.push_slot(slot(0), at as u32, 0);
    b.push_slot_always(slot(1), inputs);
    b.push_slot_always(slot(2), outputs);
    if let Some((kind, options)) = options {
        b.push_slot(slot(3), kind, 0);
        b.push_slot_always(slot(4), WIPOffset::<UnionWIPOffset>::new(options.value()));
    }
    b.end_table(table)
}

/// Writes the bytes of a buffer.
fn buffer(b: &mut FlatBufferBuilder<'_>, data: &[u8]) -> Built {
    let data = b.create_vector(data);
    let table = b.start_table();
    b.push_slot_always(slot(0), data);
    b.end_table(table)
}

/// Returns a model of one subgraph; each operator has its own code, tensors and buffers.
pub(crate) fn model(operators: &[Operator]) -> Vec<u8> {
    built(operators, false)
}

/// Returns a network: each operator reads the previous result, and the first operator the network's input.
#[allow(dead_code, reason = "the tests of the reader have no networks")]
pub(crate) fn network(operators: &[Operator]) -> Vec<u8> {
    built(operators, true)
}

fn built(operators: &[Operator], chained: bool) -> Vec<u8> {
    let mut b = FlatBufferBuilder::new();
    let of = |o: &Operator| o.tensors.iter().cloned().chain([o.bias.clone().unwrap_or_default()]).collect::<Vec<_>>();
    let all: Vec<Tensor> = operators.iter().flat_map(of).collect();
    let mut buffers = vec![buffer(&mut b, &[])];
    buffers.extend(all.iter().map(|tensor| buffer(&mut b, &tensor.data)));
    let buffers = b.create_vector(&buffers);
    let tensors: Vec<Built> = all.iter().enumerate().map(|(at, t)| tensor(&mut b, at, t)).collect();
    let tensors = b.create_vector(&tensors);
    let built: Vec<Built> = operators.iter().enumerate().map(|(at, o)| operator(&mut b, at, o, chained)).collect();
    let built = b.create_vector(&built);
    let last = (PLACES * operators.len()) as i32 - 2;
    let ends = chained.then(|| [b.create_vector(&[0]), b.create_vector(&[last])]);
    let table = b.start_table();
    b.push_slot_always(slot(0), tensors);
    if let Some([inputs, outputs]) = ends {
        b.push_slot_always(slot(1), inputs);
        b.push_slot_always(slot(2), outputs);
    }
    b.push_slot_always(slot(3), built);
    let graph = b.end_table(table);
    let graphs = b.create_vector(&[graph]);
    let codes: Vec<Built> = operators.iter().map(|o| code(&mut b, o.code)).collect();
    let codes = b.create_vector(&codes);
    let table = b.start_table();
    b.push_slot(slot(0), 3u32, 0);
    b.push_slot_always(slot(1), codes);
    b.push_slot_always(slot(2), graphs);
    b.push_slot_always(slot(4), buffers);
    let model = b.end_table(table);
    b.finish(model, Some("TFL3"));
    b.finished_data().to_vec()
}

/// Writes even codes like old converters, only in the byte, and odd codes in both fields.
fn code(b: &mut FlatBufferBuilder<'_>, code: i32) -> Built {
    let table = b.start_table();
    b.push_slot(slot(0), code.min(127) as i8, 0);
    if code % 2 == 1 {
        b.push_slot(slot(3), code, 0);
    }
    b.end_table(table)
}

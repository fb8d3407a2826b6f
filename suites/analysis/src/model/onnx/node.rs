//! Reader of ONNX node tests: a model of one node, and tensors in their own files.

use super::graph::{decoded, printable, unsupported};
use super::proto;
use crate::model::Fault;
use crate::model::names::data_type;
use prost::Message;
use prost::bytes::Bytes;
use std::collections::BTreeMap;

/// Upper bound on the elements of a tensor.
const MAX_ELEMENTS: usize = 1 << 26;

/// Supported type of a tensor's elements, by its number in `TensorProto.DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Type {
    /// `UINT8`.
    U8 = 2,
    /// `INT8`.
    I8 = 3,
    /// `UINT16`.
    U16 = 4,
    /// `INT16`.
    I16 = 5,
    /// `INT32`.
    I32 = 6,
    /// `FLOAT`.
    F32 = 1,
}

/// Tensor with its elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Dimensions; empty for a scalar.
    pub dims: Vec<usize>,
    /// Type of the elements.
    pub element: Type,
    /// Elements of an integer tensor, row by row.
    pub integers: Vec<i64>,
    /// Elements of a float tensor, row by row.
    pub floats: Vec<f32>,
}

/// Node of a model.
#[derive(Clone, Debug)]
pub struct Node {
    /// Domain and operator, such as `QuantizeLinear`.
    pub op: String,
    /// Names of the inputs; empty for an omitted input.
    pub inputs: Vec<String>,
    /// Integer attributes: lists and single values.
    pub integers: BTreeMap<String, Vec<i64>>,
    /// Text attributes.
    pub texts: BTreeMap<String, String>,
    /// Names of the model's inputs, in the order of the files.
    pub given: Vec<String>,
    /// Constants of the model.
    pub constants: BTreeMap<String, Tensor>,
}

/// Reads the only node of a model.
pub fn node(file: &[u8]) -> Result<Node, Fault> {
    let file = Bytes::copy_from_slice(file);
    let model: proto::Model = decoded(&file, "ModelProto", 0)?;
    let graph = model.graph.filter(|_| model.ir_version > 0).ok_or(Fault::NoModel)?;
    let graph: proto::Graph = decoded(&graph, "ModelProto.graph", 0)?;
    let [node] = &graph.node[..] else {
        let count = graph.node.len();
        return Err(unsupported("ModelProto.graph", format!("it has {count} nodes; a node test has one")));
    };
    let node: proto::Node = decoded(node, "ModelProto.graph.node[0]", 0)?;
    let mut constants = BTreeMap::new();
    for bytes in &graph.initializer {
        let tensor: proto::Tensor = decoded(bytes, "ModelProto.graph.initializer", 0)?;
        constants.insert(tensor.name.clone(), read(tensor)?);
    }
    let given =
        graph.input.iter().map(|bytes| decoded(bytes, "ModelProto.graph.input", 0).map(|v: proto::Value| v.name));
    let given = given.filter(|name| name.as_ref().map_or(true, |name| !constants.contains_key(name)));
    let given = given.collect::<Result<_, _>>()?;
    let domain =
        if matches!(node.domain.as_str(), "" | "ai.onnx") { String::new() } else { format!("{}.", node.domain) };
    let (mut integers, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for attribute in &node.attribute {
        let values = if attribute.ints.is_empty() { vec![attribute.i()] } else { attribute.ints.clone() };
        integers.insert(attribute.name.clone(), values);
        texts.insert(attribute.name.clone(), String::from_utf8_lossy(&attribute.s).into_owned());
    }
    let op = printable(&format!("{domain}{}", node.op_type));
    Ok(Node { op, inputs: node.input, integers, texts, given, constants })
}

/// Reads the tensor in a file.
pub fn tensor(file: &[u8]) -> Result<Tensor, Fault> {
    let tensor = proto::Tensor::decode(file);
    read(tensor.map_err(|error| Fault::malformed("TensorProto", 0, error.to_string()))?)
}

fn read(tensor: proto::Tensor) -> Result<Tensor, Fault> {
    let place = format!("TensorProto {}", printable(&tensor.name));
    let place = place.trim_end();
    let size = |size: &i64| usize::try_from(*size).ok();
    let dims: Option<Vec<usize>> = tensor.dims.iter().map(size).collect();
    let elements = dims.as_ref().and_then(|dims| dims.iter().try_fold(1usize, |n, size| n.checked_mul(*size)));
    let (Some(dims), Some(elements)) = (dims, elements.filter(|elements| *elements <= MAX_ELEMENTS)) else {
        return Err(Fault::malformed(place, 0, format!("dimensions of {:?}", tensor.dims)));
    };
    let element = Type::try_from(tensor.data_type).map_err(|_| {
        let known = "FLOAT, UINT8, INT8, UINT16, INT16 and INT32 are read";
        unsupported(place, format!("its type is {}; {known}", data_type(tensor.data_type)))
    })?;
    let raw = &tensor.raw_data;
    let apart = || tensor.int32_data.iter().map(|value| i64::from(*value)).collect();
    let integers = |width: usize, of: &dyn Fn(&[u8]) -> i64| -> Vec<i64> {
        if raw.is_empty() { apart() } else { raw.chunks_exact(width).map(of).collect() }
    };
    let (integers, floats): (Vec<i64>, Vec<f32>) = match element {
        Type::F32 if raw.is_empty() => (Vec::new(), tensor.float_data.clone()),
        Type::F32 => (Vec::new(), raw.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
        Type::U8 => (integers(1, &|bytes| bytes[0].into()), Vec::new()),
        Type::I8 => (integers(1, &|bytes| (bytes[0] as i8).into()), Vec::new()),
        Type::U16 => (integers(2, &|bytes| u16::from_le_bytes([bytes[0], bytes[1]]).into()), Vec::new()),
        Type::I16 => (integers(2, &|bytes| i16::from_le_bytes([bytes[0], bytes[1]]).into()), Vec::new()),
        Type::I32 => {
            let word = |bytes: &[u8]| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into();
            (integers(4, &word), Vec::new())
        }
    };
    let have = integers.len() + floats.len();
    if have != elements {
        return Err(Fault::malformed(place, 0, format!("{have} values for dimensions of {:?}", tensor.dims)));
    }
    Ok(Tensor { dims, element, integers, floats })
}

//! Writer of ONNX node tests: a model of one node, and tensors in their own files.
//!
//! Numbers of fields and types: onnx/onnx `onnx/onnx.proto`.

use super::node::{Tensor, Type};
use super::proto;
use prost::Message;

/// Versions of format and operators for 8-bit types: the first in which `QuantizeLinear` and `DequantizeLinear` have an axis.
const OF_BYTES: (i64, i64) = (7, 13);

/// Versions of format and operators for 16-bit types: the first in which both operators support them.
const OF_WORDS: (i64, i64) = (10, 21);

/// Node test without the values of its tensors.
#[derive(Clone, Debug)]
pub struct Model {
    /// Operator.
    pub op: &'static str,
    /// Attributes; several values form a list.
    pub attributes: Vec<(&'static str, Vec<i64>)>,
    /// Inputs: names, types and dimensions.
    pub inputs: Vec<(&'static str, Type, Vec<usize>)>,
    /// Type and dimensions of the output.
    pub output: (Type, Vec<usize>),
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(string, tag = "2")]
    producer_name: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<Operators>,
}

#[derive(Clone, PartialEq, Message)]
struct Operators {
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<proto::Node>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "11")]
    input: Vec<Value>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    of: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
struct TypeProto {
    #[prost(message, optional, tag = "1")]
    tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorType {
    #[prost(int32, tag = "1")]
    element: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    sizes: Vec<Size>,
}

#[derive(Clone, PartialEq, Message)]
struct Size {
    #[prost(int64, optional, tag = "1")]
    value: Option<i64>,
}

fn value(name: &str, element: Type, dims: &[usize]) -> Value {
    let sizes = dims.iter().map(|size| Size { value: Some(*size as i64) }).collect();
    let tensor = TensorType { element: element.into(), shape: Some(Shape { sizes }) };
    Value { name: name.to_owned(), of: Some(TypeProto { tensor: Some(tensor) }) }
}

fn attribute((name, values): &(&'static str, Vec<i64>)) -> proto::Attribute {
    let (i, ints, kind) = match values[..] {
        [one] => (Some(one), Vec::new(), 2),
        _ => (None, values.clone(), 7),
    };
    proto::Attribute { name: (*name).to_owned(), i, ints, kind, ..proto::Attribute::default() }
}

/// Returns the content of the file `model.onnx`.
pub fn model(model: &Model) -> Vec<u8> {
    let node = proto::Node {
        input: model.inputs.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        output: vec!["y".to_owned()],
        op_type: model.op.to_owned(),
        attribute: model.attributes.iter().map(attribute).collect(),
        ..proto::Node::default()
    };
    let graph = Graph {
        node: vec![node],
        name: model.op.to_owned(),
        input: model.inputs.iter().map(|(name, element, dims)| value(name, *element, dims)).collect(),
        output: vec![value("y", model.output.0, &model.output.1)],
    };
    let elements = model.inputs.iter().map(|(_, element, _)| *element).chain([model.output.0]);
    let is_wide = elements.into_iter().any(|element| matches!(element, Type::U16 | Type::I16));
    let (ir_version, version) = if is_wide { OF_WORDS } else { OF_BYTES };
    let file = File {
        ir_version,
        producer_name: "tiebreak".to_owned(),
        graph: Some(graph),
        opset_import: vec![Operators { version }],
    };
    file.encode_to_vec()
}

/// Returns the content of the file of a tensor.
pub fn tensor(name: &str, tensor: &Tensor) -> Vec<u8> {
    let integers = tensor.integers.iter();
    let raw: Vec<u8> = match tensor.element {
        Type::F32 => tensor.floats.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Type::U8 | Type::I8 => integers.map(|v| *v as u8).collect(),
        Type::U16 | Type::I16 => integers.flat_map(|v| (*v as u16).to_le_bytes()).collect(),
        Type::I32 => integers.flat_map(|v| (*v as i32).to_le_bytes()).collect(),
    };
    let proto = proto::Tensor {
        dims: tensor.dims.iter().map(|size| *size as i64).collect(),
        data_type: tensor.element.into(),
        name: name.to_owned(),
        raw_data: raw.into(),
        ..proto::Tensor::default()
    };
    proto.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::node;
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let written = Model {
            op: "ConvInteger",
            attributes: vec![("pads", vec![1, 0, 2, 0]), ("group", vec![3])],
            inputs: vec![("x", Type::U8, vec![1, 3, 2, 2]), ("w", Type::I8, vec![3, 1, 1, 1])],
            output: (Type::I32, vec![1, 3, 5, 2]),
        };
        let read = node::node(&model(&written)).expect("a node");
        assert_eq!((read.op.as_str(), &read.given[..]), ("ConvInteger", &["x".to_owned(), "w".to_owned()][..]));
        assert_eq!((&read.integers["pads"][..], &read.integers["group"][..]), (&[1, 0, 2, 0][..], &[3][..]));
        let kinds = [
            (Type::U8, 255),
            (Type::I8, -128),
            (Type::U16, 65_535),
            (Type::I16, -32_768),
            (Type::I32, i64::from(i32::MIN)),
        ];
        for (element, least) in kinds {
            let written = Tensor { dims: vec![2], element, integers: vec![least, 7], floats: Vec::new() };
            assert_eq!(node::tensor(&tensor("x", &written)).expect("a tensor").integers, [least, 7]);
        }
        let written = Tensor { dims: Vec::new(), element: Type::F32, integers: Vec::new(), floats: vec![-0.0] };
        let read = node::tensor(&tensor("x", &written)).expect("a tensor");
        assert!(read.dims.is_empty() && read.floats[0].to_bits() == (-0.0f32).to_bits());
    }
}

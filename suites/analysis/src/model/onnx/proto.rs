//! Messages that the reader decodes, some of which the writer encodes, with the numbers of their fields: onnx/onnx `onnx/onnx.proto`. Fields that are not listed are skipped.
//!
//! Lists of messages are lists of bytes that share the file's memory, and are decoded one by one, because a message costs more memory than its bytes.

use prost::Message;
use prost::bytes::Bytes;

/// `ModelProto`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Model {
    #[prost(int64, tag = "1")]
    pub(crate) ir_version: i64,
    #[prost(bytes = "bytes", optional, tag = "7")]
    pub(crate) graph: Option<Bytes>,
}

/// `GraphProto`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Graph {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(crate) node: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub(crate) initializer: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "11")]
    pub(crate) input: Vec<Bytes>,
}

/// `ValueInfoProto`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Value {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

/// `NodeProto`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(crate) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
    #[prost(string, tag = "4")]
    pub(crate) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub(crate) domain: String,
}

/// `AttributeProto`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(float, tag = "2")]
    pub(crate) f: f32,
    #[prost(int64, optional, tag = "3")]
    pub(crate) i: Option<i64>,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) s: Bytes,
    #[prost(message, optional, tag = "5")]
    pub(crate) t: Option<Tensor>,
    #[prost(int64, repeated, tag = "8")]
    pub(crate) ints: Vec<i64>,
    /// `AttributeType`, for the writer alone: 2 for an integer, 7 for a list.
    #[prost(int32, tag = "20")]
    pub(crate) kind: i32,
}

/// `TensorProto`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(crate) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(crate) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(crate) int32_data: Vec<i32>,
    #[prost(string, tag = "8")]
    pub(crate) name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub(crate) raw_data: Bytes,
    /// `DEFAULT` or `EXTERNAL`.
    #[prost(int32, tag = "14")]
    pub(crate) data_location: i32,
}

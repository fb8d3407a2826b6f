//! Writer of small ONNX models. Its messages and field numbers are independent of the reader.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    domain: String,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(int32, tag = "20")]
    kind: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(float, repeated, tag = "4")]
    float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    int32_data: Vec<i32>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
    #[prost(int32, tag = "14")]
    data_location: i32,
}

/// Builder of a model.
#[derive(Clone, Default)]
pub(crate) struct Builder {
    graph: Graph,
}

#[allow(dead_code)]
impl Builder {
    fn tensor(&mut self, name: &str, data_type: i32, dims: &[i64], change: impl FnOnce(&mut Tensor)) -> &mut Self {
        let mut tensor = Tensor { name: name.to_owned(), data_type, dims: dims.to_vec(), ..Tensor::default() };
        change(&mut tensor);
        self.graph.initializer.push(tensor);
        self
    }

    /// Adds floats as separate numbers.
    pub(crate) fn floats(&mut self, name: &str, dims: &[i64], values: &[f32]) -> &mut Self {
        self.tensor(name, 1, dims, |tensor| tensor.float_data = values.to_vec())
    }

    /// Adds int8 values as bytes.
    pub(crate) fn int8(&mut self, name: &str, dims: &[i64], values: &[i8]) -> &mut Self {
        self.tensor(name, 3, dims, |tensor| tensor.raw_data = values.iter().map(|v| *v as u8).collect())
    }

    /// Adds int8 values in another file.
    pub(crate) fn apart(&mut self, name: &str, dims: &[i64]) -> &mut Self {
        self.tensor(name, 3, dims, |tensor| tensor.data_location = 1)
    }

    /// Adds uint8 values as separate numbers.
    pub(crate) fn uint8(&mut self, name: &str, dims: &[i64], values: &[i32]) -> &mut Self {
        self.tensor(name, 2, dims, |tensor| tensor.int32_data = values.to_vec())
    }

    /// Adds int32 values as bytes.
    pub(crate) fn int32(&mut self, name: &str, values: &[i32]) -> &mut Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor(name, 6, &[values.len() as i64], |tensor| tensor.raw_data = bytes)
    }

    /// Adds a node; `op` is an operator with or without its domain, such as `com.microsoft.QLinearAdd` or `Conv`.
    pub(crate) fn node(&mut self, op: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> &mut Self {
        let (domain, op) = op.rsplit_once('.').unwrap_or(("", op));
        let attribute = |(name, i): &(&str, i64)| Attribute { name: (*name).to_owned(), i: *i, kind: 2 };
        self.graph.node.push(Node {
            input: inputs.iter().map(|name| (*name).to_owned()).collect(),
            output: vec![output.to_owned()],
            name: format!("node of {output}"),
            op_type: op.to_owned(),
            attribute: attributes.iter().map(attribute).collect(),
            domain: domain.to_owned(),
        });
        self
    }

    /// Returns the bytes of the model.
    pub(crate) fn model(&self) -> Vec<u8> {
        let graph = Graph { name: "graph".to_owned(), ..self.graph.clone() };
        Model { ir_version: 9, graph: Some(graph) }.encode_to_vec()
    }
}

/// Returns a model with each audited operator, on unsigned and signed bytes.
pub(crate) fn every() -> Builder {
    let mut b = Builder::default();
    b.floats("xs", &[], &[0.1019]).uint8("xz", &[], &[100]).floats("ys", &[], &[0.0517]).uint8("yz", &[], &[3]);
    b.floats("ws", &[2], &[0.0139, 0.0071]).int8("wz", &[2], &[0, 0]).int8("w", &[2, 1, 1, 2], &[3, -7, 11, 5]);
    b.int32("bias", &[-20, 1000]).floats("w1s", &[], &[0.0213]).int8("w1z", &[], &[1]).int8("w1", &[2, 1], &[9, -4]);
    b.uint8("c", &[3], &[0, 7, 255]).floats("cs", &[], &[0.0333]).int8("z8", &[], &[5]).floats("s8", &[], &[0.25]);
    b.int8("dw", &[2, 1, 2, 1], &[1, 2, -3, 4]);
    let (x, y) = (["x", "xs", "xz"], ["ys", "yz"]);
    let joined = |parts: &[&[&'static str]]| parts.concat();
    b.node("QLinearConv", &joined(&[&x, &["w", "ws", "wz"], &y, &["bias"]]), "a", &[]);
    b.node("QLinearConv", &joined(&[&x, &["dw", "ws", "wz"], &y]), "b", &[("group", 2)]);
    b.node("QLinearMatMul", &joined(&[&x, &["w1", "w1s", "w1z"], &y]), "c1", &[]);
    b.node("com.microsoft.QGemm", &joined(&[&x, &["w1", "w1s", "w1z"], &[""], &y]), "d", &[("transB", 1)]);
    b.node("com.microsoft.QLinearAdd", &joined(&[&x, &["u", "cs", "xz"], &y]), "e", &[]);
    b.node("com.microsoft.QLinearMul", &joined(&[&x, &["c", "cs", "xz"], &y]), "f", &[]);
    b.node("DequantizeLinear", &["x", "xs", "xz"], "xf", &[]).node("DequantizeLinear", &["w", "ws", "wz"], "wf", &[]);
    b.node("DequantizeLinear", &["bias", "xs"], "bf", &[]);
    b.node("Conv", &["xf", "wf", "bf"], "g", &[]).node("Relu", &["g"], "gr", &[]);
    b.node("QuantizeLinear", &["gr", "ys", "yz"], "gq", &[]);
    b.node("QuantizeLinear", &["xf", "s8", "z8"], "h", &[]);
    b.node("Softmax", &["h"], "i", &[]);
    b
}

//! ONNX models: operators on stored values (`QLinearConv`, ...), and float operators between `DequantizeLinear` and `QuantizeLinear`, which
//! runtimes fuse into the former.
//!
//! Lists remain bytes and are decoded one by one, because a decoded message needs many times the memory of its bytes.

mod graph;
pub mod node;
mod products;
mod proto;
mod qdq;
pub mod write;

use super::Fault;
use super::operators::{Arithmetic, Elementwise, Kind, Operator, reason};
use graph::{Graph, printable, unsupported};
use products::{Inputs, Layout, products};
use std::collections::BTreeSet;

/// Domain of ONNX Runtime's own operators.
const MICROSOFT: &str = "com.microsoft";

/// Passes each operator of a file to `visit`.
pub(super) fn operators(file: &[u8], visit: &mut dyn FnMut(Operator<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
    let graph = Graph::read(file)?;
    let quiet = qdq::parts(&graph);
    for index in 0..graph.nodes.len() {
        let node = &graph.nodes[index];
        if quiet.contains(&index) || node.op_type == "Constant" {
            continue;
        }
        let arithmetic = match arithmetic(&graph, node) {
            Err(Fault::Unsupported { problem, .. }) => Err(problem),
            other => Ok(other?),
        };
        let name = if node.name.is_empty() { node.output.first().map_or("", |name| name.as_str()) } else { &node.name };
        visit(Operator { index, op: printable(&node.op_type), name: printable(name), arithmetic })?;
    }
    Ok(())
}

fn arithmetic<'a>(graph: &'a Graph, node: &'a proto::Node) -> Result<Arithmetic<'a>, Fault> {
    let product = |layout: Layout, inputs: Inputs<'a>| {
        products(graph, node, layout, inputs).map(|p| Arithmetic::Products(Box::new(p)))
    };
    match (node.domain.as_str(), node.op_type.as_str()) {
        ("" | "ai.onnx", "QLinearConv") => product(Layout::Convolution, Inputs::linear(node, [6, 7], Some(8))?),
        ("" | "ai.onnx", "QLinearMatMul") => product(Layout::Columns, Inputs::linear(node, [6, 7], None)?),
        (MICROSOFT, "QGemm") => {
            let layout = if node.flag("transB") { Layout::Rows } else { Layout::Columns };
            if node.flag("transA") || node.number("alpha").is_some_and(|alpha| alpha != 1.0) {
                return Err(unsupported(&node.name, "transA or another alpha than 1"));
            }
            product(layout, Inputs::linear(node, [7, 8], Some(6))?)
        }
        (MICROSOFT, "QLinearAdd") => elementwise(graph, node).map(Arithmetic::Add),
        (MICROSOFT, "QLinearMul") => elementwise(graph, node).map(Arithmetic::Mul),
        ("" | "ai.onnx", "Conv" | "MatMul" | "Gemm" | "Add" | "Mul" | "QuantizeLinear") => qdq::arithmetic(graph, node),
        _ => Err(unsupported(&node.name, reason(&node.op_type))),
    }
}

/// Reads an operator with inputs `A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point`.
fn elementwise(graph: &Graph, node: &proto::Node) -> Result<Elementwise, Fault> {
    let quantized = |at: usize| graph.quantized(node.operand(at)?, node.input.get(at + 1).map(String::as_str));
    let operands = [quantized(1)?, quantized(4)?];
    let output = quantized(6)?;
    let constants = [stored(graph, node.operand(0)?)?, stored(graph, node.operand(3)?)?];
    let range = output.element.range();
    Ok(Elementwise { operands, constants, output, clamp: (*range.start(), *range.end()) })
}

/// Returns the values of a constant tensor; `None` for a computed tensor.
fn stored(graph: &Graph, name: &str) -> Result<Option<BTreeSet<i32>>, Fault> {
    let Some(constant) = graph.constant(name) else { return Ok(None) };
    let (element, bytes) = constant.bytes()?;
    Ok(Some(bytes.iter().map(|byte| element.read(&[*byte])).collect()))
}

impl proto::Node {
    /// Returns the name of a required input.
    fn operand(&self, at: usize) -> Result<&str, Fault> {
        let name = self.input.get(at).map(String::as_str).filter(|name| !name.is_empty());
        let place = || format!("{} {}", printable(&self.op_type), printable(&self.name));
        name.ok_or_else(|| Fault::malformed(place().trim_end(), 0, format!("there is no input {at}")))
    }

    fn attribute(&self, name: &str) -> Option<&proto::Attribute> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }

    fn flag(&self, name: &str) -> bool {
        self.attribute(name).is_some_and(|attribute| attribute.i() != 0)
    }

    fn number(&self, name: &str) -> Option<f32> {
        self.attribute(name).map(|attribute| attribute.f)
    }

    /// Returns the number of groups of a convolution.
    fn groups(&self) -> i64 {
        self.attribute("group").map_or(1, proto::Attribute::i)
    }
}

impl Layout {
    fn kind(self, depth_of_group: usize, groups: i64) -> Kind {
        match self {
            Self::Convolution if groups > 1 && depth_of_group == 1 => Kind::Depthwise,
            Self::Convolution => Kind::Convolution,
            Self::Rows | Self::Columns => Kind::Dense,
        }
    }
}

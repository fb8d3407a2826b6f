//! Float operators with dequantized operands and a quantized result. Runtimes fuse them into one operator on stored values.

use super::graph::{Graph, unsupported};
use super::products::{Inputs, Layout, products};
use super::proto::Node;
use super::stored;
use crate::model::operators::{Arithmetic, Elementwise, Rescale, reason};
use crate::model::{Fault, Quantized};
use std::collections::BTreeSet;

/// Tensor that a `DequantizeLinear` reads: names of values, scale and zero point.
type Dequantized<'a> = [&'a str; 3];

/// Nodes after an operator: an optional `Relu`, and a `QuantizeLinear`.
struct Quantization<'a> {
    names: [&'a str; 2],
    relu: bool,
    nodes: Vec<usize>,
}

/// Returns the nodes that belong to another operator: the conversions of its operands and result, and its activation.
pub(super) fn parts(graph: &Graph) -> BTreeSet<usize> {
    let mut parts = BTreeSet::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        if !matches!(node.op_type.as_str(), "Conv" | "MatMul" | "Gemm" | "Add" | "Mul" | "QuantizeLinear") {
            continue;
        }
        if parts.contains(&at) || arithmetic(graph, node).is_err() {
            continue;
        }
        parts.extend(node.input.iter().filter_map(|name| graph.maker(name)).map(|(at, _)| at));
        if node.op_type != "QuantizeLinear" {
            parts.extend(quantization(graph, node).map(|q| q.nodes).unwrap_or_default());
        }
    }
    parts
}

pub(super) fn arithmetic<'a>(graph: &'a Graph, node: &'a Node) -> Result<Arithmetic<'a>, Fault> {
    let float =
        || unsupported(&node.name, "it computes in float: an operand is not dequantized, or its result not quantized");
    let operand = |at: usize| node.input.get(at).and_then(|name| dequantized(graph, name));
    if node.op_type == "QuantizeLinear" {
        let from = operand(0).ok_or_else(|| unsupported(&node.name, reason(&node.op_type)))?;
        return rescale(graph, from, node).map(Arithmetic::Rescale);
    }
    let Quantization { names: output, relu, .. } = quantization(graph, node).ok_or_else(float)?;
    let (lhs, rhs) = operand(0).zip(operand(1)).ok_or_else(float)?;
    let layout = match node.op_type.as_str() {
        "Conv" => Layout::Convolution,
        "Gemm" if node.flag("transB") => Layout::Rows,
        "Gemm" | "MatMul" => Layout::Columns,
        op => {
            let [a, b] = [lhs, rhs].map(|[_, scale, zero_point]| graph.quantized(scale, Some(zero_point)));
            let output: Quantized = graph.quantized(output[0], Some(output[1]))?;
            let range = output.element.range();
            let least = if relu { output.zero_point } else { *range.start() };
            let constants = [stored(graph, lhs[0])?, stored(graph, rhs[0])?];
            let layer = Elementwise { operands: [a?, b?], constants, output, clamp: (least, *range.end()) };
            return Ok(if op == "Add" { Arithmetic::Add(layer) } else { Arithmetic::Mul(layer) });
        }
    };
    let scaled = ["alpha", "beta"].iter().any(|name| node.number(name).is_some_and(|factor| factor != 1.0));
    if node.flag("transA") || scaled {
        return Err(unsupported(&node.name, "transA, or another alpha or beta than 1"));
    }
    let bias = match node.input.get(2).filter(|name| !name.is_empty()) {
        None => "",
        Some(name) => {
            let in_float = || unsupported(&node.name, "a bias in float, which each runtime quantizes in its own way");
            dequantized(graph, name).ok_or_else(in_float)?[0]
        }
    };
    let inputs = Inputs { input: [lhs[1], lhs[2]], weights: rhs, output, bias, relu };
    products(graph, node, layout, inputs).map(|p| Arithmetic::Products(Box::new(p)))
}

fn dequantized<'a>(graph: &'a Graph, name: &str) -> Option<Dequantized<'a>> {
    let (_, node) = graph.maker(name).filter(|(_, node)| node.op_type == "DequantizeLinear")?;
    let zero_point = node.input.get(2).map_or("", String::as_str);
    Some([node.input.first()?, node.input.get(1)?, zero_point])
}

/// Returns the quantization of the result by its only reader.
fn quantization<'a>(graph: &'a Graph, node: &'a Node) -> Option<Quantization<'a>> {
    let mut nodes = Vec::new();
    let only = |node: &'a Node| {
        let mut readers = graph.readers(node.output.first()?);
        readers.next().filter(|_| readers.next().is_none())
    };
    let (mut at, mut reader) = only(node)?;
    let relu = reader.op_type == "Relu";
    if relu {
        nodes.push(at);
        (at, reader) = only(reader)?;
    }
    if reader.op_type != "QuantizeLinear" {
        return None;
    }
    nodes.push(at);
    let zero_point = reader.input.get(2).map_or("", String::as_str);
    Some(Quantization { names: [reader.input.get(1)?, zero_point], relu, nodes })
}

fn rescale(graph: &Graph, from: Dequantized<'_>, node: &Node) -> Result<Rescale, Fault> {
    let zero_point = node.input.get(2).map(String::as_str);
    Ok(Rescale {
        input: graph.quantized(from[1], Some(from[2]))?,
        output: graph.quantized(node.operand(1)?, zero_point)?,
    })
}

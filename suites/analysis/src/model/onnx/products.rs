//! Sums of products with constant weights.

use super::graph::{Constant, Graph};
use super::proto::Node;
use crate::model::operators::{Products, Weights};
use crate::model::{Fault, MAX_CHANNELS, Quantized};

/// Order of the weights in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[channels, depth of a group, ...]`.
    Convolution,
    /// `[channels, depth]`.
    Rows,
    /// `[depth, channels]`.
    Columns,
}

/// Names of the tensors of a product; empty for an omitted tensor.
pub(super) struct Inputs<'a> {
    /// Scale and zero point.
    pub(super) input: [&'a str; 2],
    /// Values, scale and zero point.
    pub(super) weights: [&'a str; 3],
    /// Scale and zero point.
    pub(super) output: [&'a str; 2],
    pub(super) bias: &'a str,
    /// True if negative results become 0.
    pub(super) relu: bool,
}

impl<'a> Inputs<'a> {
    /// Returns the names for an operator on stored values, whose first inputs are the input and the weights.
    pub(super) fn linear(node: &'a Node, output: [usize; 2], bias: Option<usize>) -> Result<Self, Fault> {
        let optional = |at: usize| node.input.get(at).map_or("", String::as_str);
        Ok(Self {
            input: [node.operand(1)?, optional(2)],
            weights: [node.operand(3)?, node.operand(4)?, optional(5)],
            output: [node.operand(output[0])?, optional(output[1])],
            bias: bias.map_or("", optional),
            relu: false,
        })
    }
}

pub(super) fn products<'a>(
    graph: &'a Graph,
    node: &Node,
    layout: Layout,
    inputs: Inputs<'a>,
) -> Result<Products<'a>, Fault> {
    let tensor = |[scale, zero_point]: [&str; 2]| graph.quantized(scale, Some(zero_point));
    let (input, output): (Quantized, Quantized) = (tensor(inputs.input)?, tensor(inputs.output)?);
    let [values, scale, zero_point] = inputs.weights;
    let values = graph.needed(values, "the tensor of weights")?;
    let (element, bytes) = values.bytes()?;
    let Shape { channels, depth, strides, of_group } = shape(values, layout)?;
    let scales = graph.needed(scale, "the scale of the weights")?.scales()?;
    let (_, zero_points) = graph.zero_points(Some(zero_point))?;
    for count in [scales.len(), zero_points.len()] {
        if count != 1 && count != channels {
            return Err(values.unsupported(format!("{count} scales or zero points for {channels} channels")));
        }
    }
    let bias = match inputs.bias {
        "" => Vec::new(),
        name => graph.needed(name, "the bias")?.int32()?,
    };
    if !bias.is_empty() && bias.len() != channels {
        return Err(values.unsupported(format!("{} biases for {channels} channels", bias.len())));
    }
    let range = output.element.range();
    let least = if inputs.relu { output.zero_point } else { *range.start() };
    let weights = Weights { element, bytes, channels, depth, strides, zero_points };
    let kind = layout.kind(of_group, node.groups());
    Ok(Products { kind, input, output, clamp: (least, *range.end()), weights, scales, bias })
}

/// Sizes and strides of the weights.
struct Shape {
    channels: usize,
    depth: usize,
    strides: (usize, usize),
    /// Input channels that one output channel reads.
    of_group: usize,
}

fn shape(values: Constant<'_>, layout: Layout) -> Result<Shape, Fault> {
    let shape = values.shape()?;
    let found = match (layout, &shape[..]) {
        (Layout::Convolution, [channels, of_group, _, ..]) => {
            let depth = shape[1..].iter().product();
            Shape { channels: *channels, depth, strides: (depth, 1), of_group: *of_group }
        }
        (Layout::Rows, [channels, depth]) => {
            Shape { channels: *channels, depth: *depth, strides: (*depth, 1), of_group: *depth }
        }
        (Layout::Columns, [depth, channels]) => {
            Shape { channels: *channels, depth: *depth, strides: (1, *channels), of_group: *depth }
        }
        _ => return Err(values.unsupported(format!("weights of dimensions {shape:?}"))),
    };
    if found.channels > MAX_CHANNELS {
        return Err(values.unsupported(format!("{} channels; at most {MAX_CHANNELS} can be audited", found.channels)));
    }
    Ok(found)
}

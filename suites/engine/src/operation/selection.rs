//! Request of a caller: cases in place of the plan, and the schemes that differences are counted against.

use crate::operation::operands::Operands;
use std::sync::Arc;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::quantized::Quantized;
use tiebreak_impls::{conv2d, requantize};
use tiebreak_oracle::rounding::RoundingRule;

/// Layer of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Shape and zero points, for int8 operands.
    pub shape: conv2d::Params,
    /// Weights of the layer as int8, in the layout of a convolution, if the model has weights.
    pub weights: Option<Vec<i32>>,
    /// Multipliers, shifts and biases of the channels, and zero point and clamp of int8 results; `None` if the model has no scales. Without
    /// accumulators: `len` is 0.
    pub output: Option<requantize::Params>,
}

/// Case of a network's layer: the computation of an operation on an input of the network, or on a block of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Name of the operation.
    pub op: &'static str,
    /// Parameters, as a worker reads them.
    pub params: serde_json::Value,
    /// Input tensors.
    pub tensors: Operands,
    /// Place of the results in the layer.
    pub place: Block,
}

/// Place of a case's results among the results of a layer: runs of `channels` results, at a distance of `of` results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of the layer in the network.
    pub layer: usize,
    /// The input of the network, counted from 0.
    pub input: usize,
    /// Index of the first result.
    pub from: usize,
    /// Number of adjacent results.
    pub channels: usize,
    /// Distance between two runs: all results of the layer at one position.
    pub of: usize,
}

impl Block {
    /// Returns the index, in the layer, of a result of the case.
    pub fn at(&self, index: usize) -> usize {
        self.from + index / self.channels * self.of + index % self.channels
    }
}

/// Cases that the caller asks for in place of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseSelection {
    /// Single case, as text; or several cases that run in order in a session.
    pub cases: Vec<String>,
    /// Layers of a model.
    pub layers: Vec<Layer>,
    /// Layers of a network, with their inputs in the network.
    pub stages: Vec<Arc<Stage>>,
    /// Multipliers and shifts.
    pub channels: Vec<Channel>,
    /// Quantized types.
    pub types: Vec<Quantized>,
    /// Input for every multiplier and shift.
    pub x: Option<i32>,
    /// Fractional bits of the multipliers, if they differ from the default.
    pub q: Option<u32>,
}

/// Schemes that differences are counted against, chosen by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Scheme of fixed point multiply, with the overflow policy.
    pub multiplication: String,
    /// Rounding rule of the single-rounding reference for quantized values.
    pub rounding: RoundingRule,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { multiplication: "ties-up".to_owned(), rounding: RoundingRule::TiesEven }
    }
}

/// Kind of parameters that a caller may give in place of an operation's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Multipliers and shifts.
    Pairs,
    /// Quantized types.
    Types,
    /// Layers of a model.
    Model,
}

/// Option by which a caller chooses the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceOption {
    /// Scheme of fixed point multiply.
    Reference,
    /// Rounding rule for results that are rounded once.
    Rounding,
}

impl CaseSelection {
    /// True if the caller asks for nothing, so the plan runs.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// True for a single input, or a single sequence of cases, which runs unchanged.
    pub fn is_one_case(&self) -> bool {
        !self.cases.is_empty() || self.x.is_some()
    }
}

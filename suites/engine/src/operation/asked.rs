//! What a caller asks for: cases in place of the plan, and what differences are counted against.

use std::sync::Arc;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::quantized::Quantized;
use tiebreak_impls::{conv2d, requantize};
use tiebreak_oracle::rounding::RoundingRule;

/// A layer of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Shape and zero points, of int8 operands.
    pub shape: conv2d::Params,
    /// Its own weights as int8 in the layout of a convolution's, where the model has them.
    pub weights: Option<Vec<i32>>,
    /// The multipliers, shifts and biases of its channels, and zero point and clamp of int8 results, where the model has its scales. Without
    /// accumulators: `len` is 0.
    pub output: Option<requantize::Params>,
}

/// One case of a network's layer: what one operation computes there of one input of the network, or a block of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The operation, by name.
    pub op: &'static str,
    /// Its parameters, as a worker reads them.
    pub params: serde_json::Value,
    /// Its tensors.
    pub tensors: [Vec<i32>; 3],
    /// Where the results lie.
    pub place: Block,
}

/// The place of a case's results among those of a layer: of each run of `channels` results the next one lies `of` further on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The layer, by its number in the network.
    pub layer: usize,
    /// The input of the network, counted from 0.
    pub input: usize,
    /// Place of the first result.
    pub from: usize,
    /// Results that lie beside each other.
    pub channels: usize,
    /// Results of the whole layer there.
    pub of: usize,
}

impl Block {
    /// The place of a result in the layer.
    pub fn at(&self, index: usize) -> usize {
        self.from + index / self.channels * self.of + index % self.channels
    }
}

/// What the caller asked for, in place of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// One case, as text; or several that run one after the other in one session.
    pub cases: Vec<String>,
    /// Layers of a model.
    pub layers: Vec<Layer>,
    /// Layers of a network on the inputs that they have there.
    pub stages: Vec<Arc<Stage>>,
    /// Multipliers and shifts.
    pub channels: Vec<Channel>,
    /// Quantized types.
    pub types: Vec<Quantized>,
    /// One input, for each of the multipliers and shifts.
    pub x: Option<i32>,
    /// Fractional bits of the multipliers, where they are not the usual ones.
    pub q: Option<u32>,
}

/// What the caller wants differences counted against, each operation by its own schemes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Scheme of fixed point multiply, with its policy.
    pub multiplication: String,
    /// Rule by which a quantized value is rounded once.
    pub rounding: RoundingRule,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { multiplication: "ties-up".to_owned(), rounding: RoundingRule::TiesEven }
    }
}

/// What a caller may give in place of an operation's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Multipliers and shifts.
    Pairs,
    /// Quantized types.
    Types,
    /// Layers of a model.
    Model,
}

/// The option by which a caller chooses what differences are counted against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceOption {
    /// A scheme of fixed point multiply.
    Reference,
    /// A rule by which results are rounded once.
    Rounding,
}

impl Asked {
    /// Whether the plan is to run.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it is one input, or one sequence of cases, which is run as it is.
    pub fn is_one_case(&self) -> bool {
        !self.cases.is_empty() || self.x.is_some()
    }
}

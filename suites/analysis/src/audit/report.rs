//! Types of an audit's JSON; `docs/src/audit.md` explains each key.

use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the format.
pub const FORMAT: u32 = 1;

/// Audit of a model.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// Version of the format, [`FORMAT`].
    pub format: u32,
    /// Path of the file, as given.
    pub model: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Format of the model: `tflite` or `onnx`.
    pub kind: &'static str,
    /// Comparisons, one for each runtime or scheme on the right.
    pub comparisons: Vec<Comparison>,
    /// Audited layers, with the properties that do not depend on a runtime.
    pub layers: Vec<Layer>,
    /// Operators that compute something and are not audited.
    pub not_audited: Vec<NotAudited>,
    /// Operators that only move or select stored values. No runtime changes their results.
    pub without_arithmetic: Vec<NotAudited>,
}

/// Operator that is not audited.
#[derive(Clone, Debug, Serialize)]
pub struct NotAudited {
    /// Number of the operator in its graph, from 0.
    pub index: usize,
    /// Kind of the operator.
    pub op: String,
    /// Name of the operator.
    pub name: String,
    /// Reason for the omission.
    pub reason: String,
}

/// Type, scale and zero point of a tensor.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tensor {
    /// Type of the stored values.
    #[serde(rename = "type")]
    pub element: &'static str,
    /// Exact value of the float32 scale.
    pub scale: f64,
    /// Stored value of real 0.
    pub zero_point: i32,
}

/// Audited layer.
#[derive(Clone, Debug, Serialize)]
pub struct Layer {
    /// Number of the operator in its graph, from 0.
    pub index: usize,
    /// Kind of the operator.
    pub op: String,
    /// Name of the result.
    pub name: String,
    /// Number of products of one result: 1 for an operator that only rescales, 0 for an operator on two tensors.
    pub depth: usize,
    /// Tensors that are read, without weights.
    pub inputs: Vec<Tensor>,
    /// Tensor that is written.
    pub output: Tensor,
    /// Smallest and largest result.
    pub clamp: (i32, i32),
    /// Channels of the layer; empty for an operator on two tensors.
    pub channels: Vec<Channel>,
}

/// Channel, with the properties that do not depend on a runtime.
#[derive(Clone, Debug, Serialize)]
pub struct Channel {
    /// Number of the channel.
    pub channel: usize,
    /// Exact value of the float32 scale of the weights.
    pub weight_scale: f64,
    /// Bias of the sums.
    pub bias: i32,
    /// Accumulators that weights, bias and input type allow.
    pub accumulators: Accumulators,
    /// Multiplier and shift by each derivation: `f64`, `f32-f64`, `f32`.
    pub multipliers: BTreeMap<&'static str, Multiplier>,
    /// Overflow of 16-bit lanes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pairs>,
    /// True if a partial sum, in some order, can overflow int32.
    pub overflows_int32: bool,
    /// True if some accumulator is not exact in float32.
    pub inexact_in_float: bool,
}

/// Accumulators that a channel can have.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Accumulators {
    /// Smallest accumulator, bias included.
    pub min: i64,
    /// Largest accumulator, bias included.
    pub max: i64,
    /// Number of accumulators.
    pub count: u64,
    /// True if each accumulator can occur. Otherwise there were too many to examine, and some cannot occur.
    pub exact: bool,
}

/// Q0.31 multiplier and shift, positive = left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Multiplier {
    /// Multiplier.
    pub multiplier: i32,
    /// Shift.
    pub shift: i32,
}

impl From<(i32, i32)> for Multiplier {
    fn from((multiplier, shift): (i32, i32)) -> Self {
        Self { multiplier, shift }
    }
}

/// Neighbouring products that a kernel adds in 16 bits.
#[derive(Clone, Debug, Serialize)]
pub struct Pairs {
    /// Kind of lanes: the name in `LANES`.
    pub lanes: &'static str,
    /// Number of neighbouring pairs of weights.
    pub pairs: usize,
    /// Number of pairs whose sum can overflow the lane.
    pub unsafe_pairs: usize,
    /// First unsafe pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<PairWitness>,
}

/// Two products whose sum overflows 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PairWitness {
    /// Index of the first product.
    pub k: usize,
    /// Weights in the type of the lanes.
    pub weights: (i32, i32),
    /// Activations in the type of the lanes.
    pub activations: (i32, i32),
    /// Sum of both products.
    pub sum: i32,
}

/// Comparison of two runtimes or schemes.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Runtime or scheme whose results are subtracted.
    pub left: String,
    /// Description of the left side.
    pub left_summary: String,
    /// Measured version of the left runtime, or a statement that none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_version: Option<&'static str>,
    /// Runtime or scheme from whose results the left results are subtracted.
    pub right: String,
    /// Description of the right side.
    pub right_summary: String,
    /// Measured version of the right runtime, or a statement that none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_version: Option<&'static str>,
    /// Totals over all compared layers.
    pub totals: Totals,
    /// Changes by the derivation of the multiplier alone, with the scheme of the left side.
    pub derivation: Totals,
    /// Ten channels, or operators on two tensors, with the highest rates.
    pub worst: Vec<Worst>,
    /// Counts of each layer.
    pub layers: Vec<LayerCounts>,
    /// Layers that one side does not define.
    pub not_compared: Vec<NotAudited>,
}

/// Sums over channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Number of channels; an operator on two tensors counts as one.
    pub channels: u64,
    /// Number of channels with a difference.
    pub channels_that_differ: u64,
    /// Reachable accumulators, or pairs of stored values, for which both sides have a result.
    pub inputs: u64,
    /// Inputs whose left result is not at an end of the clamp.
    pub inside: u64,
    /// Inputs with different results.
    pub differ: u64,
    /// Inputs of `inside` with different results.
    pub differ_inside: u64,
    /// Largest absolute difference.
    pub largest: u64,
}

impl Totals {
    pub(super) fn add(&mut self, other: &Self) {
        self.channels += other.channels;
        self.channels_that_differ += other.channels_that_differ;
        self.inputs += other.inputs;
        self.inside += other.inside;
        self.differ += other.differ;
        self.differ_inside += other.differ_inside;
        self.largest = self.largest.max(other.largest);
    }

    /// Returns the share of inputs that differ, for display.
    pub fn rate(&self) -> f64 {
        if self.inputs == 0 { 0.0 } else { self.differ as f64 / self.inputs as f64 }
    }
}

/// Counts of a layer.
#[derive(Clone, Debug, Serialize)]
pub struct LayerCounts {
    /// Number of the operator in its graph, from 0.
    pub index: usize,
    /// Kind of the operator.
    pub op: String,
    /// Name of the result.
    pub name: String,
    /// Derivation and scheme on the left: `f64 gemmlowp-double:wrap`.
    pub left: String,
    /// Derivation and scheme on the right.
    pub right: String,
    /// Totals over the channels.
    pub totals: Totals,
    /// Counts of each channel. An operator on two tensors has one entry without a number.
    pub channels: Vec<ChannelCounts>,
}

/// Counts of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelCounts {
    /// Number of the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<usize>,
    /// Multiplier and shift on the left; `None` if the scales are used separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Multiplier>,
    /// Multiplier and shift on the right; `None` if the scales are used separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Multiplier>,
    /// Inputs for which both sides have a result.
    pub inputs: u64,
    /// Inputs whose left result is not at an end of the clamp.
    pub inside: u64,
    /// Inputs with different results.
    pub differ: u64,
    /// Inputs of `inside` with different results.
    pub differ_inside: u64,
    /// Quotient `differ / inputs`, for display.
    pub rate: f64,
    /// Number of inputs by difference, right minus left.
    pub by_delta: BTreeMap<i64, u64>,
    /// Input with a difference nearest to zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Method of the count: `closed-form`, `bisection` of monotone results, or `each` input.
    pub method: &'static str,
    /// Ways of the channel on both sides, if the channels of the layer have ways of their own.
    #[serde(skip)]
    pub ways: Option<[String; 2]>,
}

/// Input on which two results differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// Input of both sides.
    #[serde(flatten)]
    pub input: Input,
    /// Result on the left.
    pub left: i64,
    /// Result on the right.
    pub right: i64,
}

/// Accumulator, bias included, or two stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Input {
    /// Accumulator of a channel.
    Accumulator {
        /// Accumulator, bias included.
        x: i64,
    },
    /// Stored values of both operands.
    Pair {
        /// Left operand.
        lhs: i32,
        /// Right operand.
        rhs: i32,
    },
}

/// Channel among the worst.
#[derive(Clone, Debug, Serialize)]
pub struct Worst {
    /// Number of the operator.
    pub index: usize,
    /// Kind of the operator.
    pub op: String,
    /// Counts of the channel.
    #[serde(flatten)]
    pub counts: ChannelCounts,
}

impl ChannelCounts {
    pub(super) fn totals(&self) -> Totals {
        let largest = self.by_delta.keys().map(|delta| delta.unsigned_abs()).max().unwrap_or(0);
        Totals {
            channels: 1,
            channels_that_differ: u64::from(self.differ > 0),
            inputs: self.inputs,
            inside: self.inside,
            differ: self.differ,
            differ_inside: self.differ_inside,
            largest,
        }
    }
}

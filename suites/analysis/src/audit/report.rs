//! Types of an audit's JSON; `docs/src/audit.md` explains each key.

use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// An audit of a model.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// [`FORMAT`].
    pub format: u32,
    /// The file as it was named.
    pub model: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// `tflite` or `onnx`.
    pub kind: &'static str,
    /// One for each runtime or scheme on the right.
    pub comparisons: Vec<Comparison>,
    /// The audited layers, with what does not depend on a runtime.
    pub layers: Vec<Layer>,
    /// Operators that compute something and are not audited at all.
    pub not_audited: Vec<NotAudited>,
    /// Operators that only move or select stored values, which no runtime changes.
    pub without_arithmetic: Vec<NotAudited>,
}

/// An operator that is not audited.
#[derive(Clone, Debug, Serialize)]
pub struct NotAudited {
    /// Its number in its graph, from 0.
    pub index: usize,
    /// Its operator.
    pub op: String,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Scale and zero point.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tensor {
    /// Type of the stored values.
    #[serde(rename = "type")]
    pub element: &'static str,
    /// The float32 scale, exactly.
    pub scale: f64,
    /// Stored value of 0.
    pub zero_point: i32,
}

/// An audited layer.
#[derive(Clone, Debug, Serialize)]
pub struct Layer {
    /// Number of the operator in its graph, from 0.
    pub index: usize,
    /// The operator.
    pub op: String,
    /// The name of its result.
    pub name: String,
    /// Products of one result; 1 for an operator that only rescales, 0 for one on two tensors.
    pub depth: usize,
    /// The tensors that are read, without weights.
    pub inputs: Vec<Tensor>,
    /// The tensor that is written.
    pub output: Tensor,
    /// Smallest and largest result.
    pub clamp: (i32, i32),
    /// Its channels; none for an operator on two tensors.
    pub channels: Vec<Channel>,
}

/// A channel, as every runtime finds it.
#[derive(Clone, Debug, Serialize)]
pub struct Channel {
    /// Its number.
    pub channel: usize,
    /// The float32 scale of its weights, exactly.
    pub weight_scale: f64,
    /// Added to its sums.
    pub bias: i32,
    /// The accumulators that its weights, bias and input type allow.
    pub accumulators: Accumulators,
    /// Multiplier and shift by each derivation: `f64`, `f32-f64`, `f32`.
    pub multipliers: BTreeMap<&'static str, Multiplier>,
    /// How far 16-bit lanes are from their ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pairs>,
    /// True if a partial sum, in some order, can overflow int32.
    pub overflows_int32: bool,
    /// True if some accumulator is not exact in float32.
    pub inexact_in_float: bool,
}

/// The accumulators that a channel can have.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Accumulators {
    /// Smallest, bias included.
    pub min: i64,
    /// Largest.
    pub max: i64,
    /// Number of accumulators.
    pub count: u64,
    /// True if each of them can occur; otherwise they were too many to examine, and some cannot.
    pub exact: bool,
}

/// A Q0.31 multiplier and a shift, positive = left.
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
    /// Kind of lanes: the key of `LANES`.
    pub lanes: &'static str,
    /// Neighbouring pairs of weights.
    pub pairs: usize,
    /// Pairs whose sum can overflow the lane.
    pub unsafe_pairs: usize,
    /// The first of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<PairWitness>,
}

/// Two products whose sum leaves 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PairWitness {
    /// Place of the first product.
    pub k: usize,
    /// Both weights as the lanes hold them.
    pub weights: (i32, i32),
    /// Both activations as the lanes hold them.
    pub activations: (i32, i32),
    /// Their sum of products.
    pub sum: i32,
}

/// One runtime or scheme against another.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The one whose results are subtracted.
    pub left: String,
    /// What it does.
    pub left_summary: String,
    /// The version of the runtime that was measured, or that none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_version: Option<&'static str>,
    /// The one from whose results they are subtracted.
    pub right: String,
    /// What it does.
    pub right_summary: String,
    /// The version of the runtime that was measured, or that none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_version: Option<&'static str>,
    /// Over all layers that were compared.
    pub totals: Totals,
    /// Changes by the derivation of the multiplier alone, with the scheme of the left side.
    pub derivation: Totals,
    /// The ten channels, or operators on two tensors, of the highest rate.
    pub worst: Vec<Worst>,
    /// Each layer.
    pub layers: Vec<LayerCounts>,
    /// Layers for which one side is not defined.
    pub not_compared: Vec<NotAudited>,
}

/// Sums over channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Channels; an operator on two tensors counts as one.
    pub channels: u64,
    /// Channels with a difference.
    pub channels_that_differ: u64,
    /// Reachable accumulators, or pairs of stored values, on which both sides have a result.
    pub inputs: u64,
    /// Inputs whose left result is not at an end of the clamp.
    pub inside: u64,
    /// Inputs with different results.
    pub differ: u64,
    /// Inputs of `inside` with different results.
    pub differ_inside: u64,
    /// The largest difference.
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

    /// The share of inputs that differ, to be read.
    pub fn rate(&self) -> f64 {
        if self.inputs == 0 { 0.0 } else { self.differ as f64 / self.inputs as f64 }
    }
}

/// The counts of a layer.
#[derive(Clone, Debug, Serialize)]
pub struct LayerCounts {
    /// Number of the operator.
    pub index: usize,
    /// The operator.
    pub op: String,
    /// The name of its result.
    pub name: String,
    /// Derivation and scheme on the left: `f64 gemmlowp-double:wrap`.
    pub left: String,
    /// Those on the right.
    pub right: String,
    /// Over its channels.
    pub totals: Totals,
    /// Each channel; one without a number for an operator on two tensors.
    pub channels: Vec<ChannelCounts>,
}

/// The counts of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelCounts {
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<usize>,
    /// Multiplier and shift on the left; none where the scales are taken apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Multiplier>,
    /// Those on the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Multiplier>,
    /// Inputs on which both sides have a result.
    pub inputs: u64,
    /// Inputs whose left result is not at an end of the clamp.
    pub inside: u64,
    /// Inputs with different results.
    pub differ: u64,
    /// Inputs of `inside` with different results.
    pub differ_inside: u64,
    /// `differ / inputs`, to be read.
    pub rate: f64,
    /// Right minus left.
    pub by_delta: BTreeMap<i64, u64>,
    /// The differing input nearest to zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Method of the count: `closed-form`, `bisection` of monotone results, or `each` input.
    pub method: &'static str,
}

/// An input on which two results differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// The input.
    #[serde(flatten)]
    pub input: Input,
    /// The result on the left.
    pub left: i64,
    /// The result on the right.
    pub right: i64,
}

/// An accumulator, bias included, or two stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Input {
    /// An accumulator.
    Accumulator {
        /// It.
        x: i64,
    },
    /// The stored values of both operands.
    Pair {
        /// Left operand.
        lhs: i32,
        /// Right operand.
        rhs: i32,
    },
}

/// A channel among the worst.
#[derive(Clone, Debug, Serialize)]
pub struct Worst {
    /// Number of the operator.
    pub index: usize,
    /// The operator.
    pub op: String,
    /// Its counts.
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

//! Types of the JSON output of `audit`; `docs/src/audit.md` explains each key.

use super::forms;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

forms! {
    /// Audit of a model.
    struct Audit {
        format: u32,
        model: String,
        sha256: String,
        /// `tflite` or `onnx`.
        kind: String,
        comparisons: Vec<Comparison>,
        layers: Vec<Layer>,
        not_audited: Vec<NotAudited>,
        without_arithmetic: Vec<NotAudited>,
    }

    struct NotAudited {
        index: u64,
        op: String,
        name: String,
        reason: String,
    }

    struct Tensor {
        #[serde(rename = "type")]
        element: String,
        scale: f64,
        zero_point: i32,
    }

    struct Layer {
        index: u64,
        op: String,
        name: String,
        depth: u64,
        inputs: Vec<Tensor>,
        output: Tensor,
        clamp: [i32; 2],
        channels: Vec<Channel>,
    }

    struct Channel {
        channel: u64,
        weight_scale: f64,
        bias: i32,
        accumulators: Accumulators,
        multipliers: BTreeMap<String, Multiplier>,
        pairs: Option<Vec<Pairs>>,
        overflows_int32: bool,
        inexact_in_float: bool,
    }

    struct Accumulators {
        min: i64,
        max: i64,
        count: u64,
        exact: bool,
    }

    struct Multiplier {
        multiplier: i32,
        shift: i32,
    }

    struct Pairs {
        lanes: String,
        pairs: u64,
        unsafe_pairs: u64,
        witness: Option<PairWitness>,
    }

    struct PairWitness {
        k: u64,
        weights: [i32; 2],
        activations: [i32; 2],
        sum: i32,
    }

    struct Comparison {
        left: String,
        left_summary: String,
        left_version: Option<String>,
        right: String,
        right_summary: String,
        right_version: Option<String>,
        totals: Totals,
        derivation: Totals,
        worst: Vec<Worst>,
        layers: Vec<LayerCounts>,
        not_compared: Vec<NotAudited>,
    }

    struct Totals {
        channels: u64,
        channels_that_differ: u64,
        inputs: u64,
        inside: u64,
        differ: u64,
        differ_inside: u64,
        largest: u64,
    }

    struct LayerCounts {
        index: u64,
        op: String,
        name: String,
        left: String,
        right: String,
        totals: Totals,
        channels: Vec<ChannelCounts>,
    }

    struct ChannelCounts {
        channel: Option<u64>,
        left: Option<Multiplier>,
        right: Option<Multiplier>,
        inputs: u64,
        inside: u64,
        differ: u64,
        differ_inside: u64,
        rate: f64,
        by_delta: BTreeMap<String, u64>,
        witness: Option<Witness>,
        method: String,
    }

    struct Worst {
        index: u64,
        op: String,
        channel: Option<u64>,
        left: Option<Multiplier>,
        right: Option<Multiplier>,
        inputs: u64,
        inside: u64,
        differ: u64,
        differ_inside: u64,
        rate: f64,
        by_delta: BTreeMap<String, u64>,
        witness: Option<Witness>,
        method: String,
    }

    /// Accumulator `x`, or the stored values of both operands.
    struct Witness {
        x: Option<i64>,
        lhs: Option<i32>,
        rhs: Option<i32>,
        left: i64,
        right: i64,
    }
}

//! Bit-for-bit comparison of kernels, without a scheme.

use super::{Case, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bit-for-bit comparison of two kernels of one scheme, or of one kernel in two lanes, on the same inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agreement {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane of the kernel.
    pub lane: String,
    /// Other kernel; the same kernel if two lanes are compared.
    pub other: String,
    /// Lane of the other kernel.
    pub other_lane: String,
    /// Results compared.
    pub results: u64,
    /// Results not compared, because their case is outside the domain of the other kernel.
    #[serde(default)]
    pub not_compared: u64,
    /// Compared results without a contract value (poison).
    pub open: u64,
    /// Results that differ and have a contract value.
    pub differ: u64,
    /// Results that differ and have no contract value.
    pub differ_open: u64,
    /// Results that differ, by stored and expressed type: `i8:f32`.
    pub types: BTreeMap<String, u64>,
    /// Small input on which the results differ.
    pub witness: Option<AgreementWitness>,
}

/// Input on which the results differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgreementWitness {
    /// Arguments of the case, by name.
    pub case: Case,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the other side.
    pub other: Value,
    /// Command that reproduces this case.
    pub command: String,
}

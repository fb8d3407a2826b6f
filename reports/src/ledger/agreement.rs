//! Kernels compared to the bit, without a scheme.

use super::{Case, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two kernels that promise one scheme, or one in two lanes, compared to the bit on the same inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agreement {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Its lane.
    pub lane: String,
    /// The other kernel; the same one where it is compared with itself in another lane.
    pub other: String,
    /// The other's lane.
    pub other_lane: String,
    /// Results compared.
    pub results: u64,
    /// Results not compared: the domain of the other kernel does not hold their case.
    #[serde(default)]
    pub not_compared: u64,
    /// Compared results to which the contract gives no value: poison.
    pub open: u64,
    /// Results that differ where the contract gives a value.
    pub differ: u64,
    /// Results that differ where it gives none.
    pub differ_open: u64,
    /// Results that differ, by stored and expressed type: `i8:f32`.
    pub types: BTreeMap<String, u64>,
    /// A small input on which they differ.
    pub witness: Option<AgreementWitness>,
}

/// An input on which two differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgreementWitness {
    /// The case by argument.
    pub case: Case,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the other side.
    pub other: Value,
    /// Command that runs this case again.
    pub command: String,
}

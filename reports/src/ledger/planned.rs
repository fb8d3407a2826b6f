//! Planned, run and dropped inputs, with reasons.

use super::{Value, is_zero};
use crate::named::named;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Planned, run and dropped inputs of one kernel in one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Planned {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Unit of the counts.
    pub unit: Unit,
    /// True if the caller gave the inputs; otherwise they come from the plan.
    pub given: bool,
    /// Number of planned inputs.
    pub planned: u64,
    /// Number of inputs that ran.
    pub run: u64,
    /// Dropped inputs by reason; they add up to `planned` with `run`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
}

named! {
    /// Unit of a plan.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Unit {
        /// Multiplier and shift.
        Pair = "pair",
        /// Quantized type.
        Type = "type",
        /// Layer of a model.
        Layer = "layer",
        /// Parameters with their tensors, or the operands of an instruction.
        Case = "case",
        /// One input of a sweep.
        Input = "input",
    }
    /// Returns the noun of the unit.
    pub fn name;
}

/// Parameters or cases that a kernel did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Dropped {
    /// Reason.
    pub why: DropReason,
    /// Explanation of the reason, such as the domain.
    pub because: String,
    /// Number of dropped inputs.
    pub count: u64,
    /// First dropped input, or a short refused input, as a case; empty if the inputs come from a plan and were not enumerated.
    pub first: String,
}

/// Reason why parameters or cases did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// The contract of the kernel does not cover them.
    OutsideDomain,
    /// The kernel rejected them as outside its domain when called.
    Refused,
    /// The lane's worker does not offer the kernel.
    NotOffered,
    /// Their tensors cannot be constructed.
    NoSuchCase,
    /// The kernel failed to answer too often.
    GivenUp,
    /// Code that also runs in another lane or operation had the results of the first lane on the cases that ran.
    NothingNew,
}

/// Result of the caller's case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Position {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Index among the results.
    pub at: u64,
    /// Result of the kernel.
    pub got: Value,
    /// Result of each scheme, by label, the contract's first; null if the scheme gives no value.
    pub expected: IndexMap<String, Option<Value>>,
}

/// Lane without self-checks of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unchecked {
    /// Operation.
    pub op: String,
    /// Lane.
    pub lane: String,
}

/// Kernel that was not run, because its contract covers no parameter of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OutsideDomain {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Domain of the kernel, as text.
    pub domain: String,
}

/// Part of the caller's input that no kernel takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Part of the input, such as a layer of a model by its place in the file.
    pub item: String,
    /// Reason why no kernel takes the part, and what to do.
    pub reason: String,
}

/// Run of the corner catalogue in one lane, before all other cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CatalogueRun {
    /// Operation.
    pub op: String,
    /// Lane.
    pub lane: String,
    /// Kept cases.
    pub cases: u64,
    /// Cases that no kernel of the run accepts in this lane.
    #[serde(default)]
    pub not_taken: u64,
    /// Outputs judged, for each kernel with the case in its domain.
    pub judged: u64,
    /// Outputs outside a contract; the smallest of each kernel is a finding.
    pub broken: u64,
    /// Cases without an answer, for each kernel with the case in its domain.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: u64,
}

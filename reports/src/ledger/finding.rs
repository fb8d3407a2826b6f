//! Findings, and the kept mismatches.

use super::{Against, Value, Witness};
use serde::{Deserialize, Serialize};

/// Result or event outside a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Operation.
    pub op: String,
    /// Kernel; empty for a finding about a lane.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Class of the mismatch, or `crash`, `hang`, `wrong-length`, `stale-deviation`, `not-run`, `self-check`,
    /// `outside-domain` (given parameters that a named kernel did not run), `nothing-judged`.
    pub class: String,
    /// Error in one line, without kernel, lane and case, which every report prints first.
    pub message: String,
    /// Witness, if there is one.
    pub witness: Option<Witness>,
}

/// Kept mismatch, a line of `mismatches.csv`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Contract or reference.
    pub against: Against,
    /// Scheme.
    pub scheme: String,
    /// Whole case, such as `x=-1 m=1073741825 s=-1`; for several results, `at` selects the one that differs.
    pub case: String,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
    /// Class.
    pub class: String,
    /// Command that reproduces this case.
    pub command: String,
}

//! What breaks a contract, and the kept mismatches.

use super::{Against, Value, Witness};
use serde::{Deserialize, Serialize};

/// Something outside a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Operation.
    pub op: String,
    /// Kernel, or empty when the finding is about a lane.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Class: of the mismatch, or `crash`, `hang`, `wrong-length`, `stale-deviation`, `not-run`, `self-check`,
    /// `outside-domain` (parameters given that a named kernel did not run), `nothing-judged`.
    pub class: String,
    /// Error in one line, without kernel, lane and case, which every report puts before it.
    pub message: String,
    /// Witness, where there is one.
    pub witness: Option<Witness>,
}

/// One kept mismatch, a line of `mismatches.csv`.
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
    /// The whole case, such as `x=-1 m=1073741825 s=-1`; `at` is the result that differs, where there are several.
    pub case: String,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
    /// Class.
    pub class: String,
    /// Command that runs this case again.
    pub command: String,
}

//! Safe bounds of a kernel, each shown at the bound and one past it.

use serde::{Deserialize, Serialize};

/// Bound of a quantity, up to which a kernel's results equal those of unbounded integers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bound {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane in which it was shown.
    pub lane: String,
    /// Bounded quantity: a depth, the values of an operand, the number of certain products in one lane.
    pub quantity: String,
    /// The largest value (for a lower end the smallest) that is always safe; `None` where every value is.
    pub bound: Option<i64>,
    /// The arithmetic that gives it.
    pub because: String,
    /// The extreme input at the bound: the kernel is right.
    pub witness_at_bound: Option<BoundWitness>,
    /// Case one past the bound: the kernel is wrong.
    pub witness_past_bound: Option<BoundWitness>,
    /// True if both cases gave the required results.
    pub shown: bool,
}

/// An input at or past a bound, run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundWitness {
    /// The input, in words that `--case` takes where it is small.
    pub case: String,
    /// Result of the kernel.
    pub got: i64,
    /// Result of unbounded integers.
    pub exact: i64,
    /// Command that runs it again.
    pub command: String,
}

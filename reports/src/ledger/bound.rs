//! Safe bounds of a kernel, each checked at the bound and one past it.

use serde::{Deserialize, Serialize};

/// Bound of a quantity, up to which a kernel's results equal those of unbounded integers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bound {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane that checked the bound.
    pub lane: String,
    /// Bounded quantity: a depth, the values of an operand, the number of certain products in one lane.
    pub quantity: String,
    /// Largest value (smallest for a lower end) that is always safe; `None` if every value is safe.
    pub bound: Option<i64>,
    /// Arithmetic that gives the bound.
    pub because: String,
    /// Extreme case at the bound: the kernel is right.
    pub witness_at_bound: Option<BoundWitness>,
    /// Case one past the bound: the kernel is wrong.
    pub witness_past_bound: Option<BoundWitness>,
    /// True if both cases gave the required results.
    pub shown: bool,
}

/// Case at or past a bound, with the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundWitness {
    /// Case, as text that `--case` accepts if it is small.
    pub case: String,
    /// Result of the kernel.
    pub got: i64,
    /// Result of unbounded integers.
    pub exact: i64,
    /// Command that reproduces the case.
    pub command: String,
}

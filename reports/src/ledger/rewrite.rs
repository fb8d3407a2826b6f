//! Rewrites of a dialect, counted by a run and compared with the counts that the project records.

use serde::{Deserialize, Serialize};

/// Rewrite at one type: the results of both sides on every input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rewrite {
    /// Rewrite, as `before -> after`, or the name of its example.
    pub rewrite: String,
    /// Type, or the tensors of the example.
    #[serde(rename = "type")]
    pub ty: String,
    /// Result in a few words.
    pub verdict: String,
    /// Counts of the run.
    pub counted: Counts,
    /// Counts that the project records.
    pub recorded: Counts,
    /// Command that prints this row.
    pub command: String,
}

/// Number of inputs, by the results of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Counts {
    /// Both sides are defined and equal.
    pub same: u64,
    /// Both sides are defined and differ.
    pub differ: u64,
    /// One side is poison.
    pub undefined: u64,
}

impl Rewrite {
    /// True if the counts of the run equal the recorded counts.
    pub fn held(&self) -> bool {
        self.counted == self.recorded
    }
}

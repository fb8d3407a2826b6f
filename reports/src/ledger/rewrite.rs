//! Rewrites of a dialect, measured by a run and compared with what the project records of them.

use serde::{Deserialize, Serialize};

/// One rewrite at one type: the results of both sides on every input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rewrite {
    /// The rewrite, as `before -> after`, or by the name of its example.
    pub rewrite: String,
    /// The type, or the tensors of the example.
    #[serde(rename = "type")]
    pub ty: String,
    /// What was found, in a few words.
    pub verdict: String,
    /// What the run counted.
    pub counted: Counts,
    /// What the project records.
    pub recorded: Counts,
    /// The command that prints this row.
    pub command: String,
}

/// Inputs of a rewrite, by the results of both sides.
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
    /// True if the run counted what the project records.
    pub fn held(&self) -> bool {
        self.counted == self.recorded
    }
}

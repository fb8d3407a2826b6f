//! The harness checking itself: mutants and controls.

use serde::{Deserialize, Serialize};

/// One mutant or control in one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SelfCheck {
    /// Operation.
    pub op: String,
    /// Mutant or control name.
    pub name: String,
    /// Lane.
    pub lane: String,
    /// `mutant` or `control`.
    pub kind: CheckKind,
    /// True if the result is the required one.
    pub passed: bool,
    /// Class the mutant must be given; empty for a control.
    pub expected_class: String,
    /// Observed class and witness, or the reason why none was observed.
    pub seen: String,
    /// Repository and issue the defect comes from.
    pub origin: String,
}

/// Kind of a self-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A known bug that must be caught.
    Mutant,
    /// Two forms that must come out equal.
    Control,
}

//! Self-checks of the harness: mutants and controls.

use serde::{Deserialize, Serialize};

/// Mutant or control in one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SelfCheck {
    /// Operation.
    pub op: String,
    /// Name of the mutant or control.
    pub name: String,
    /// Lane.
    pub lane: String,
    /// `mutant` or `control`.
    pub kind: CheckKind,
    /// True if the result is the required result.
    pub passed: bool,
    /// Class that the mutant must get; empty for a control.
    pub expected_class: String,
    /// Observed class and witness, or the reason why none was observed.
    pub seen: String,
    /// Repository and issue that the defect comes from.
    pub origin: String,
}

/// Kind of a self-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// Known bug that must be detected.
    Mutant,
    /// Two forms that must be equal.
    Control,
}

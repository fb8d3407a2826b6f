//! What a run adds for people who look at it: where and when it ran, and the numbers of its figures.

use super::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When a run began, from which sources, and on which machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Environment {
    /// When it began, in UTC as of RFC 3339: `2026-11-22T05:40:00Z`.
    pub date: String,
    /// The commit of what the program was built from, with `+` and a hash of what was changed since; `None` where git does not say, or where the program
    /// is no longer in the workspace that it was built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// A hash of what the program was built from; `None` in older ledgers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// The model of the processor, as the system names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Threads that the system offers.
    pub threads: u64,
    /// Operating system and architecture: `linux x86_64`.
    pub system: String,
}

/// Subject of a figure, which decides its drawing and the meaning of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Number of accumulators on which a scheme differs from the reference: scheme, shift, inputs, differ, one_up, one_down.
    RateByShift,
    /// Exact value and results around a tie: x, exact, and a column for each scheme.
    ErrorAroundTie,
    /// Boundaries at which the results of a quantizer change: scheme, last, first, below, above.
    Staircase,
    /// Along the accumulators, how many differ: scheme, first, last, one_up, one_down, further.
    DeltaByAccumulator,
    /// Every two schemes: left, right, inputs, differ, most, and the m and shift where most differ.
    Atlas,
    /// Accumulator nearest to zero for each scheme, shift and sign: scheme, shift, delta, x, m, exact, reference, result.
    CornerCases,
}

impl FigureKind {
    /// Each of them.
    pub const ALL: [Self; 6] = [
        Self::RateByShift,
        Self::ErrorAroundTie,
        Self::Staircase,
        Self::DeltaByAccumulator,
        Self::Atlas,
        Self::CornerCases,
    ];

    /// Name in the ledger, and of the CSV file.
    pub fn name(self) -> &'static str {
        match self {
            Self::RateByShift => "rate-by-shift",
            Self::ErrorAroundTie => "error-around-tie",
            Self::Staircase => "staircase",
            Self::DeltaByAccumulator => "delta-by-accumulator",
            Self::Atlas => "atlas",
            Self::CornerCases => "corner-cases",
        }
    }
}

/// The numbers of a figure: a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure {
    /// Subject.
    pub kind: FigureKind,
    /// Operation.
    pub op: String,
    /// Title of a few words.
    pub title: String,
    /// Counted or evaluated quantity, with the method.
    pub says: String,
    /// The command that gives a row again, with `{column}` in place of the row's values.
    pub command: String,
    /// Schemes that have the same numbers as another one, by that one, which stands for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub same: BTreeMap<String, Vec<String>>,
    /// The columns.
    pub columns: Vec<Column>,
    /// Rows; each has one value for each column.
    pub rows: Vec<Vec<Value>>,
}

/// A column of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty where they have none.
    pub unit: String,
}

impl Figure {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The command that gives a row again.
    pub fn command_of(&self, row: &[Value]) -> String {
        let filled = self.columns.iter().zip(row);
        filled.fold(self.command.clone(), |command, (column, value)| {
            command.replace(&format!("{{{}}}", column.name), &value.to_string())
        })
    }
}

//! Facts for readers of a report: date and machine of the run, and the numbers of its figures.

use super::Value;
use crate::named::named;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Date, sources and machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Environment {
    /// Begin of the run, in UTC as of RFC 3339: `2026-11-22T05:40:00Z`.
    pub date: String,
    /// Commit of the built sources, with `+` and a hash of changes since; `None` if git gives no commit, or if the program is no longer in the
    /// workspace that built it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Hash of the sources that the program was built from; `None` in older ledgers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// Model of the processor, as the system names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Number of threads that the system offers.
    pub threads: u64,
    /// Operating system and architecture: `linux x86_64`.
    pub system: String,
}

named! {
    /// Subject of a figure, which decides its drawing and the meaning of its columns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum FigureKind {
        /// Number of accumulators on which a scheme differs from the reference: scheme, shift, inputs, differ, one_up, one_down.
        RateByShift = "rate-by-shift",
        /// Exact value and results around a tie: x, exact, and a column for each scheme.
        ErrorAroundTie = "error-around-tie",
        /// Boundaries at which the results of a quantizer change: scheme, last, first, below, above.
        Staircase = "staircase",
        /// Number of differing accumulators along their range: scheme, first, last, one_up, one_down, further.
        DeltaByAccumulator = "delta-by-accumulator",
        /// All pairs of schemes: left, right, inputs, differ, most, and the m and shift at which most accumulators differ.
        Atlas = "atlas",
        /// Accumulator nearest to zero for each scheme, shift and sign: scheme, shift, delta, x, m, exact, reference, result.
        CornerCases = "corner-cases",
    }
    /// Returns the name in the ledger and of the CSV file.
    pub fn name;
}

/// Table of the numbers of a figure.
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
    /// Command that reproduces a row, with `{column}` in place of the row's values.
    pub command: String,
    /// Schemes with the same numbers as another scheme, by the shown scheme.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub same: BTreeMap<String, Vec<String>>,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows; each has one value for each column.
    pub rows: Vec<Vec<Value>>,
}

/// Column of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit of the values; empty for values without a unit.
    pub unit: String,
}

impl Figure {
    /// Returns the index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the command that reproduces a row.
    pub fn command_of(&self, row: &[Value]) -> String {
        let filled = self.columns.iter().zip(row);
        filled.fold(self.command.clone(), |command, (column, value)| {
            command.replace(&format!("{{{}}}", column.name), &value.to_string())
        })
    }
}

//! CSV file of observed outputs.

use csv::StringRecord;
use indexmap::IndexSet;
use rug::Rational;
use std::path::{Path, PathBuf};
use thiserror::Error;
use tiebreak_common::parameters::{self, BadParameters, INT32, Row};
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::derivation::Scales;
use tiebreak_oracle::float::decimal;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_reports::read;

/// Content of a file of observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observations {
    /// Parameters and output steps, each once, in the file's order.
    pub settings: Vec<Setting>,
    /// Observations, one for each line.
    pub rows: Vec<Observation>,
}

/// Parameters, with the steps after the multiplication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// Multiplier, or scales from which it is derived.
    pub parameters: Parameters,
    /// Zero point and clamp.
    pub output: Output,
}

/// Multiplier, or scales from which it is derived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Parameters {
    /// Q0.31 multiplier and shift, positive = left.
    Multiplier {
        /// Multiplier.
        multiplier: i32,
        /// Shift.
        shift: i32,
    },
    /// Scales of the layer.
    Scales {
        /// Values of the scales.
        scales: Scales,
        /// Text of the scales in the file: input, weight, output.
        written: [String; 3],
    },
}

/// One input with its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Line of the file, from 1.
    pub line: u64,
    /// Index into the settings.
    pub setting: usize,
    /// Accumulator.
    pub x: i32,
    /// Output of the library.
    pub observed: i32,
}

/// Error of a file of observations.
#[derive(Debug, Error)]
pub enum BadObservations {
    /// The file cannot be read, or a line or a cell is malformed.
    #[error(transparent)]
    File(#[from] BadParameters),
    /// A column is unknown.
    #[error("{}: {cause}; the columns are {}", path.display(), COLUMNS.join(", "))]
    UnknownColumn {
        /// The file.
        path: PathBuf,
        /// Error with the name of the column.
        cause: UnknownName,
    },
    /// A required column is missing.
    #[error("{} has no column `{column}`; name `x`, `observed`, and either `multiplier` and `shift`, or `si`, `sw` and `so`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        column: &'static str,
    },
    /// A line with a multiplier and scales, or with neither.
    #[error("{}:{line}: a line has either `multiplier` and `shift`, or `si`, `sw` and `so`; leave the others empty", path.display())]
    Mixed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
    },
    /// Clamp bounds are reversed.
    #[error("{}:{line}: `min` {min} is above `max` {max}", path.display())]
    Clamp {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Smallest output.
        min: i32,
        /// Largest output.
        max: i32,
    },
    /// The file has a header and no further line.
    #[error("{} has no observations: a header and nothing below it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Columns that are read. `name` is free for the caller.
pub const COLUMNS: [&str; 11] =
    ["x", "observed", "multiplier", "shift", "si", "sw", "so", "zero_point", "min", "max", "name"];

const SCALE: &str = "a scale, a decimal number in 1e-9..=1e9";

/// Reads a file of observations.
pub fn read(path: &Path) -> Result<Observations, BadObservations> {
    parse(path, &read::bytes(path, read::TABLE).map_err(BadParameters::from)?)
}

/// Version of [`read`] for text in memory; errors name `path`.
pub fn parse(path: &Path, text: &[u8]) -> Result<Observations, BadObservations> {
    let mut settings = IndexSet::new();
    let row = |row: &Row<'_>| {
        let (x, observed) = (int32(row, "x")?, int32(row, "observed")?);
        let (setting, _) = settings.insert_full(setting(row)?);
        Ok(Observation { line: row.line, setting, x, observed })
    };
    let rows = parameters::rows(path, text, |headers| check(path, headers), row)?;
    if rows.is_empty() {
        return Err(BadObservations::Empty { path: path.to_owned() });
    }
    Ok(Observations { settings: settings.into_iter().collect(), rows })
}

/// Checks that all columns are known, and that the required columns are there.
fn check(path: &Path, headers: &StringRecord) -> Result<(), BadObservations> {
    let path = || path.to_owned();
    if let Some(stranger) = headers.iter().find(|header| !COLUMNS.contains(header)) {
        return Err(BadObservations::UnknownColumn { path: path(), cause: unknown("column", stranger, COLUMNS) });
    }
    let has = |column: &str| headers.iter().any(|header| header == column);
    let multiplier = has("multiplier") || has("shift");
    let scales = ["si", "sw", "so"].into_iter().any(has);
    let needed = [("x", true), ("observed", true), ("multiplier", multiplier || !scales), ("shift", multiplier)];
    let needed = needed.into_iter().chain(["si", "sw", "so"].map(|column| (column, scales)));
    let mut missing = needed.filter(|(column, needed)| *needed && !has(column));
    missing.next().map_or(Ok(()), |(column, _)| Err(BadObservations::Missing { path: path(), column }))
}

fn int32(row: &Row<'_>, column: &'static str) -> Result<i32, BadParameters> {
    row.value(column, INT32, |text| text.parse().ok())
}

fn int32_or(row: &Row<'_>, column: &'static str, default: i32) -> Result<i32, BadParameters> {
    if row.cell(column).is_some() { int32(row, column) } else { Ok(default) }
}

fn scale(row: &Row<'_>, column: &'static str) -> Result<Rational, BadParameters> {
    // Limits keep every product, quotient and reciprocal in the normal numbers of float.
    let (least, most) = (Rational::from((1, 1_000_000_000u64)), Rational::from(1_000_000_000u64));
    row.value(column, SCALE, |text| decimal(text).filter(|scale| (&least..=&most).contains(&scale)))
}

fn setting(row: &Row<'_>) -> Result<Setting, BadObservations> {
    let some = |columns: &[&str]| columns.iter().any(|column| row.cell(column).is_some());
    let parameters = match (some(&["multiplier", "shift"]), some(&["si", "sw", "so"])) {
        (true, false) => {
            let Channel { multiplier, shift } = row.channel()?;
            Parameters::Multiplier { multiplier, shift }
        }
        (false, true) => {
            let (input, weight, output) = (scale(row, "si")?, scale(row, "sw")?, scale(row, "so")?);
            let written = ["si", "sw", "so"].map(|column| row.cell(column).unwrap_or_default().to_owned());
            Parameters::Scales { scales: Scales { input, weight, output }, written }
        }
        _ => return Err(BadObservations::Mixed { path: row.path.to_owned(), line: row.line }),
    };
    let zero_point = int32_or(row, "zero_point", 0)?;
    let (min, max) = (int32_or(row, "min", i32::MIN)?, int32_or(row, "max", i32::MAX)?);
    if min > max {
        return Err(BadObservations::Clamp { path: row.path.to_owned(), line: row.line, min, max });
    }
    Ok(Setting { parameters, output: Output { zero_point, min, max } })
}

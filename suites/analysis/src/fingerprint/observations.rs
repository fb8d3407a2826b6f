//! The CSV file of observed outputs.

use csv::StringRecord;
use indexmap::IndexSet;
use rug::Rational;
use std::path::{Path, PathBuf};
use thiserror::Error;
use tiebreak_common::parameters::{self, BadParameters, MULTIPLIER, SHIFT, SHIFTS};
use tiebreak_oracle::derivation::Scales;
use tiebreak_oracle::float::decimal;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_reports::read;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observations {
    /// Parameters and outputs, each once, in the file's order.
    pub settings: Vec<Setting>,
    /// A line each.
    pub rows: Vec<Observation>,
}

/// Parameters, with the steps after the multiplication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The multiplier, or the scales from which it is derived.
    pub parameters: Parameters,
    /// Zero point and clamp.
    pub output: Output,
}

/// A multiplier, or the scales from which it is derived.
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
        /// Their values.
        scales: Scales,
        /// As the file writes them: input, weight, output.
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
    /// What the library gave.
    pub observed: i32,
}

/// A file that cannot be used.
#[derive(Debug, Error)]
pub enum BadObservations {
    /// It cannot be read, or a line or a cell is malformed.
    #[error(transparent)]
    File(#[from] BadParameters),
    /// A column that means nothing here.
    #[error("{}: {cause}; the columns are {}", path.display(), COLUMNS.join(", "))]
    UnknownColumn {
        /// The file.
        path: PathBuf,
        /// Which.
        cause: UnknownName,
    },
    /// A column that must be there.
    #[error("{} has no column `{column}`; name `x`, `observed`, and either `multiplier` and `shift`, or `si`, `sw` and `so`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Which.
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
    /// A clamp upside down.
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
    /// No line at all.
    #[error("{} has no observations: a header and nothing below it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Columns that are read. `name` is the caller's.
pub const COLUMNS: [&str; 11] =
    ["x", "observed", "multiplier", "shift", "si", "sw", "so", "zero_point", "min", "max", "name"];

const INT32: &str = "an int32 (-2147483648..=2147483647)";
const SCALE: &str = "a scale, a decimal number in 1e-9..=1e9";

/// Reads a file.
pub fn read(path: &Path) -> Result<Observations, BadObservations> {
    parse(path, &read::bytes(path, read::TABLE).map_err(BadParameters::from)?)
}

/// [`read`] of text that is already at hand; `path` is what errors call it.
pub fn parse(path: &Path, text: &[u8]) -> Result<Observations, BadObservations> {
    let path_buf = || path.to_owned();
    let (mut reader, headers) = parameters::records(path, text)?;
    let columns = Columns::of(path, &headers)?;
    let mut settings = IndexSet::new();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|cause| parameters::bad_line(path, text, cause))?;
        let line = record.position().map_or(0, |at| parameters::line(text, at));
        let row = Row { path, columns: &columns, record: &record, line };
        let (x, observed) = (row.int32("x")?, row.int32("observed")?);
        let (setting, _) = settings.insert_full(row.setting()?);
        rows.push(Observation { line, setting, x, observed });
    }
    if rows.is_empty() {
        return Err(BadObservations::Empty { path: path_buf() });
    }
    Ok(Observations { settings: settings.into_iter().collect(), rows })
}

/// Where each of [`COLUMNS`] is.
struct Columns([Option<usize>; COLUMNS.len()]);

impl Columns {
    fn of(path: &Path, headers: &StringRecord) -> Result<Self, BadObservations> {
        let path_buf = || path.to_owned();
        let mut columns = Self([None; COLUMNS.len()]);
        for (index, header) in headers.iter().enumerate() {
            let Some(at) = COLUMNS.iter().position(|column| *column == header) else {
                let cause = unknown("column", header, COLUMNS);
                return Err(BadObservations::UnknownColumn { path: path_buf(), cause });
            };
            columns.0[at] = Some(index);
        }
        let multiplier = columns.index("multiplier").or(columns.index("shift")).is_some();
        let scales = ["si", "sw", "so"].iter().any(|column| columns.index(column).is_some());
        let needed = [("x", true), ("observed", true), ("multiplier", multiplier || !scales), ("shift", multiplier)];
        let needed = needed.into_iter().chain(["si", "sw", "so"].map(|column| (column, scales)));
        let mut missing = needed.filter(|(column, needed)| *needed && columns.index(column).is_none());
        match missing.next() {
            Some((column, _)) => Err(BadObservations::Missing { path: path_buf(), column }),
            None => Ok(columns),
        }
    }

    fn index(&self, column: &str) -> Option<usize> {
        self.0[COLUMNS.iter().position(|c| *c == column)?]
    }
}

/// A line.
struct Row<'a> {
    path: &'a Path,
    columns: &'a Columns,
    record: &'a StringRecord,
    line: u64,
}

impl Row<'_> {
    /// The cell, unless it is empty or there is no such column.
    fn cell(&self, column: &str) -> Option<&str> {
        self.columns.index(column).and_then(|index| self.record.get(index)).filter(|cell| !cell.is_empty())
    }

    fn value<T>(
        &self,
        column: &'static str,
        wanted: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, BadParameters> {
        let value = self.cell(column).unwrap_or_default();
        parse(value).ok_or_else(|| BadParameters::BadValue {
            path: self.path.to_owned(),
            line: self.line,
            column,
            value: value.to_owned(),
            wanted,
        })
    }

    fn int32(&self, column: &'static str) -> Result<i32, BadParameters> {
        self.value(column, INT32, |text| text.parse().ok())
    }

    fn int32_or(&self, column: &'static str, default: i32) -> Result<i32, BadParameters> {
        if self.cell(column).is_some() { self.int32(column) } else { Ok(default) }
    }

    fn scale(&self, column: &'static str) -> Result<Rational, BadParameters> {
        // So that no product, quotient or reciprocal leaves the normal numbers of float.
        let (least, most) = (Rational::from((1, 1_000_000_000u64)), Rational::from(1_000_000_000u64));
        self.value(column, SCALE, |text| decimal(text).filter(|scale| (&least..=&most).contains(&scale)))
    }

    fn setting(&self) -> Result<Setting, BadObservations> {
        let some = |columns: &[&str]| columns.iter().any(|column| self.cell(column).is_some());
        let parameters = match (some(&["multiplier", "shift"]), some(&["si", "sw", "so"])) {
            (true, false) => Parameters::Multiplier {
                multiplier: self.value("multiplier", MULTIPLIER, |text| text.parse().ok())?,
                shift: self.value("shift", SHIFT, |text| text.parse().ok().filter(|s| SHIFTS.contains(s)))?,
            },
            (false, true) => {
                let (input, weight, output) = (self.scale("si")?, self.scale("sw")?, self.scale("so")?);
                let written = ["si", "sw", "so"].map(|column| self.cell(column).unwrap_or_default().to_owned());
                Parameters::Scales { scales: Scales { input, weight, output }, written }
            }
            _ => return Err(BadObservations::Mixed { path: self.path.to_owned(), line: self.line }),
        };
        let zero_point = self.int32_or("zero_point", 0)?;
        let (min, max) = (self.int32_or("min", i32::MIN)?, self.int32_or("max", i32::MAX)?);
        if min > max {
            return Err(BadObservations::Clamp { path: self.path.to_owned(), line: self.line, min, max });
        }
        Ok(Setting { parameters, output: Output { zero_point, min, max } })
    }
}

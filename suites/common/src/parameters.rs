//! (multiplier, shift) pairs of a run, from the caller, a CSV file, or a directed grid with random pairs.

use crate::budget::Budget;
use crate::stream::{below, int32, int32_of_any_size, stream};
use csv::StringRecord;
use std::collections::HashSet;
use std::path::Path;
use thiserror::Error;
use tiebreak_impls::fpm::Channel;
use tiebreak_reports::read::{self, Unreadable};

/// Shifts of the operation.
pub const SHIFTS: std::ops::RangeInclusive<i32> = -31..=31;

/// Error of a parameter file.
#[derive(Debug, Error)]
pub enum BadParameters {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Wrong contents; the message names the file.
    #[error("{0}")]
    Wrong(String),
}

/// Description of a valid multiplier or of another int32.
pub const INT32: &str = "an int32 (-2147483648..=2147483647)";
/// Description of a valid shift.
const SHIFT: &str = "a shift in -31..=31";

/// Reads columns `multiplier` and `shift` of a CSV file, in the file's order, with repetitions.
pub fn read_csv(path: &Path) -> Result<Vec<Channel>, BadParameters> {
    parse_csv(path, &read::bytes(path, read::TABLE)?)
}

/// Version of [`read_csv`] for text in memory; errors name `path`.
pub fn parse_csv(path: &Path, text: &[u8]) -> Result<Vec<Channel>, BadParameters> {
    let wanted = |headers: &StringRecord| {
        if headers.is_empty() {
            return Err(BadParameters::Wrong(format!(
                "{} is empty: a header with columns `multiplier` and `shift` is wanted, and a line for each pair",
                path.display()
            )));
        }
        let missing = ["multiplier", "shift"].into_iter().find(|column| !headers.iter().any(|h| h == *column));
        missing.map_or(Ok(()), |column| {
            let found = headers.iter().collect::<Vec<_>>().join(", ");
            Err(BadParameters::Wrong(format!(
                "{} has no column `{column}`; its columns are: {found}. Name one `multiplier` and one `shift`",
                path.display()
            )))
        })
    };
    let channels = rows(path, text, wanted, |row| row.channel())?;
    if channels.is_empty() {
        let wrong = format!("{} has no parameters: a header and nothing below it", path.display());
        return Err(BadParameters::Wrong(wrong));
    }
    Ok(channels)
}

/// Line of a CSV file.
pub struct Row<'a> {
    /// The file.
    pub path: &'a Path,
    /// Number of the line, from 1.
    pub line: u64,
    headers: &'a StringRecord,
    record: &'a StringRecord,
}

impl Row<'_> {
    /// Returns the cell of a column; `None` if the cell is empty or the column is missing.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let index = self.headers.iter().position(|header| header == column)?;
        self.record.get(index).filter(|cell| !cell.is_empty())
    }

    /// Parses the cell of a column. An error describes a valid value with `wanted`.
    pub fn value<T>(
        &self,
        column: &'static str,
        wanted: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, BadParameters> {
        let value = self.cell(column).unwrap_or_default();
        parse(value).ok_or_else(|| {
            let (path, line) = (self.path.display(), self.line);
            BadParameters::Wrong(format!("{path}:{line}: column `{column}`: `{value}` is not {wanted}"))
        })
    }

    /// Parses `multiplier` and `shift`.
    pub fn channel(&self) -> Result<Channel, BadParameters> {
        Ok(Channel {
            multiplier: self.value("multiplier", INT32, |text| text.parse().ok())?,
            shift: self.value("shift", SHIFT, |text| text.parse().ok().filter(|s| SHIFTS.contains(s)))?,
        })
    }
}

/// Reads the lines of a CSV file. Column names must differ; only columns without a name, which are not read, may repeat.
pub fn rows<T, E: From<BadParameters>>(
    path: &Path,
    text: &[u8],
    takes: impl FnOnce(&StringRecord) -> Result<(), E>,
    mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
) -> Result<Vec<T>, E> {
    let bad = |cause: csv::Error| {
        let line = cause.position().map_or(0, |at| line(text, at));
        BadParameters::Wrong(format!("{}:{line}: {cause}", path.display()))
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let headers = reader.headers().map_err(bad)?.clone();
    let mut seen = HashSet::new();
    if let Some(column) = headers.iter().find(|column| !column.is_empty() && !seen.insert(*column)) {
        let wrong = format!("{} has two columns `{column}`; leave one of them", path.display());
        return Err(BadParameters::Wrong(wrong).into());
    }
    takes(&headers)?;
    let row = |record: Result<StringRecord, csv::Error>| {
        let record = record.map_err(bad)?;
        let line = record.position().map_or(0, |at| line(text, at));
        read(&Row { path, line, headers: &headers, record: &record })
    };
    reader.records().map(row).collect()
}

/// Returns the line of a record. The reader's position is that of the blank lines before the record, which the reader skips.
fn line(text: &[u8], at: &csv::Position) -> u64 {
    let before = text[at.byte() as usize..].iter().take_while(|b| matches!(b, b'\r' | b'\n'));
    at.line() + before.filter(|b| **b == b'\n').count() as u64
}

/// Multipliers at which implementations are known or likely to differ.
pub const CORNER_MULTIPLIERS: [i32; 22] = [
    0,
    1,
    -1,
    2,
    3,
    1 << 16,
    (1 << 30) - 1,
    1 << 30,
    (1 << 30) + 1,
    (1 << 30) + (1 << 7),
    i32::MAX,
    i32::MAX - 1,
    i32::MAX - 127,
    i32::MIN,
    i32::MIN + 1,
    -(1 << 30),
    0x7FFF_0000,
    0x7FFF_EA86,
    0x5555_5555,
    1_395_864_371,
    1_518_500_250,
    1_583_594_044,
];

/// Shifts of the quick grid: both ends, both sides of 0 and of the halves, and shifts of real models.
const QUICK_SHIFTS: [i32; 17] = [-31, -30, -16, -15, -12, -9, -8, -3, -2, -1, 0, 1, 2, 7, 8, 30, 31];

/// Returns the directed grid, then random pairs.
pub fn grid(budget: &Budget, seed: u64) -> Vec<Channel> {
    let random_parameters = budget.random_parameters;
    let all: Vec<i32> = SHIFTS.collect();
    let shifts: &[i32] = if budget.every_tail { &all } else { &QUICK_SHIFTS };
    let corners = shifts.iter().flat_map(|&shift| CORNER_MULTIPLIERS.map(|multiplier| Channel { multiplier, shift }));
    let mut multipliers = stream(seed, "fpm/multiplier");
    let mut shift_stream = stream(seed, "fpm/shift");
    let random = (0..random_parameters).map(move |i| {
        let normalised = (1 << 30) | (int32(&mut multipliers) & ((1 << 30) - 1));
        let any = int32_of_any_size(&mut multipliers);
        let wide = below(&mut shift_stream, 63) as i32 - 31;
        let usual = -(below(&mut shift_stream, 13) as i32);
        // Converters emit normalised multipliers and small right shifts. Other pairs must be exact as well.
        match i % 4 {
            0 if i % 8 == 4 => Channel { multiplier: near_a_power(any), shift: wide },
            0 => Channel { multiplier: any, shift: wide },
            1 => Channel { multiplier: normalised & !127, shift: usual },
            2 => Channel { multiplier: normalised, shift: wide },
            _ => Channel { multiplier: normalised, shift: usual },
        }
    });
    corners.chain(random).collect()
}

/// Returns the largest power of two up to `|any|`, this power plus or minus one, or `i32::MAX` minus this power plus one, with the sign of `any`.
/// Code replaces multiplications by such numbers with shifts.
fn near_a_power(any: i32) -> i32 {
    let power = 1 << any.unsigned_abs().max(1).ilog2().min(30);
    let one = match any & 7 {
        0..4 => power,
        4 => power + 1,
        5 => power - 1,
        _ => i32::MAX - (power - 1),
    };
    if any < 0 { -one } else { one }
}

/// Pairs that an exhaustive run sweeps if the caller gives no pairs: middle right shift, shortest right shift, no shift, power of two, small left
/// shift.
pub const SWEPT: [Channel; 5] = [
    Channel { multiplier: 1_395_864_371, shift: -8 },
    Channel { multiplier: 1_395_864_371, shift: -1 },
    Channel { multiplier: i32::MAX, shift: 0 },
    Channel { multiplier: 1 << 30, shift: -2 },
    Channel { multiplier: 1_518_500_250, shift: 2 },
];

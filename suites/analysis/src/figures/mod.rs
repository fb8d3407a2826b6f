//! Numbers of the figures of a report: results of the schemes of a run's contracts over whole lines of inputs, in closed form.
//!
//! The run shows that kernels match their schemes, so the results of a scheme on all 2^32 accumulators are counted without a kernel.
//!
//! The run puts the numbers into the ledger. Page and CSV are drawn from these numbers, because `reports` does not know the oracle.

mod corners;
mod heat;
mod line;
mod rates;
mod staircase;
mod tie;

use indexmap::IndexSet;
use std::collections::BTreeMap;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::quantize;
use tiebreak_reports::ledger::{Against, Column, Figure, FigureKind, Ledger, Value};

/// Multiplier for rates and lines: normalised, odd, without a special form.
const MULTIPLIER: i32 = 1_395_864_371;
/// Upper bound on the pieces of a counted scheme. Left shifts that wrap very often give more.
const MOST_PIECES: usize = 1 << 10;
const FPM: &str = "fpm";
const QUANTIZE: &str = "quantize";

/// Returns the figures of a run, for the schemes that its contracts name and for its reference.
pub fn of(ledger: &Ledger) -> Vec<Figure> {
    let mut figures = Vec::new();
    let reference = labels(ledger, FPM, Against::Reference).into_iter().find_map(|label| Scheme::parse(label).ok());
    if let Some(reference) = reference {
        let parsed = labels(ledger, FPM, Against::Contract).into_iter().filter_map(|label| Scheme::parse(label).ok());
        let schemes: Vec<Scheme> = parsed.collect();
        let all = [rates::figure, line::figure, tie::figure, corners::figure];
        figures.extend(all.into_iter().filter_map(|figure| figure(reference, &schemes)));
        figures.extend(heat::figure(reference, &schemes));
    }
    let every = [labels(ledger, QUANTIZE, Against::Contract), labels(ledger, QUANTIZE, Against::Reference)].concat();
    let schemes: Vec<quantize::Scheme> =
        every.into_iter().filter_map(|label| quantize::Scheme::parse(label).ok()).collect();
    figures.extend(staircase::figure(&schemes));
    figures
}

/// Returns the schemes in the rows of an operation, each once, in their order.
fn labels<'a>(ledger: &'a Ledger, op: &str, against: Against) -> Vec<&'a str> {
    let rows = ledger.rows.iter().filter(|row| row.op == op && row.against == against);
    rows.map(|row| row.scheme.as_str()).collect::<IndexSet<_>>().into_iter().collect()
}

/// Tables of several schemes. Schemes with equal tables form a group, and the first scheme represents it.
#[derive(Debug, Default)]
struct Grouped {
    groups: Vec<(Vec<String>, Vec<Vec<Value>>)>,
}

impl Grouped {
    /// Adds the rows of one scheme, without its name.
    fn add(&mut self, label: String, rows: Vec<Vec<Value>>) {
        match self.groups.iter_mut().find(|(_, known)| *known == rows) {
            Some((labels, _)) => labels.push(label),
            None => self.groups.push((vec![label], rows)),
        }
    }

    /// Returns the rows, each beginning with its scheme, and the schemes that each represents; `None` if no scheme has rows.
    fn figure(self, figure: Figure) -> Option<Figure> {
        let mut rows = Vec::new();
        let mut same = BTreeMap::new();
        for (labels, of_scheme) in self.groups.into_iter().filter(|(_, rows)| !rows.is_empty()) {
            let first = Value::Text(labels[0].clone());
            rows.extend(of_scheme.into_iter().map(|row| [vec![first.clone()], row].concat()));
            if labels.len() > 1 {
                same.insert(labels[0].clone(), labels[1..].to_vec());
            }
        }
        (!rows.is_empty()).then_some(Figure { rows, same, ..figure })
    }
}

/// Returns a figure without rows.
fn empty(kind: FigureKind, op: &str, title: &str, says: String, command: String, columns: &[(&str, &str)]) -> Figure {
    let column = |(name, unit): &(&str, &str)| Column { name: (*name).to_owned(), unit: (*unit).to_owned() };
    Figure {
        kind,
        op: op.to_owned(),
        title: title.to_owned(),
        says,
        command,
        columns: columns.iter().map(column).collect(),
        same: BTreeMap::new(),
        rows: Vec::new(),
    }
}

/// Returns a count of accumulators, at most 2^32, as a value.
fn value(count: u64) -> Value {
    i64::try_from(count).map_or_else(|_| Value::Text(count.to_string()), Value::Integer)
}

//! The numbers of the figures of a report: what the schemes of a run's contracts do over whole lines of inputs, in closed form.
//!
//! A run shows that a kernel is its scheme; what the scheme does on all 2^32 accumulators is then counted without the kernel.
//!
//! Figures are numbers before they are drawings: a run puts them into the ledger, counted in closed form for the schemes of
//! its contracts. The run shows that kernels match their schemes. Page and CSV are drawn from these numbers, because
//! `reports` does not know the oracle.

mod corners;
mod heat;
mod line;
mod rates;
mod staircase;
mod tie;

use std::collections::BTreeMap;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::quantize;
use tiebreak_reports::ledger::{Against, Column, Figure, FigureKind, Ledger, Value};

/// The multiplier at which rates and lines are counted: normalised, odd, of no special form.
const MULTIPLIER: i32 = 1_395_864_371;
/// Pieces of a scheme that are counted: more of them come from left shifts that wrap very often.
const MOST_PIECES: usize = 1 << 10;
const FPM: &str = "fpm";
const QUANTIZE: &str = "quantize";

/// The figures of a run: of the schemes that its contracts name, and of the reference that it counted against.
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

/// The schemes of the rows of an operation, each once, in their order.
fn labels<'a>(ledger: &'a Ledger, op: &str, against: Against) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    for row in ledger.rows.iter().filter(|row| row.op == op && row.against == against) {
        if !labels.contains(&row.scheme.as_str()) {
            labels.push(&row.scheme);
        }
    }
    labels
}

/// Tables of several schemes: those of one table stand together, and the first of them for all.
#[derive(Debug, Default)]
struct Grouped {
    groups: Vec<(Vec<String>, Vec<Vec<Value>>)>,
}

impl Grouped {
    /// The rows of one scheme, without its name.
    fn add(&mut self, label: String, rows: Vec<Vec<Value>>) {
        match self.groups.iter_mut().find(|(_, known)| *known == rows) {
            Some((labels, _)) => labels.push(label),
            None => self.groups.push((vec![label], rows)),
        }
    }

    /// Rows that begin with the scheme, and which schemes stand for which others; `None` where no scheme has rows.
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

/// A figure without rows.
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

/// A count of accumulators, which are 2^32 at most.
fn value(count: u64) -> Value {
    i64::try_from(count).map_or_else(|_| Value::Text(count.to_string()), Value::Integer)
}

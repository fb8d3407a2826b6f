//! Figure of exact values and results near ties, where rounding rules differ.

use super::{FPM, empty};
use std::collections::BTreeMap;
use tiebreak_common::called;
use tiebreak_oracle::fpm::{Parameters, Scheme, exact};
use tiebreak_reports::ledger::{Column, Figure, FigureKind, Value};

/// Parameters of `x / 4`: half of the accumulators are ties, or become ties when rounded to halves first.
const MULTIPLIER: i32 = 1 << 30;
const SHIFT: i32 = -1;
const ACCUMULATORS: std::ops::RangeInclusive<i64> = -10..=10;

/// Returns the figure. Schemes with the same results share a column.
pub(super) fn figure(reference: Scheme, schemes: &[Scheme]) -> Option<Figure> {
    let p = Parameters::q31(MULTIPLIER, SHIFT);
    let mut groups: Vec<(Vec<String>, Vec<Option<i64>>)> = Vec::new();
    for scheme in [reference].iter().chain(schemes) {
        let results: Vec<Option<i64>> = ACCUMULATORS.map(|x| scheme.exact(x, &p)).collect();
        match groups.iter_mut().find(|(_, known)| *known == results) {
            Some((labels, _)) => labels.push(scheme.label()),
            None => groups.push((vec![scheme.label()], results)),
        }
    }
    let none = || Value::Text("-".to_owned());
    let row = |(i, x): (usize, i64)| {
        let results = groups.iter().map(|(_, results)| results[i].map_or_else(none, Value::from));
        [x.into(), Value::Text(exact(x, &p).to_string())].into_iter().chain(results).collect()
    };
    let figure = empty(
        FigureKind::ErrorAroundTie,
        FPM,
        "Error around ties",
        format!(
            "The exact value x * m * 2^(s-31) and the result of each scheme, at multiplier {MULTIPLIER} and shift {SHIFT}: a quarter of the accumulator. The \
             error is the result less the exact value; one rounding errs by one half at most."
        ),
        format!("{} case --x={{x}} --multiplier={MULTIPLIER} --shift={SHIFT}", called::program()),
        &[("x", "accumulator"), ("exact", "exact value, a fraction")],
    );
    let schemes = groups.iter().map(|(labels, _)| Column { name: labels[0].clone(), unit: "int32".to_owned() });
    let columns = figure.columns.iter().cloned().chain(schemes).collect();
    let same: BTreeMap<_, _> =
        groups.iter().filter(|(labels, _)| labels.len() > 1).map(|(l, _)| (l[0].clone(), l[1..].to_vec())).collect();
    let rows = ACCUMULATORS.enumerate().map(row).collect();
    (groups.len() > 1).then_some(Figure { columns, same, rows, ..figure })
}

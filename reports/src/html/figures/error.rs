//! Chart of the error (result minus exact value) against the exact value.

use super::chart::{Chart, INK, draw as chart, extent, mark, path};
use super::number;
use crate::ledger::Figure;
use crate::text;

/// Number of columns before those of the schemes: accumulator and exact value.
const OWN: usize = 2;
/// Vertical distance between the marks of two schemes with equal errors.
const APART: f64 = 0.028;

pub(super) fn draw(figure: &Figure) -> Option<Chart> {
    let schemes: Vec<String> = figure.columns.iter().skip(OWN).map(|column| column.name.clone()).collect();
    let exact = |row: &Vec<_>| row.get(1).and_then(number);
    let (lo, hi) = extent(figure.rows.iter().filter_map(exact))?;
    let errors = |i: usize| -> Vec<(f64, f64)> {
        let of_row = |row: &Vec<_>| Some((exact(row)?, number(row.get(OWN + i)?)? - exact(row)?));
        figure.rows.iter().filter_map(of_row).collect()
    };
    let all: Vec<Vec<(f64, f64)>> = (0..schemes.len()).map(errors).collect();
    let most = all.iter().flatten().map(|(_, error)| error.abs()).fold(0.5, f64::max);
    let (lo, hi) = (lo - 0.25, hi + 0.25);
    let plain = |value: &f64| format!("{value}");
    let svg = chart(
        (lo..hi, "exact value, in units of the result"),
        (-most - 0.15..most + 0.15, "result less exact value"),
        &plain,
        &|value| format!("{value:.2}"),
        |area| {
            for bound in [-0.5, 0.5] {
                path(area, vec![(lo, bound), (hi, bound)], plotters::style::Color::stroke_width(&INK, 1))?;
            }
            for (i, errors) in all.iter().enumerate() {
                let aside = (i as f64 - (schemes.len() as f64 - 1.0) / 2.0) * APART;
                let beside: Vec<(f64, f64)> = errors.iter().map(|(exact, error)| (exact + aside, *error)).collect();
                mark(area, i, &beside)?;
            }
            Some(())
        },
    )?;
    let worst = |(scheme, errors): (&String, &Vec<(f64, f64)>)| {
        let worst = errors.iter().map(|(_, error)| error.abs()).fold(0.0, f64::max);
        format!("{} errs by up to {worst}", text::scheme(scheme))
    };
    let worst: Vec<String> = schemes.iter().zip(&all).map(worst).collect();
    let alt = format!(
        "Error of each result around ties; lines mark one half, the most that one rounding errs. {}.",
        worst.join("; ")
    );
    let legend = schemes.iter().map(|scheme| text::one_line(text::scheme(scheme))).collect();
    Some(Chart { svg, alt: text::one_line(&alt), legend, numbered: false })
}

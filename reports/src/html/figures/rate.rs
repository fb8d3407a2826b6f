//! Chart of the share of differing accumulators against the shift, on a logarithmic scale.

use super::chart::{Chart, colour, draw as chart, extent, mark, path, share};
use super::{by_first, labels};
use crate::ledger::Figure;
use crate::text;
use plotters::prelude::*;

pub(super) fn draw(figure: &Figure) -> Option<Chart> {
    let series = by_first(figure, ["shift", "inputs", "differ"]);
    let rates: Vec<(String, Vec<(f64, f64)>)> = series.into_iter().map(|(label, rows)| (label, rates(&rows))).collect();
    let all = || rates.iter().flat_map(|(_, points)| points.iter().copied());
    let (first, last) = extent(all().map(|(shift, _)| shift))?;
    let (least, _) = extent(all().map(|(_, rate)| rate))?;
    let bottom = 10f64.powf(least.log10().floor());
    let power = |value: &f64| match value.log10().round() {
        0.0 => "1".to_owned(),
        power => format!("1e{power}"),
    };
    let svg = chart(
        (first - 1.0..last + 1.0, "shift, bits (positive = left)"),
        ((bottom..1.0).log_scale(), "share of accumulators"),
        &|value| format!("{value:.0}"),
        &power,
        |area| {
            for (i, (_, points)) in rates.iter().enumerate() {
                // A shift on which the schemes agree has no share, so the line ends before it.
                for run in points.chunk_by(|a, b| b.0 - a.0 <= 1.0) {
                    path(area, run.to_vec(), colour(i).mix(0.6).stroke_width(1))?;
                }
                mark(area, i, points)?;
            }
            Some(())
        },
    )?;
    let most = |(label, points): &(String, Vec<(f64, f64)>)| {
        let (shift, rate) = points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!("{}: at most {}, at shift {shift}", text::scheme(label), share(rate)))
    };
    let most: Vec<String> = rates.iter().filter_map(most).collect();
    let alt = format!("Share of accumulators that differ, by shift, on a logarithmic scale. {}.", most.join("; "));
    Some(Chart { svg, alt: text::one_line(&alt), legend: labels(&rates), numbered: false })
}

fn rates(rows: &[[f64; 3]]) -> Vec<(f64, f64)> {
    let some = rows.iter().filter(|[_, inputs, differ]| *inputs > 0.0 && *differ > 0.0 && differ <= inputs);
    let mut rates: Vec<(f64, f64)> = some.map(|[shift, inputs, differ]| (*shift, differ / inputs)).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    rates
}

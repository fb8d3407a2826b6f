//! Chart of the stored value against the float, with the decision boundaries of the schemes.

use super::by_first;
use super::chart::{Chart, GRID, colour, draw as chart, extent, mark, path};
use crate::ledger::Figure;
use crate::text;
use plotters::style::Color;
use std::collections::BTreeMap;

/// Draws one staircase for all schemes, because their boundaries are too close to distinguish. Differing steps get marks.
pub(super) fn draw(figure: &Figure) -> Option<Chart> {
    let series = by_first(figure, ["first", "below", "above"]);
    let (_, steps) = series.first()?;
    let (lo, hi) = extent(steps.iter().map(|[first, ..]| *first))?;
    let (bottom, top) = extent(steps.iter().flat_map(|[_, below, above]| [*below, *above]))?;
    let (lo, hi) = (lo - (hi - lo) * 0.06, hi + (hi - lo) * 0.06);
    let apart = apart(&series);
    let svg = chart(
        (lo..hi, "float"),
        (bottom - 1.0..top + 1.0, "stored value"),
        &|value| format!("{value:.1}"),
        &|value| format!("{value:.0}"),
        |area| {
            for [first, ..] in steps {
                path(area, vec![(*first, bottom - 1.0), (*first, top + 1.0)], GRID.stroke_width(1))?;
            }
            path(area, corners(steps, lo, hi), colour(0).stroke_width(2))?;
            mark(area, 1, &apart)
        },
    )?;
    let alt = format!(
        "Stored value against the float, a staircase of {} steps, with a vertical line at each decision boundary. At {} of them the schemes \
         change at floats that are not the same.",
        steps.len(),
        apart.len()
    );
    let legend = vec!["stored value".to_owned(), "boundary that is another float in some scheme".to_owned()];
    Some(Chart { svg, alt: text::one_line(&alt), legend, numbered: false })
}

/// Returns the line through the ends of each tread.
fn corners(steps: &[[f64; 3]], lo: f64, hi: f64) -> Vec<(f64, f64)> {
    let mut line = Vec::new();
    let mut at = lo;
    for [first, below, _] in steps {
        line.extend([(at, *below), (*first, *below)]);
        at = *first;
    }
    line.extend(steps.last().into_iter().flat_map(|[first, _, above]| [(*first, *above), (hi, *above)]));
    line
}

/// Returns the steps that two schemes take at different floats.
fn apart(series: &[(String, Vec<[f64; 3]>)]) -> Vec<(f64, f64)> {
    let mut firsts: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for [first, _, above] in series.iter().flat_map(|(_, steps)| steps) {
        let known = firsts.entry(*above as i64).or_default();
        if !known.contains(first) {
            known.push(*first);
        }
    }
    let several = firsts.into_iter().filter(|(_, known)| known.len() > 1);
    several.map(|(above, known)| (known[0], above as f64 - 0.5)).collect()
}

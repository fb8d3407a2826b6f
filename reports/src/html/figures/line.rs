//! Chart along the accumulators: for each part, the share above the reference upwards, and the share below it downwards.

use super::chart::{Chart, INK, draw as chart, extent, mark, path, share};
use super::{by_first, labels};
use crate::ledger::Figure;
use crate::text;
use plotters::style::Color;

/// Decades on each side; a single accumulator of a part is above the smallest.
const DECADES: f64 = 8.0;

/// Points of a series: the middle of each part in units of 2^31, and the share.
type Points = Vec<(f64, f64)>;

pub(super) fn draw(figure: &Figure) -> Option<Chart> {
    let series = by_first(figure, ["first", "last", "one_up", "one_down"]);
    let shares: Vec<(String, [Points; 2])> = series.into_iter().map(|(label, rows)| (label, shares(&rows))).collect();
    extent(shares.iter().flat_map(|(_, both)| both.iter().flatten()).map(|(_, share)| *share).chain([0.0]))?;
    let svg = chart(
        (-1.0..1.0, "accumulator, in units of 2^31"),
        (-DECADES..DECADES, "share: above (+), below (-)"),
        &|value| format!("{value:.2}"),
        &decade,
        |area| {
            path(area, vec![(-1.0, 0.0), (1.0, 0.0)], INK.stroke_width(1))?;
            for (i, (_, both)) in shares.iter().enumerate() {
                for points in both {
                    let placed: Vec<(f64, f64)> = points.iter().map(|(x, share)| (*x, height(*share))).collect();
                    mark(area, i, &placed)?;
                }
            }
            Some(())
        },
    )?;
    let most = |(label, [up, down]): &(String, [Points; 2])| {
        let of = |points: &Points| share(points.iter().map(|(_, share)| share.abs()).fold(0.0, f64::max));
        format!("{}: at most {} above and {} below", text::scheme(label), of(up), of(down))
    };
    let most: Vec<String> = shares.iter().map(most).collect();
    let alt = format!(
        "Where on the line of accumulators schemes are one above or one below the reference. {}.",
        most.join("; ")
    );
    Some(Chart { svg, alt: text::one_line(&alt), legend: labels(&shares), numbered: false })
}

/// Returns the height of a share, logarithmic on both sides of zero, so that rare and frequent differences are both visible.
fn height(share: f64) -> f64 {
    share.signum() * (share.abs().log10() + DECADES).clamp(0.0, DECADES)
}

/// Returns the share at a height, as a label.
fn decade(height: &f64) -> String {
    let sign = if *height < 0.0 { "-" } else { "+" };
    if height.abs() < 0.5 { "0".to_owned() } else { format!("{sign}1e{:.0}", height.abs() - DECADES) }
}

fn shares(rows: &[[f64; 4]]) -> [Points; 2] {
    let part = |[first, last, ..]: &[f64; 4]| ((first + last) / 2.0 / (1u64 << 31) as f64, last - first + 1.0);
    let whole = || rows.iter().filter(|row| part(row).1 >= 1.0 && part(row).0.abs() <= 1.0);
    let up = whole().filter(|row| row[2] > 0.0).map(|row| (part(row).0, row[2] / part(row).1));
    let down = whole().filter(|row| row[3] > 0.0).map(|row| (part(row).0, -row[3] / part(row).1));
    [up.collect(), down.collect()]
}

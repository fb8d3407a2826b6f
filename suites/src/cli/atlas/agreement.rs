//! Multipliers and shifts at which two schemes are identical.

use crate::atlas::{Atlas, Between};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use tiebreak_impls::fpm::Channel;
use tiebreak_reports::text;

/// Pairs (m, s) at which two schemes are identical, among the counted pairs.
pub(super) struct Agreement {
    /// True if the schemes are identical at every counted pair.
    pub(super) everywhere: bool,
    /// Number of pairs (m, s) at which the schemes are identical.
    pub(super) identical: usize,
    /// Number of pairs (m, s) that were counted and have an accumulator on which both schemes have a value.
    pub(super) counted: usize,
    /// Number of counted pairs (m, s) without an accumulator on which both schemes have a value.
    pub(super) apart: usize,
    /// Number of pairs (m, s) that were not counted.
    pub(super) not_counted: usize,
    /// Shifts at which every counted multiplier gives identical results.
    pub(super) shifts: Vec<RangeInclusive<i32>>,
    /// Multipliers that give identical results at every counted shift. Empty if there are fewer than two counted pairs for each multiplier.
    pub(super) multipliers: Vec<i32>,
}

/// Summarizes the counts of two schemes.
pub(super) fn agreement(atlas: &Atlas, between: &Between) -> Agreement {
    let counted: Vec<(Channel, bool)> = atlas
        .channels
        .iter()
        .zip(&between.cells)
        .filter_map(|(channel, cell)| Some((*channel, cell.filter(|c| c.inputs > 0)?.differ == 0)))
        .collect();
    let identical = counted.iter().filter(|(_, same)| *same).count();
    let without = |all: BTreeSet<i32>, of: &dyn Fn(&Channel) -> i32| {
        let apart: BTreeSet<i32> = counted.iter().filter(|(_, same)| !same).map(|(c, _)| of(c)).collect();
        all.difference(&apart).copied().collect::<Vec<i32>>()
    };
    let shift = |c: &Channel| c.shift;
    let multiplier = |c: &Channel| c.multiplier;
    let shifts = without(counted.iter().map(|(c, _)| shift(c)).collect(), &shift);
    let multipliers = without(counted.iter().map(|(c, _)| multiplier(c)).collect(), &multiplier);
    let multipliers = if 2 * atlas.multipliers() > counted.len() { Vec::new() } else { multipliers };
    Agreement {
        everywhere: identical == counted.len(),
        identical,
        counted: counted.len(),
        apart: between.cells.iter().flatten().filter(|c| c.inputs == 0).count(),
        not_counted: between.cells.iter().filter(|c| c.is_none()).count(),
        shifts: ranges(&shifts),
        multipliers,
    }
}

/// Joins adjacent values of a sorted list to ranges.
fn ranges(sorted: &[i32]) -> Vec<RangeInclusive<i32>> {
    let runs = sorted.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| run[0]..=run[run.len() - 1]).collect()
}

impl Agreement {
    /// Returns a cell of the matrix: `?`, `=`, the range of identical shifts, `.`, or the share of identical pairs.
    pub(super) fn glyph(&self) -> String {
        match &self.shifts[..] {
            _ if self.counted == 0 => "?".to_owned(),
            _ if self.everywhere => "=".to_owned(),
            [one] => format!("s {}", range(one)),
            _ if self.identical == 0 => ".".to_owned(),
            _ => percent(self.identical as f64 / self.counted as f64),
        }
    }

    /// Describes the agreement in a sentence.
    pub(super) fn described(&self) -> String {
        let counted = text::count(self.counted as u64);
        let mut parts = Vec::new();
        if self.everywhere {
            parts.push(format!("all {counted} pairs (m, s)"));
        } else {
            let shifts: Vec<String> = self.shifts.iter().map(range).collect();
            parts.push(format!("{} of {counted} pairs (m, s)", text::count(self.identical as u64)));
            parts.extend((!shifts.is_empty()).then(|| format!("every m at s {}", shifts.join(", "))));
            let few: Vec<String> = self.multipliers.iter().take(4).map(i32::to_string).collect();
            let more = if self.multipliers.len() > few.len() { ", ..." } else { "" };
            parts.extend((!few.is_empty()).then(|| format!("every s at m {}{more}", few.join(", "))));
        }
        parts.extend((self.apart > 0).then(|| format!("{} without a common value", text::count(self.apart as u64))));
        parts.extend((self.not_counted > 0).then(|| format!("{} not counted", text::count(self.not_counted as u64))));
        parts.join("; ")
    }
}

fn range(range: &RangeInclusive<i32>) -> String {
    if range.start() == range.end() { range.start().to_string() } else { format!("{}..{}", range.start(), range.end()) }
}

/// Formats a share in per cent. Small shares are rounded to one digit times a power of ten.
pub(super) fn percent(rate: f64) -> String {
    if rate >= 0.001 { format!("{:.1}%", 100.0 * rate) } else { format!("{:.0e}", rate) }
}

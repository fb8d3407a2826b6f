//! Count of differences between two schemes over a range of accumulators: in closed form, by bisection, or one by one.

use super::Nearest;
use indicatif::ProgressBar;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use tiebreak_oracle::census::{Census, Comparison, Counts};

/// Counts, the differing accumulators nearest to zero, and the method.
pub(super) struct Counted {
    pub(super) counts: Counts,
    pub(super) places: Vec<Nearest>,
    pub(super) method: &'static str,
}

/// Counts in closed form. Counts accumulators one by one if a scheme has no closed form.
pub(super) fn folded(census: &Census, most: u64) -> Counted {
    let at = |x: i64| census.values(x).map(|(left, right)| Nearest { x, left, right });
    if let Some(counts) = census.counts() {
        let nearest = census.differing().into_iter().flatten().take(counts.differ().min(most) as usize);
        return Counted { counts, places: nearest.filter_map(at).collect(), method: "closed-form" };
    }
    let swept = RangeCounts::new(census.lo..=census.hi, |xs| census.sweep(xs));
    let nearest = swept.nearest(most, |n, xs| {
        let mut all: Vec<i64> = xs.filter(|x| census.differs(*x)).collect();
        all.sort_by_key(|x| outwards(*x));
        all.truncate(n);
        all
    });
    Counted { counts: swept.counts, places: nearest.into_iter().filter_map(at).collect(), method: "sweep" }
}

/// Counts by bisection: finds the accumulators at which each result changes.
pub(super) fn stepped(comparison: &Comparison<'_>, xs: RangeInclusive<i64>, most: u64) -> Counted {
    let swept = RangeCounts::new(xs, |xs| comparison.counts(xs));
    let nearest = swept.nearest(most, |n, xs| comparison.nearest(n, xs));
    let at = |x: i64| comparison.values(x).map(|(left, right)| Nearest { x, left, right });
    Counted { counts: swept.counts, places: nearest.into_iter().filter_map(at).collect(), method: "bisection" }
}

/// Accumulators in a thread's chunk.
const CHUNK: i64 = 1 << 20;

/// Counts of a range, collected by chunks.
struct RangeCounts {
    counts: Counts,
    /// Chunks with differing accumulators.
    differing: Vec<RangeInclusive<i64>>,
}

/// Sort key of accumulators from zero outwards. At equal distance, the positive accumulator is first.
fn outwards(x: i64) -> (i64, bool) {
    (x.abs(), x < 0)
}

impl RangeCounts {
    /// Counts the chunks on all cores. This can take some seconds, so a terminal shows the progress.
    fn new(xs: RangeInclusive<i64>, counts: impl Fn(RangeInclusive<i64>) -> Counts + Sync) -> Self {
        let (lo, hi) = (*xs.start(), *xs.end());
        let chunks = (hi - lo) / CHUNK + 1;
        let progress = ProgressBar::new(chunks as u64);
        let chunk = |i: i64| {
            let first = lo + i * CHUNK;
            let xs = first..=hi.min(first + CHUNK - 1);
            let counts = counts(xs.clone());
            progress.inc(1);
            Self { counts, differing: if counts.differ() > 0 { vec![xs] } else { Vec::new() } }
        };
        let none = || Self { counts: Counts::default(), differing: Vec::new() };
        let both = |mut all: Self, other: Self| {
            all.counts.add(&other.counts, 1);
            all.differing.extend(other.differing);
            all
        };
        let all = (0..chunks).into_par_iter().map(chunk).reduce(none, both);
        progress.finish_and_clear();
        all
    }

    /// Returns at most `most` differing accumulators, nearest to zero first. `of_chunk` finds the accumulators of one chunk.
    fn nearest(&self, most: u64, of_chunk: impl Fn(usize, RangeInclusive<i64>) -> Vec<i64>) -> Vec<i64> {
        let n = self.counts.differ().min(most) as usize;
        let nearest = |xs: &RangeInclusive<i64>| 0.clamp(*xs.start(), *xs.end()).abs();
        let mut chunks = self.differing.clone();
        chunks.sort_by_key(nearest);
        let mut found: Vec<i64> = Vec::new();
        for xs in chunks {
            if found.len() == n && found.last().is_none_or(|last| last.abs() < nearest(&xs)) {
                break;
            }
            found.extend(of_chunk(n, xs));
            found.sort_by_key(|x| outwards(*x));
            found.truncate(n);
        }
        found
    }
}

//! Two schemes counted over a range of accumulators: in closed form, by the places where results change, or one by one.

use super::Nearest;
use indicatif::ProgressBar;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use tiebreak_oracle::census::{Census, Comparison, Counts, Requantizer};

/// What was counted, the differing accumulators nearest to zero, and how it was done.
pub(super) struct Counted {
    pub(super) counts: Counts,
    pub(super) places: Vec<Nearest>,
    pub(super) method: &'static str,
}

/// In closed form, or where a scheme does not fold one by one.
pub(super) fn folded(census: &Census, most: u64) -> Counted {
    let (counts, closed) = match census.counts() {
        Some(counts) => (counts, true),
        None => (swept(census.lo..=census.hi, |xs| census.sweep(xs)), false),
    };
    let places = places(census, closed, counts.differ().min(most) as usize);
    Counted { counts, places, method: if closed { "closed-form" } else { "sweep" } }
}

/// By the places where each result changes.
pub(super) fn stepped(comparison: &Comparison<'_>, xs: RangeInclusive<i64>, most: u64) -> Counted {
    let counts = swept(xs.clone(), |xs| comparison.counts(xs));
    let nearest = comparison.nearest(counts.differ().min(most) as usize, xs);
    let at = |x: i64| comparison.values(x).map(|(left, right)| Nearest { x, left, right });
    let fixed = |side: &Requantizer| matches!(side, Requantizer::Fixed(..));
    let method = if fixed(comparison.left) && fixed(comparison.right) { "steps" } else { "bisection" };
    Counted { counts, places: nearest.into_iter().filter_map(at).collect(), method }
}

/// Accumulators that one thread counts at a time.
const CHUNK: i64 = 1 << 20;

/// Counts one chunk of accumulators after another, on all cores. This can take a minute or more, so a terminal shows the progress.
fn swept(xs: RangeInclusive<i64>, counts: impl Fn(RangeInclusive<i64>) -> Counts + Sync) -> Counts {
    let (lo, hi) = (*xs.start(), *xs.end());
    let chunks = (hi - lo) / CHUNK + 1;
    let progress = ProgressBar::new(chunks as u64);
    let chunk = |i: i64| {
        let first = lo + i * CHUNK;
        let counts = counts(first..=hi.min(first + CHUNK - 1));
        progress.inc(1);
        counts
    };
    let both = |mut sum: Counts, other: Counts| {
        sum.add(&other, 1);
        sum
    };
    let counts = (0..chunks).into_par_iter().map(chunk).reduce(Counts::default, both);
    progress.finish_and_clear();
    counts
}

/// The `n` differing accumulators nearest to zero; at least `n` must differ.
fn places(census: &Census, closed: bool, n: usize) -> Vec<Nearest> {
    let at = |x: i64| census.values(x).map(|(left, right)| Nearest { x, left, right });
    match census.differing().filter(|_| closed) {
        Some(differing) => differing.take(n).filter_map(at).collect(),
        None => {
            let furthest = census.lo.abs().max(census.hi.abs());
            let outwards = (0..=furthest).flat_map(|x| [Some(x), (x != 0).then_some(-x)]).flatten();
            let there = outwards.filter(|x| (census.lo..=census.hi).contains(x) && census.differs(*x));
            there.take(n).filter_map(at).collect()
        }
    }
}

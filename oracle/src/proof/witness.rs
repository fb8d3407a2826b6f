//! Input at which two schemes differ: the accumulator nearest to zero, over some multipliers.

use super::MOST_PIECES;
use crate::census::{Census, Counter};
use crate::fpm::{Parameters, Scheme};
use serde::Serialize;

/// Both values at one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// Accumulator.
    pub x: i64,
    /// Multiplier.
    pub m: i64,
    /// Result of the left scheme.
    pub left: i64,
    /// Result of the right scheme.
    pub right: i64,
}

/// Number of multipliers spread over the normalised range, in addition to the corners.
const TRIED: i64 = 24;

/// Finds the accumulator nearest to zero at which the two schemes differ, over the multipliers that are tried.
pub(super) fn find(left: &Scheme, right: &Scheme, at: &Parameters) -> Option<Witness> {
    let census = |m: i64| Census::of(*left, *right, Parameters { m, ..*at });
    // A left shift that wraps makes very many pieces, and its differences also occur at corners.
    let quick = |m: i64| corners(at).find(|x| census(m).differs(*x));
    if at.s > 0
        && let found @ Some(_) = nearest(at, census, quick)
    {
        return found;
    }
    let mut counter = Counter::new(MOST_PIECES);
    let in_closed_form = |m: i64| match counter.at_once(&census(m)) {
        Some(counts) if counts.differ() == 0 => None,
        Some(_) => census(m).differing().and_then(|mut all| all.next()),
        None => quick(m),
    };
    nearest(at, census, in_closed_form)
}

/// Returns the smallest input that `differs` finds over the multipliers. Stops early if the accumulator is at most 1 in magnitude.
fn nearest(
    at: &Parameters,
    census: impl Fn(i64) -> Census,
    mut differs: impl FnMut(i64) -> Option<i64>,
) -> Option<Witness> {
    let mut best: Option<Witness> = None;
    for m in multipliers(at) {
        let values = |x| census(m).values(x).map(|(left, right)| Witness { x, m, left, right });
        let found = differs(m).and_then(values);
        best = [best, found].into_iter().flatten().min_by_key(|w| (w.x.abs(), w.m.abs(), w.m < 0, w.x < 0));
        if best.is_some_and(|w| w.x.abs() <= 1) {
            break;
        }
    }
    best
}

/// Lists normalised multipliers, powers of two, both ends, and small multipliers.
fn multipliers(at: &Parameters) -> impl Iterator<Item = i64> {
    let (min, max) = (at.word.min() as i64, at.word.max() as i64);
    let half = max / 2 + 1;
    let spread = (1..=TRIED).map(move |i| half + (max - half) / TRIED * i - i % 2);
    let near = [half, half + 1, max, max - 1, min, min + 1, -half, -half - 1, 1, -1, 3, -3];
    near.into_iter().chain(spread).filter(move |m| (min..=max).contains(m))
}

/// Lists the accumulators that are tried if a scheme does not fold.
fn corners(at: &Parameters) -> impl Iterator<Item = i64> {
    let (min, max, bits) = (at.word.min() as i64, at.word.max() as i64, at.word.bits);
    let powers = (0..bits - 1).flat_map(|bit| [0i64, -1, 1].map(|by| (1i64 << bit) + by));
    std::iter::once(0).chain(powers.flat_map(|x| [x, -x])).chain([min, max]).filter(move |x| (min..=max).contains(x))
}

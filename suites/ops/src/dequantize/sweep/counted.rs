//! Counts of the differing results in a sweep of stored values.

use tiebreak_common::Class;
use tiebreak_engine::count::{Counted, FAR};
use tiebreak_oracle::float::Format;

/// Upper bound on differing inputs that are kept for the check by big rationals.
pub(super) const KEPT: usize = 4096;
/// Smallest difference, in units of the last place, that is counted as far.
const NEAR: i64 = 64;

/// Differing result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) stored: i64,
    pub(super) got: u64,
    pub(super) expected: u64,
    pub(super) class: Option<Class>,
}

/// Returns the rank of a stored value: nearest to zero first, positive before negative.
fn rank(stored: i64) -> (u64, bool) {
    (stored.unsigned_abs(), stored < 0)
}

/// Differences on one side of the comparison, with the differing result of the least rank. Deltas are in units of the last place.
pub(super) type Side = Counted<(u64, bool), Seen>;

/// Judges one result. An expected NaN counts as out of domain, because no contract promises the NaN's pattern.
pub(super) fn judge(
    side: &mut Side,
    format: Format,
    stored: i64,
    got: u64,
    expected: u64,
    due: impl FnOnce() -> Option<Class>,
) {
    if expected & (format.sign() - 1) > format.infinity() {
        side.count.out_of_domain += 1;
        return;
    }
    side.count.inputs += 1;
    if got == expected {
        return;
    }
    let class = due();
    let delta = format.key(got).zip(format.key(expected)).map(|(got, expected)| got - expected);
    let delta = delta.filter(|delta| delta.abs() <= NEAR).unwrap_or(FAR);
    side.differs((rank(stored), Seen { stored, got, expected, class }), delta, class);
}

/// Stored values on which two schemes differ.
#[derive(Clone, Default)]
pub(super) struct Step {
    pub(super) differ: u64,
    pub(super) smallest: Option<i64>,
    seen: Vec<i64>,
    sparse: u32,
}

impl Step {
    /// Compares the results of consecutive stored values, starting at `first`.
    pub(super) fn compare(&mut self, first: i64, from: &[u64], to: &[u64]) {
        for ((stored, from), to) in (first..).zip(from).zip(to) {
            if from != to {
                if self.smallest.is_none_or(|known| rank(stored) < rank(known)) {
                    self.smallest = Some(stored);
                }
                self.keep(stored);
                self.differ += 1;
            }
        }
    }

    /// Keeps one of every `2^sparse` differing stored values.
    fn keep(&mut self, stored: i64) {
        if self.differ.trailing_zeros() >= self.sparse {
            self.seen.push(stored);
        }
        if self.seen.len() > KEPT {
            self.seen = self.seen.iter().copied().step_by(2).collect();
            self.sparse += 1;
        }
    }

    /// Returns the kept stored values: all differing values, or an evenly spread selection.
    pub(super) fn seen(&self) -> &[i64] {
        &self.seen
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.differ += other.differ;
        if let Some(stored) = other.smallest
            && self.smallest.is_none_or(|known| rank(stored) < rank(known))
        {
            self.smallest = Some(stored);
        }
        self.seen.extend(other.seen);
    }

    /// Reduces the kept values to at most [`KEPT`], spread over all of them.
    pub(super) fn thin(&mut self) {
        let every = self.seen.len().div_ceil(KEPT).max(1);
        self.seen = self.seen.iter().copied().step_by(every).collect();
    }
}

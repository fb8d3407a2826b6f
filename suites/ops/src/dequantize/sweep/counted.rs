//! What differs in a sweep of stored values, counted.

use tiebreak_common::class::Class;
use tiebreak_engine::count::{Count, FAR};
use tiebreak_oracle::float::Format;

/// Differing inputs kept for big rationals: all of them where they are no more.
pub(super) const KEPT: usize = 4096;
/// Units of the last place from which on a difference is counted as far.
const NEAR: i64 = 64;

/// A result that differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) stored: i64,
    pub(super) got: u64,
    pub(super) expected: u64,
    pub(super) class: Option<Class>,
}

/// Nearest to zero first, the positive one of two.
fn rank(stored: i64) -> (u64, bool) {
    (stored.unsigned_abs(), stored < 0)
}

/// What differs on one side.
#[derive(Clone, Default)]
pub(super) struct Counted {
    /// Deltas are units of the last place.
    pub(super) count: Count,
    pub(super) smallest: Option<Seen>,
}

impl Counted {
    /// One result. Which NaN a scheme gives is nobody's promise.
    pub(super) fn judge(
        &mut self,
        format: Format,
        stored: i64,
        got: u64,
        expected: u64,
        due: impl FnOnce() -> Option<Class>,
    ) {
        if expected & (format.sign() - 1) > format.infinity() {
            self.count.out_of_domain += 1;
            return;
        }
        self.count.inputs += 1;
        if got == expected {
            return;
        }
        let class = due();
        let delta = format.key(got).zip(format.key(expected)).map(|(got, expected)| got - expected);
        self.count.differs(delta.filter(|delta| delta.abs() <= NEAR).unwrap_or(FAR), class, 1);
        self.offer(Seen { stored, got, expected, class });
    }

    fn offer(&mut self, seen: Seen) {
        if self.smallest.is_none_or(|known| rank(seen.stored) < rank(known.stored)) {
            self.smallest = Some(seen);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        other.smallest.into_iter().for_each(|seen| self.offer(seen));
    }
}

/// Where two schemes differ.
#[derive(Clone, Default)]
pub(super) struct Step {
    pub(super) differ: u64,
    pub(super) smallest: Option<i64>,
    seen: Vec<i64>,
    sparse: u32,
}

impl Step {
    /// Results of consecutive stored values from `first` on.
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

    /// Keeps one of each `2^sparse` that differ.
    fn keep(&mut self, stored: i64) {
        if self.differ.trailing_zeros() >= self.sparse {
            self.seen.push(stored);
        }
        if self.seen.len() > KEPT {
            self.seen = self.seen.iter().copied().step_by(2).collect();
            self.sparse += 1;
        }
    }

    /// All that were kept, or so many of them, spread.
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

    /// Keeps no more than [`KEPT`], spread over all that were seen.
    pub(super) fn thin(&mut self) {
        let every = self.seen.len().div_ceil(KEPT).max(1);
        self.seen = self.seen.iter().copied().step_by(every).collect();
    }
}

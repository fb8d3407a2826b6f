//! Counts of the differing results in a sweep: by constant runs, or one by one.

use tiebreak_common::Class;
use tiebreak_engine::count::{Count, FAR};
use tiebreak_oracle::quantize::Quantization;

/// Differences on one side of the comparison.
#[derive(Clone, Default)]
pub(super) struct Counted {
    pub(super) count: Count,
    /// Smallest differing pattern, its observed result, and its expected result.
    pub(super) smallest: Option<(u64, i32, i64)>,
}

/// Cause of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DifferenceCause {
    /// A known fault, which is not counted as a difference on this side.
    Excused,
    /// A class, if known.
    To(Option<Class>),
}

impl Counted {
    fn offer(&mut self, seen: (u64, i32, i64), q: Quantization) {
        let rank = |bits: u64| (bits & (q.format.sign() - 1), bits & q.format.sign());
        if self.smallest.is_none_or(|known| rank(seen.0) < rank(known.0)) {
            self.smallest = Some(seen);
        }
    }

    /// Counts a run of results that are all `got`.
    pub(super) fn whole(
        &mut self,
        (from, len): (u64, u64),
        got: i64,
        expected: i64,
        class: Option<Class>,
        q: Quantization,
    ) {
        self.count.differs(got - expected, class, len);
        self.offer((from, got as i32, expected), q);
    }

    /// Counts results one by one. `due` returns the cause of a difference by the result's index.
    #[cold]
    pub(super) fn count(
        &mut self,
        from: u64,
        outs: &[i32],
        expected: i64,
        due: impl Fn(usize) -> DifferenceCause,
        q: Quantization,
    ) {
        for (i, out) in outs.iter().enumerate().filter(|(_, out)| **out != expected as i32) {
            let DifferenceCause::To(class) = due(i) else { continue };
            self.count.differs(i64::from(*out) - i64::from(expected as i32), class, 1);
            self.offer((from + i as u64, *out, expected), q);
        }
    }

    /// Counts the results of an undefined conversion; the size of their differences has no meaning.
    pub(super) fn poison(&mut self, from: u64, outs: &[i32], expected: i64, q: Quantization) {
        let differ = outs.iter().map(|out| u64::from(*out != expected as i32)).sum();
        if differ == 0 {
            return;
        }
        self.count.differs(FAR, Some(Class::Poison), differ);
        if self.smallest.is_none()
            && let Some(i) = outs.iter().position(|out| *out != expected as i32)
        {
            self.offer((from + i as u64, outs[i], expected), q);
        }
    }

    pub(super) fn merge(&mut self, other: Self, q: Quantization) {
        self.count.merge(other.count);
        if let Some(seen) = other.smallest {
            self.offer(seen, q);
        }
    }
}

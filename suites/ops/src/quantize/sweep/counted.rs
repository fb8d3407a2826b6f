//! Counts of the differing results in a sweep: by constant runs, or one by one.

use tiebreak_common::Class;
use tiebreak_engine::count::{Counted, FAR};
use tiebreak_oracle::quantize::Quantization;

/// Differences on one side of the comparison, with the smallest differing pattern, its observed result, and its expected result. The rank of a
/// pattern is its magnitude, then its sign.
pub(super) type Side = Counted<(u64, u64), (u64, i32, i64)>;

/// Cause of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DifferenceCause {
    /// A known fault, which is not counted as a difference on this side.
    Excused,
    /// A class, if known.
    To(Option<Class>),
}

/// Returns a result with the rank of its pattern.
fn ranked(bits: u64, got: i32, expected: i64, q: Quantization) -> ((u64, u64), (u64, i32, i64)) {
    ((bits & (q.format.sign() - 1), bits & q.format.sign()), (bits, got, expected))
}

/// Counts a run of results that are all `got`.
pub(super) fn whole(
    side: &mut Side,
    (from, len): (u64, u64),
    got: i64,
    expected: i64,
    class: Option<Class>,
    q: Quantization,
) {
    side.count.differs(got - expected, class, len);
    side.offer(ranked(from, got as i32, expected, q));
}

/// Counts results one by one. `due` returns the cause of a difference by the result's index.
#[cold]
pub(super) fn one_by_one(
    side: &mut Side,
    from: u64,
    outs: &[i32],
    expected: i64,
    due: impl Fn(usize) -> DifferenceCause,
    q: Quantization,
) {
    for (i, out) in outs.iter().enumerate().filter(|(_, out)| **out != expected as i32) {
        let DifferenceCause::To(class) = due(i) else { continue };
        let delta = i64::from(*out) - i64::from(expected as i32);
        side.differs(ranked(from + i as u64, *out, expected, q), delta, class);
    }
}

/// Counts the results of an undefined conversion; the size of their differences has no meaning.
pub(super) fn poison(side: &mut Side, from: u64, outs: &[i32], expected: i64, q: Quantization) {
    let differ = outs.iter().map(|out| u64::from(*out != expected as i32)).sum();
    if differ == 0 {
        return;
    }
    side.count.differs(FAR, Some(Class::Poison), differ);
    if side.least.is_none()
        && let Some(i) = outs.iter().position(|out| *out != expected as i32)
    {
        side.offer(ranked(from + i as u64, outs[i], expected, q));
    }
}

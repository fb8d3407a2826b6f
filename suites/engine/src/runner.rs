//! A kernel that is asked in a lane. A batch that fails is narrowed down to an input that fails alone, tried again where there is none, and after a few
//! failures nothing more is asked: whatever the operation is, and whether its inputs are sampled or swept.

use crate::lane::{Failure, Lane, Lease, Order};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A kernel that failed to answer this often in a lane is not asked again.
const MOST_FAILURES: usize = 3;

/// One kernel in one lane, with the number of times it failed to answer.
pub struct Runner<'a> {
    /// Where it runs.
    pub lane: &'a Lane,
    failures: AtomicUsize,
}

/// A batch that gave no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBatch<W> {
    /// What happened.
    pub failure: Failure,
    /// The input that makes it happen again, if one does.
    pub witness: Option<W>,
    /// What was running.
    pub during: String,
}

impl<W> FailedBatch<W> {
    /// With its witness in another form.
    pub fn map<V>(self, witness: impl FnOnce(W) -> V) -> FailedBatch<V> {
        FailedBatch { failure: self.failure, witness: self.witness.map(witness), during: self.during }
    }
}

/// What came of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<W> {
    /// Results.
    Given,
    /// Results, at the second attempt: what failed once did not happen again.
    GivenAgain(FailedBatch<W>),
    /// It fails whenever it runs.
    Failed(FailedBatch<W>),
    /// The kernel has failed too often, so that the batch did not run.
    GivenUp,
}

impl<'a> Runner<'a> {
    /// A kernel that has not failed yet.
    pub fn new(lane: &'a Lane) -> Self {
        Self { lane, failures: AtomicUsize::new(0) }
    }

    /// Whether it has failed to answer too often to be asked again.
    pub fn has_given_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES
    }

    /// Counts one failure to answer.
    pub fn note_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs a batch. Where it fails, `narrow` looks for an input that fails again by itself; `during` says what was running.
    pub fn run<W>(
        &self,
        lease: &mut Lease<'_>,
        order: &Order<'_>,
        out: &mut Vec<i32>,
        narrow: impl FnOnce(&Failure) -> Option<W>,
        during: impl FnOnce() -> String,
    ) -> Answer<W> {
        if self.has_given_up() {
            return Answer::GivenUp;
        }
        let Err(failure) = lease.run(order, out) else { return Answer::Given };
        self.note_failure();
        let witness = narrow(&failure);
        let failed = FailedBatch { failure, witness, during: during() };
        // What does not happen again is still a finding, but costs no coverage.
        if failed.witness.is_none() && lease.run(order, out).is_ok() {
            Answer::GivenAgain(failed)
        } else {
            Answer::Failed(failed)
        }
    }

    /// Sessions that are given up quickly, for narrowing a failure down.
    pub fn impatient(&self) -> Lease<'a> {
        Lease::impatient(self.lane)
    }
}

/// Whether a batch fails.
pub fn fails(lease: &mut Lease<'_>, order: &Order<'_>) -> bool {
    lease.run(order, &mut Vec::new()).is_err()
}

/// The first of `len` elements that alone makes a batch fail again, found by halving; none when the whole does not fail again, or an element needs company.
/// Halves start at a multiple of `group`, so that every element keeps its channel.
pub fn isolate(len: usize, group: usize, mut fails: impl FnMut(Range<usize>) -> bool) -> Option<usize> {
    let mut range = 0..len;
    if range.is_empty() || !fails(range.clone()) {
        return None;
    }
    while range.len() > group {
        let middle = range.start + (range.len() / 2).next_multiple_of(group);
        let (left, right) = (range.start..middle, middle..range.end);
        range = if fails(left.clone()) {
            left
        } else if right.is_empty() || !fails(right.clone()) {
            return None;
        } else {
            right
        };
    }
    Some(range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_that_fails_alone_is_found() {
        for len in 1..70 {
            for culprit in 0..len {
                assert_eq!(isolate(len, 1, |range| range.contains(&culprit)), Some(culprit));
                let group = isolate(len, 5, |range| range.contains(&culprit)).expect("it fails");
                assert!((group..group + 5).contains(&culprit), "{len} {culprit} {group}");
            }
        }
        assert_eq!(isolate(8, 1, |_| false), None);
        assert_eq!(isolate(8, 1, |range| range.len() > 3), None);
    }
}

//! A kernel that is asked in a lane. A batch that fails is narrowed down to an input that fails alone, tried again where there is none, and after a few
//! failures nothing more is asked: whatever the operation is, and whether its inputs are sampled or swept.
//!
//! One function asks kernels, for every operation. A sweep is narrowed by halving, a case by its results and then by
//! smaller shapes. A failure that does not occur again is still a finding, but costs no coverage. `sweep.rs` is the one
//! driver of sweeps: two blocks in flight, lost blocks run again one at a time.

use crate::lane::{Failure, Lane, Lease, Order};
use std::collections::VecDeque;
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

impl<'a> Runner<'a> {
    /// A kernel that has not failed yet.
    pub fn new(lane: &'a Lane) -> Self {
        Self { lane, failures: AtomicUsize::new(0) }
    }

    /// Whether it has failed to answer too often to be asked again, or its lane has been waited for too long.
    pub fn has_given_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES || self.lane.exhausted().is_some()
    }

    /// Counts one failure to answer.
    pub fn note_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// After a batch has failed once: `narrow` looks for an input that fails again by itself, and without one the batch is run again; `during` says what was
    /// running. Gives the finding, and whether there are results after all: what does not happen again is still a finding, but costs no coverage.
    pub fn again<W>(
        &self,
        failure: Failure,
        narrow: impl FnOnce(&Failure) -> Option<W>,
        during: impl FnOnce() -> String,
        run: impl FnOnce() -> Result<(), Failure>,
    ) -> (FailedBatch<W>, bool) {
        self.note_failure();
        let witness = narrow(&failure);
        let failed = FailedBatch { failure, witness, during: during() };
        let given = failed.witness.is_none() && run().is_ok();
        (failed, given)
    }

    /// Sessions that are given up quickly, for narrowing a failure down.
    pub fn impatient(&self) -> Lease<'a> {
        Lease::impatient(self.lane)
    }
}

/// Batches that are handed over before the results of earlier ones are taken, so that a worker does not wait for the harness between two.
pub struct Ahead<'a, T> {
    /// Where they run. Whoever runs a batch here on its own does so when nothing waits.
    pub lease: Lease<'a>,
    most: usize,
    waiting: VecDeque<(T, Result<(), Failure>)>,
}

impl<'a, T> Ahead<'a, T> {
    /// At most so many batches at once.
    pub fn new(lease: Lease<'a>, most: usize) -> Self {
        Self { lease, most, waiting: VecDeque::new() }
    }

    /// What came of the oldest batch, after `hand_over` has submitted as many as may wait; none when it has no more. After a failure whoever asks takes what
    /// was [`lost`](Self::lost).
    pub fn next(
        &mut self,
        mut hand_over: impl FnMut(&mut Lease<'a>) -> Option<(T, Result<(), Failure>)>,
        out: &mut Vec<i32>,
    ) -> Option<(T, Result<(), Failure>)> {
        // Several at once, when half of them have been answered: each one handed over by itself would wake the worker by itself.
        let most = if self.waiting.len() <= self.most / 2 { self.most } else { 0 };
        while self.waiting.len() < most {
            let Some((batch, submitted)) = hand_over(&mut self.lease) else { break };
            let failed = submitted.is_err();
            self.waiting.push_back((batch, submitted));
            if failed {
                // The next one would start another session, whose answers are not those waited for.
                break;
            }
        }
        let (batch, submitted) = self.waiting.pop_front()?;
        Some((batch, submitted.and_then(|()| self.lease.collect(out))))
    }

    /// The batches that went down with the session that failed, in their order.
    pub fn lost(&mut self) -> Vec<T> {
        self.waiting.drain(..).map(|(batch, _)| batch).collect()
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

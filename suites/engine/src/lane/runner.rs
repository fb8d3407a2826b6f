//! Runs of a kernel in a lane, for every operation, sampled or swept. A failing batch is narrowed down to an input that fails alone; without such an
//! input the batch runs again. After a few failures the kernel is sent no more jobs.
//!
//! One function runs kernels, for every operation. A sweep is narrowed by halving, a case by its results and then by smaller shapes. A failure that
//! does not recur is still a finding, but costs no coverage. `sweep.rs` is the one driver of sweeps: two blocks in flight, lost blocks run again one
//! at a time.

use crate::lane::{Failure, Lane, Lease, Order};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of failures after which a kernel runs no more in a lane.
const MOST_FAILURES: usize = 3;

/// Kernel in a lane, with the number of failures.
pub struct Runner<'a> {
    /// Lane of the kernel.
    pub lane: &'a Lane,
    failures: AtomicUsize,
}

/// Batch without an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBatch<W> {
    /// Failure of the batch.
    pub failure: Failure,
    /// Input that reproduces the failure, if any.
    pub witness: Option<W>,
    /// Description of the batch.
    pub during: String,
}

impl<W> FailedBatch<W> {
    /// Converts the witness.
    pub fn map<V>(self, witness: impl FnOnce(W) -> V) -> FailedBatch<V> {
        FailedBatch { failure: self.failure, witness: self.witness.map(witness), during: self.during }
    }
}

impl<'a> Runner<'a> {
    /// Creates a runner without failures.
    pub fn new(lane: &'a Lane) -> Self {
        Self { lane, failures: AtomicUsize::new(0) }
    }

    /// True if the kernel failed too often, or the timeouts of the lane exceed the limit.
    pub fn has_given_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES || self.lane.exhausted().is_some()
    }

    /// Counts a failure.
    pub fn note_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Handles a batch that failed once. `narrow` searches an input that fails alone; without such an input the batch runs again. `during` describes
    /// the batch. Returns the failed batch, and true if there are results after all. A failure that does not recur is a finding, but costs no
    /// coverage.
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

    /// Leases a session with a short patience, for narrowing down a failure.
    pub fn impatient(&self) -> Lease<'a> {
        Lease::impatient(self.lane)
    }
}

/// Batches handed over before the results of earlier batches are taken, so that a worker does not wait for the harness.
pub struct InFlight<'a, T> {
    /// Session of the batches. A separate batch may run here only if no batch waits.
    pub lease: Lease<'a>,
    most: usize,
    waiting: VecDeque<(T, Result<(), Failure>)>,
}

impl<'a, T> InFlight<'a, T> {
    /// Creates a queue of at most `most` batches.
    pub fn new(lease: Lease<'a>, most: usize) -> Self {
        Self { lease, most, waiting: VecDeque::new() }
    }

    /// Returns the outcome of the oldest batch, after `hand_over` has submitted as many batches as may wait; `None` without further batches. After a
    /// failure the caller takes the [`lost`](Self::lost) batches.
    pub fn next(
        &mut self,
        mut hand_over: impl FnMut(&mut Lease<'a>) -> Option<(T, Result<(), Failure>)>,
        out: &mut Vec<i32>,
    ) -> Option<(T, Result<(), Failure>)> {
        // Batches are handed over in groups, when half of them have been answered, because each hand-over wakes the worker.
        let most = if self.waiting.len() <= self.most / 2 { self.most } else { 0 };
        while self.waiting.len() < most {
            let Some((batch, submitted)) = hand_over(&mut self.lease) else { break };
            let failed = submitted.is_err();
            self.waiting.push_back((batch, submitted));
            if failed {
                // A further batch would start another session, whose answers would not be read.
                break;
            }
        }
        let (batch, submitted) = self.waiting.pop_front()?;
        Some((batch, submitted.and_then(|()| self.lease.collect(out))))
    }

    /// Returns the batches lost with the failed session, in order.
    pub fn lost(&mut self) -> Vec<T> {
        self.waiting.drain(..).map(|(batch, _)| batch).collect()
    }
}

/// True if a batch fails.
pub fn fails(lease: &mut Lease<'_>, order: &Order<'_>) -> bool {
    lease.run(order, &mut Vec::new()).is_err()
}

/// Returns the first of `len` elements that alone makes a batch fail again, found by halving. `None` if the whole batch does not fail again, or no
/// single element fails alone. Halves start at a multiple of `group`, so that every element keeps its channel.
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

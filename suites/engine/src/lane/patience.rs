//! Rule for workers that hang.
//!
//! The rule: a worker is hung when its silence has lasted longer than its patience. Silence is time in which the harness waits for it and fewer than
//! [`LEAST`] bytes move through its pipes, in both directions together. The patience is the lane's (`patience_seconds`, usually 20) for up to
//! [`STEP`] operations in flight, and as much again for each further [`STEP`]: an element read or written is an operation, and so is a
//! multiply-accumulate of a matrix product or convolution.
//!
//! Not all time counts on Linux, which shows the activity of a worker (on other systems the first two exceptions do not apply):
//! - while a process of the worker is stopped: no time, for up to [`STOPPED`];
//! - while a process waits for a processor: the processor time used, but at least a [`STARVED`]th;
//! - while this program itself did not run (stopped, asleep, or short of a processor): no more than two ticks, on any system.
//!
//! A worker in an endless loop is therefore found as soon as a worker that sleeps for ever, and neither a pause nor a busy machine is a hang.
//!
//! Workers time out on silence, not on total time, because a large batch may take long. CPU time alone does not count as progress; otherwise an
//! infinite loop would never time out.
//!
//! Every wait is bounded: a kernel is given up after three failures, a witness after 20 seconds or two timeouts. A lane is given up after two minutes
//! of timeouts summed over all threads, raised to 6 patiences or lowered to 24. Cases that were not run are counted as given up, and the lane has a
//! finding.

use super::group::{Activity, Group};
use super::{Input, Order};
use std::time::{Duration, Instant};

/// Number of operations for one patience: about a million a second at the default patience, which an interpreter reaches.
const STEP: u64 = 1 << 24;
/// Number of bytes that end a silence, so that single bytes do not keep a worker alive for ever.
const LEAST: usize = 1 << 10;
/// Longest wait for a stopped worker.
const STOPPED: Duration = Duration::from_secs(3600);
/// Divisor of time: at least this fraction counts while a worker waits for a processor.
const STARVED: u32 = 16;

/// Bounds of the interval between two checks of a silent worker, which is a twentieth of the patience.
const TICKS: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(500)];

/// Returns the longest silence for a number of operations.
pub(super) fn limit(patience: Duration, operations: u64) -> Duration {
    patience.saturating_mul(u32::try_from(operations / STEP).unwrap_or(u32::MAX).saturating_add(1))
}

/// Returns the number of operations of a batch.
pub(super) fn operations(order: &Order<'_>) -> u64 {
    let results = order.results();
    let read = match order.input {
        Input::Values { values, .. } => values.len(),
        Input::Range { len, .. } => len,
    };
    order.products.saturating_add(read as u64).saturating_add(results as u64)
}

/// Silence of a worker.
pub(super) struct Silence {
    limit: Duration,
    tick: Duration,
    /// Time of the last check.
    seen: Instant,
    bytes: usize,
    used: Option<Duration>,
    counted: Duration,
    stopped: Duration,
    /// True if the started process had ended at the last check.
    left: bool,
}

impl Silence {
    pub(super) fn new(limit: Duration) -> Self {
        let tick = (limit / 20).clamp(TICKS[0], TICKS[1]);
        let zero = Duration::ZERO;
        Self { limit, tick, seen: Instant::now(), bytes: 0, used: None, counted: zero, stopped: zero, left: false }
    }

    /// Returns the longest silence.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns the interval between two calls of [`Self::is_over`].
    pub(super) fn tick(&self) -> Duration {
        self.tick
    }

    /// Counts bytes that moved.
    pub(super) fn moved(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= LEAST {
            *self = Self::new(self.limit);
        }
    }

    /// True if the started process had ended at the previous call in the same silence, so that all output is read by now.
    pub(super) fn is_left(&mut self, group: &Group) -> bool {
        std::mem::replace(&mut self.left, group.has_ended())
    }

    /// Counts the time since the last call; true if the silence was too long.
    pub(super) fn is_over(&mut self, group: &Group) -> bool {
        let elapsed = self.seen.elapsed().min(2 * self.tick);
        self.seen = Instant::now();
        self.count(elapsed, group.activity())
    }

    fn count(&mut self, elapsed: Duration, activity: Option<Activity>) -> bool {
        let before = self.used;
        self.used = activity.map(|activity| activity.used);
        match (activity, before) {
            (Some(Activity { stopped: true, .. }), _) => self.stopped += elapsed,
            (Some(Activity { runnable: true, used, .. }), Some(before)) => {
                self.counted += used.saturating_sub(before).clamp(elapsed / STARVED, elapsed);
            }
            _ => self.counted += elapsed,
        }
        self.counted > self.limit || self.stopped > STOPPED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(used: u64, runnable: bool, stopped: bool) -> Option<Activity> {
        Some(Activity { used: Duration::from_secs(used), runnable, stopped })
    }

    /// Returns the seconds until the silence is over, for an activity by second.
    fn found(limit: u64, activity: impl Fn(u64) -> Option<Activity>) -> Option<u64> {
        let mut silence = Silence::new(Duration::from_secs(limit));
        (1..100_000).find(|second| silence.count(SECOND, activity(*second)))
    }

    #[test]
    fn one_that_spins_is_found_as_soon_as_one_that_sleeps() {
        assert_eq!(found(20, |second| at(second, true, false)), Some(21));
        assert_eq!(found(20, |_| at(0, false, false)), Some(21));
        assert_eq!(found(20, |_| None), Some(21));
    }

    #[test]
    fn one_that_wakes_up_now_and_then_is_found() {
        assert_eq!(found(20, |second| at(second / 10, false, false)), Some(21));
    }

    #[test]
    fn one_that_drips_is_found_and_one_that_flows_is_not() {
        let dripping = |bytes: usize| {
            let mut silence = Silence::new(20 * SECOND);
            (1..10_000).find(|_| {
                silence.moved(bytes);
                silence.count(SECOND, at(0, false, false))
            })
        };
        assert_eq!(dripping(1), Some(21));
        assert_eq!(dripping(LEAST / 10), None);
    }

    #[test]
    fn one_that_is_given_no_processor_is_found_late() {
        // A quarter of a processor: four times as long. No processor time: sixteen times.
        assert!(found(20, |second| at(second / 4, true, false)).is_some_and(|second| (60..=84).contains(&second)));
        assert!(found(20, |_| at(0, true, false)).is_some_and(|second| (300..=340).contains(&second)));
    }

    #[test]
    fn one_that_is_stopped_is_waited_for_an_hour() {
        assert_eq!(found(20, |_| at(0, false, true)), Some(3601));
    }

    #[test]
    fn patience_grows_with_the_work_and_has_no_end() {
        let usual = 20 * SECOND;
        assert_eq!(limit(usual, 0), usual);
        assert_eq!(limit(usual, STEP), 2 * usual);
        assert_eq!(limit(usual, u64::MAX), usual.saturating_mul(u32::MAX));
        assert_eq!(limit(Duration::MAX, u64::MAX), Duration::MAX);
    }
}

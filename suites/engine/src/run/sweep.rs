//! Sweeps over all inputs of one kind, in blocks of consecutive inputs. Two blocks are in flight, so the lane computes one while the other is judged.
//! The blocks of a lost session run again one at a time, and halving finds the input that ends the session.

use crate::lane::runner::{FailedBatch, InFlight, Runner, fails, isolate};
use crate::lane::{Input, Lease, Order};
use crate::operation::outside::Outside;
use crate::operation::{SweepOutcome, SweptSide, fault};
use std::time::Instant;
use tiebreak_common::parallel;
use tiebreak_reports::ledger;
use tiebreak_worker::protocol::Job;

/// Inputs of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// First input.
    pub first: i64,
    /// Last input.
    pub last: i64,
    /// Number of inputs of a chunk, which is a separate task.
    pub chunk: i64,
    /// Number of inputs of a block in this process: the data stays in a core's cache.
    pub in_process: i64,
    /// Number of inputs of a block in a worker: enough to make the cost of a message small.
    pub in_worker: i64,
    /// True if chunks below zero run downwards, so that the witness nearest to zero comes first.
    pub outwards: bool,
}

impl Space {
    /// Returns the first input of each chunk.
    pub fn chunks(&self) -> impl Iterator<Item = i64> + use<> {
        (self.first..=self.last).step_by(self.chunk as usize)
    }

    /// Returns the number of inputs.
    pub fn inputs(&self) -> u64 {
        (self.last - self.first + 1) as u64
    }
}

/// Sweep of a kernel in a lane.
pub trait Blocks: Sync {
    /// Totals of the judge.
    type Seen: Send + Default;

    /// Returns empty totals.
    fn nothing(&self) -> Self::Seen {
        Self::Seen::default()
    }
    /// Adds another part, in the order of the inputs.
    fn merge(&self, all: &mut Self::Seen, part: Self::Seen);
    /// Returns the job of a block of `len` inputs; a lane makes each input from the previous input by adding 1.
    fn job(&self, len: usize) -> Job;
    /// Returns the number of inputs that belong together: a block holds a multiple of the number.
    fn group(&self) -> usize {
        1
    }
    /// Returns the number of words of a result; a batch requests as many words for each input.
    fn words(&self) -> usize {
        1
    }
    /// Judges the results of consecutive inputs.
    fn judge(&self, first: i64, outs: &[i32], seen: &mut Self::Seen);
    /// Cross-checks the fast form of every scheme against big numbers at an input. Panics if the forms differ.
    fn anchor(&self, input: i64);
    /// Formats a range of inputs.
    fn during(&self, first: i64, last: i64) -> String;
}

/// Outcome of a chunk, or of all chunks.
#[derive(Clone, Debug)]
pub struct ChunkOutcome<S> {
    /// Totals of the judge.
    pub seen: S,
    /// Blocks that gave no output at first, each with the input that reproduces the failure, if any.
    pub failures: Vec<FailedBatch<i64>>,
    /// Inputs of blocks that the worker refused as outside the kernel's domain.
    pub outside: Outside,
    /// Seconds of lane and judge, of all threads.
    pub seconds: f64,
}

impl<S: Default> Default for ChunkOutcome<S> {
    fn default() -> Self {
        Self { seen: S::default(), failures: Vec::new(), outside: Outside::default(), seconds: 0.0 }
    }
}

/// Runs every chunk, on all cores; `done` is called after each chunk.
pub fn sweep<B: Blocks>(
    runner: &Runner<'_>,
    blocks: &B,
    space: &Space,
    done: impl Fn() + Sync,
) -> ChunkOutcome<B::Seen> {
    let starts: Vec<i64> = space.chunks().collect();
    let one = |start: &i64| {
        let swept = chunk(runner, blocks, space, *start);
        done();
        swept
    };
    let parts: Vec<ChunkOutcome<B::Seen>> = parallel::map(&starts, one);
    let mut all =
        ChunkOutcome { seen: blocks.nothing(), failures: Vec::new(), outside: Outside::default(), seconds: 0.0 };
    for part in parts {
        blocks.merge(&mut all.seen, part.seen);
        all.failures.extend(part.failures);
        all.outside.merge(&part.outside);
        all.seconds += part.seconds;
    }
    all
}

/// Runs every chunk, and judges the totals: `sides` compares them with the contract, then with the reference, and returns known faults. `spelled`
/// formats the case of an input.
pub fn whole<B: Blocks>(
    runner: &Runner<'_>,
    blocks: &B,
    space: &Space,
    what: &'static str,
    spelled: impl Fn(i64) -> ledger::Case,
    sides: impl FnOnce(B::Seen) -> (Vec<SweptSide>, fault::Seen),
) -> SweepOutcome {
    let begun = Instant::now();
    let ChunkOutcome { seen, failures, outside, .. } = sweep(runner, blocks, space, || ());
    let (sides, faults) = sides(seen);
    let exhaustive = sides.first().is_some_and(|contract| contract.count.seen() == space.inputs());
    let failures = failures.into_iter().map(|failed| failed.map(&spelled)).collect();
    let seconds = begun.elapsed().as_secs_f64();
    SweepOutcome { what, exhaustive, sides, faults, failures, outside, parameters: 0, seconds }
}

/// Runs a chunk, from `start` on.
pub fn chunk<B: Blocks>(runner: &Runner<'_>, blocks: &B, space: &Space, start: i64) -> ChunkOutcome<B::Seen> {
    let begun = Instant::now();
    let last = (start + space.chunk - 1).min(space.last);
    let block = if runner.lane.is_isolated() { space.in_worker } else { space.in_process };
    let mut starts: Vec<i64> = (start..=last).step_by(block as usize).collect();
    if space.outwards && start < 0 {
        starts.reverse();
    }
    let whole = blocks.job(block as usize);
    let (failures, outside) = (Vec::new(), Outside::default());
    let mut task = Task { runner, blocks, last, block, whole, seen: blocks.nothing(), failures, outside };
    task.run(starts);
    for input in [start, start + (last - start) / 2, last] {
        blocks.anchor(input);
    }
    ChunkOutcome {
        seen: task.seen,
        failures: task.failures,
        outside: task.outside,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

/// Chunk in progress.
struct Task<'a, B: Blocks> {
    runner: &'a Runner<'a>,
    blocks: &'a B,
    last: i64,
    block: i64,
    /// Job of a whole block.
    whole: Job,
    seen: B::Seen,
    failures: Vec<FailedBatch<i64>>,
    outside: Outside,
}

impl<B: Blocks> Task<'_, B> {
    fn run(&mut self, starts: Vec<i64>) {
        let (runner, mut next, mut outs) = (self.runner, starts.into_iter(), Vec::new());
        let mut ahead = InFlight::new(runner.lane.lease(), 2);
        loop {
            let hand_over = |lease: &mut Lease<'_>| {
                let at = if runner.has_given_up() { None } else { next.next() }?;
                Some((at, self.ordered(at, |order| lease.submit(order))))
            };
            match ahead.next(hand_over, &mut outs) {
                None => break,
                Some((at, Ok(()))) => self.blocks.judge(at, &outs, &mut self.seen),
                // The session continues with the later blocks.
                Some((at, Err(failure))) if failure.outside().is_some() => {
                    self.outside.add(self.len(at) as u64, failure.outside().unwrap_or_default(), "");
                }
                Some((at, Err(failure))) => {
                    runner.note_failure();
                    let lost: Vec<i64> = std::iter::once(at).chain(ahead.lost()).collect();
                    let witness = lost.iter().find_map(|at| self.culprit(*at));
                    let during = self.blocks.during(at, at + self.len(at) as i64 - 1);
                    self.failures.push(FailedBatch { failure, witness, during });
                    for at in lost {
                        if self.ordered(at, |order| ahead.lease.run(order, &mut outs)).is_ok() {
                            self.blocks.judge(at, &outs, &mut self.seen);
                        }
                    }
                }
            }
        }
    }

    fn len(&self, at: i64) -> usize {
        self.block.min(self.last - at + 1) as usize
    }

    /// Hands over the block that begins at an input.
    fn ordered<T>(&self, at: i64, hand_over: impl FnOnce(&Order<'_>) -> T) -> T {
        let len = self.len(at);
        let input = Input::Range { start: at as i32, len: len * self.blocks.words() };
        if len == self.block as usize {
            hand_over(&Order { job: &self.whole, input, misalign: 0, products: 0 })
        } else {
            hand_over(&Order { job: &self.blocks.job(len), input, misalign: 0, products: 0 })
        }
    }

    /// Returns the input of a block that reproduces the failure alone.
    fn culprit(&self, at: i64) -> Option<i64> {
        let mut lease = self.runner.impatient();
        let fails = |range: std::ops::Range<usize>| {
            let start = (at + range.start as i64) as i32;
            let input = Input::Range { start, len: range.len() * self.blocks.words() };
            fails(&mut lease, &Order { job: &self.blocks.job(range.len()), input, misalign: 0, products: 0 })
        };
        isolate(self.len(at), self.blocks.group(), fails).map(|index| at + index as i64)
    }
}

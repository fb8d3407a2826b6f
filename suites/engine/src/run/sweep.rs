//! Everything there is of some kind, in blocks of consecutive inputs: two in flight, so that the lane computes one while the other is judged. Blocks of a
//! session that was lost run again one at a time, and the input that ends it is found by halving.

use crate::lane::runner::{Ahead, FailedBatch, Runner, fails, isolate};
use crate::lane::{Input, Lease, Order};
use crate::operation::outside::Outside;
use std::time::Instant;
use tiebreak_common::parallel;
use tiebreak_impls::protocol::Job;

/// What a sweep consists of.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// The first input.
    pub first: i64,
    /// The last one.
    pub last: i64,
    /// Inputs of one chunk, which is a task of its own.
    pub chunk: i64,
    /// Inputs of one block in this process: what is read and written stays in a core's cache.
    pub in_process: i64,
    /// Inputs of one block in a worker: enough to make a message's cost small.
    pub in_worker: i64,
    /// Whether chunks below zero run downwards, so that the witness nearest to zero comes first.
    pub outwards: bool,
}

impl Space {
    /// First inputs of the chunks.
    pub fn chunks(&self) -> impl Iterator<Item = i64> + use<> {
        (self.first..=self.last).step_by(self.chunk as usize)
    }

    /// How many inputs there are.
    pub fn inputs(&self) -> u64 {
        (self.last - self.first + 1) as u64
    }
}

/// A sweep of one kernel in one lane.
pub trait Blocks: Sync {
    /// What judging adds up.
    type Seen: Send + Default;

    /// Nothing seen yet.
    fn nothing(&self) -> Self::Seen {
        Self::Seen::default()
    }
    /// Adds another part, in the order of the inputs.
    fn merge(&self, all: &mut Self::Seen, part: Self::Seen);
    /// The job of a block of so many inputs, each of which a lane makes of the one before by adding 1.
    fn job(&self, len: usize) -> Job;
    /// Inputs that only go together: a block of the lane holds a multiple of them.
    fn group(&self) -> usize {
        1
    }
    /// Words of one result, of which a batch is asked for as many as its inputs have.
    fn words(&self) -> usize {
        1
    }
    /// Judges the results of consecutive inputs.
    fn judge(&self, first: i64, outs: &[i32], seen: &mut Self::Seen);
    /// Holds the fast form of every scheme against big numbers at one input, and panics where they part.
    fn anchor(&self, input: i64);
    /// Inputs in words.
    fn during(&self, first: i64, last: i64) -> String;
}

/// What came of a chunk, or of all.
#[derive(Clone, Debug)]
pub struct Swept<S> {
    /// What judging added up.
    pub seen: S,
    /// Blocks that gave no output at first, each with the input that makes it happen again, if one does.
    pub failures: Vec<FailedBatch<i64>>,
    /// Inputs of the blocks that the worker called outside the domain of its kernel.
    pub outside: Outside,
    /// Seconds of lane and judge, of all threads.
    pub seconds: f64,
}

impl<S: Default> Default for Swept<S> {
    fn default() -> Self {
        Self { seen: S::default(), failures: Vec::new(), outside: Outside::default(), seconds: 0.0 }
    }
}

/// Every chunk, on all cores; `done` is called after each.
pub fn sweep<B: Blocks>(runner: &Runner<'_>, blocks: &B, space: &Space, done: impl Fn() + Sync) -> Swept<B::Seen> {
    let starts: Vec<i64> = space.chunks().collect();
    let one = |start: &i64| {
        let swept = chunk(runner, blocks, space, *start);
        done();
        swept
    };
    let parts: Vec<Swept<B::Seen>> = parallel::map(&starts, one);
    let mut all = Swept { seen: blocks.nothing(), failures: Vec::new(), outside: Outside::default(), seconds: 0.0 };
    for part in parts {
        blocks.merge(&mut all.seen, part.seen);
        all.failures.extend(part.failures);
        all.outside.merge(&part.outside);
        all.seconds += part.seconds;
    }
    all
}

/// One chunk, from `start` on.
pub fn chunk<B: Blocks>(runner: &Runner<'_>, blocks: &B, space: &Space, start: i64) -> Swept<B::Seen> {
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
    Swept { seen: task.seen, failures: task.failures, outside: task.outside, seconds: begun.elapsed().as_secs_f64() }
}

/// A chunk at work.
struct Task<'a, B: Blocks> {
    runner: &'a Runner<'a>,
    blocks: &'a B,
    last: i64,
    block: i64,
    /// The job of a whole block.
    whole: Job,
    seen: B::Seen,
    failures: Vec<FailedBatch<i64>>,
    outside: Outside,
}

impl<B: Blocks> Task<'_, B> {
    fn run(&mut self, starts: Vec<i64>) {
        let (runner, mut next, mut outs) = (self.runner, starts.into_iter(), Vec::new());
        let mut ahead = Ahead::new(runner.lane.lease(), 2);
        loop {
            let hand_over = |lease: &mut Lease<'_>| {
                let at = if runner.has_given_up() { None } else { next.next() }?;
                Some((at, self.ordered(at, |order| lease.submit(order))))
            };
            match ahead.next(hand_over, &mut outs) {
                None => break,
                Some((at, Ok(()))) => self.blocks.judge(at, &outs, &mut self.seen),
                // The session goes on, and so do the later blocks.
                Some((at, Err(failure))) if failure.outside().is_some() => {
                    self.outside.add(self.len(at) as u64, failure.outside().unwrap_or_default());
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

    /// The input of a block that alone makes it fail again.
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

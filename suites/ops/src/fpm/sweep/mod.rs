//! Sweep of every accumulator of one (multiplier, shift). The kernel's blocks are compared with exact values that are stepped from accumulator to
//! accumulator, and checked against big rationals at both ends of every chunk.

pub mod one_by_one;
mod settled;

use super::promised::Promised;
use super::{Q31, parameters};
pub(super) use settled::sweeps;
use tiebreak_engine::count::{Count, FAR};
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::run::sweep;
use tiebreak_engine::run::sweep::{Blocks, ChunkOutcome, Space};
use tiebreak_impls::fpm::{Batch, Channel, Kernel, Params};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::fpm::sweep::{Differences, Expected, Stepper, Sweep};
use tiebreak_oracle::fpm::vectors::Comparer;
use tiebreak_oracle::names::UnknownName;
use tiebreak_worker::protocol::Job;

/// Accumulators in one task.
pub const CHUNK: i64 = 1 << 24;
/// Accumulators in one in-process batch: input and output fit a core's cache.
pub const BLOCK_IN_PROCESS: usize = 1 << 14;
/// Accumulators in one batch of a worker: enough to make a message's cost small.
const BLOCK_IN_WORKER: usize = 1 << 16;
/// Differing results, and equal results, that each chunk keeps as evidence for an explanation.
const EVIDENCE: usize = 64;
/// Largest absolute delta that is counted separately; all larger deltas share one count.
const SMALL: i64 = 16;

/// Range of all accumulators.
pub const SPACE: Space = Space {
    first: i32::MIN as i64,
    last: i32::MAX as i64,
    chunk: CHUNK,
    in_process: BLOCK_IN_PROCESS as i64,
    in_worker: BLOCK_IN_WORKER as i64,
    outwards: true,
};

/// Result with its accumulator and its expected value.
#[derive(Clone, Copy, Debug)]
struct Seen {
    x: i32,
    got: i32,
    expected: i64,
}

impl Seen {
    fn size(&self) -> impl Ord + use<> {
        (self.x.unsigned_abs(), self.x < 0)
    }
}

/// Results judged against one scheme.
#[derive(Clone, Debug, Default)]
pub struct Part {
    count: Count,
    differing: Vec<Seen>,
    agreeing: Vec<Seen>,
    smallest: Option<Seen>,
    /// Number of runs searched for evidence.
    searched: usize,
}

/// Results judged against contract and reference.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    contract: Part,
    reference: Part,
}

impl Part {
    fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        self.differing.extend(other.differing);
        self.agreeing.extend(other.agreeing);
        if let Some(seen) = other.smallest {
            self.offer(seen);
        }
    }

    fn offer(&mut self, seen: Seen) {
        if self.smallest.as_ref().is_none_or(|s| seen.size() < s.size()) {
            self.smallest = Some(seen);
        }
    }

    /// Counts deltas, including 0; returns their number.
    fn deltas(&mut self, deltas: impl Iterator<Item = i64>) -> u64 {
        let mut small = [0u64; 2 * SMALL as usize + 1];
        let (mut far, mut all) = (0, 0);
        for delta in deltas {
            all += 1;
            match small.get_mut((delta + SMALL) as usize) {
                Some(n) => *n += 1,
                None => far += 1,
            }
        }
        for (delta, n) in (-SMALL..).zip(small).filter(|(delta, _)| *delta != 0) {
            self.count.differs(delta, None, n);
        }
        self.count.differs(FAR, None, far);
        all
    }
}

/// Sweep of one kernel with one channel, with the schemes of contract and reference.
pub struct Plan<'a> {
    kernel: &'a Kernel,
    runner: &'a Runner<'a>,
    channel: Channel,
    promised: Promised,
    contract: Sweep,
    reference: Option<Sweep>,
    comparer: Comparer,
}

impl<'a> Plan<'a> {
    /// Prepares the exact values. The channel must be in the kernel's domain, and whole blocks must be outside the deviations.
    pub fn new(
        kernel: &'a Kernel,
        runner: &'a Runner<'a>,
        channel: Channel,
        reference: Option<&Scheme>,
    ) -> Result<Self, UnknownName> {
        let promised = Promised::by(&kernel.contract)?;
        let uniform = |len| promised.is_uniform(&Batch { params: Params { q: Q31, channels: vec![channel] }, len });
        assert!(uniform(BLOCK_IN_PROCESS) && uniform(BLOCK_IN_WORKER), "a block has no tail");
        let sweep = |scheme: &Scheme| Sweep::new(*scheme, parameters(channel, Q31));
        let contract = sweep(&promised.scheme);
        Ok(Self {
            kernel,
            runner,
            channel,
            promised,
            contract,
            reference: reference.map(sweep),
            comparer: Comparer::default(),
        })
    }

    /// Sweeps one chunk, beginning at `start`.
    pub fn chunk(&self, start: i64) -> ChunkOutcome<Sides> {
        sweep::chunk(self.runner, self, &SPACE, start)
    }

    /// Sweeps every accumulator; `done` is called after each chunk.
    pub fn sweep(&self, done: impl Fn() + Sync) -> ChunkOutcome<Sides> {
        sweep::sweep(self.runner, self, &SPACE, done)
    }

    /// Compares one block with the contract and with the reference.
    fn compared(&self, at: i64, outs: &[i32], swept: &mut Sides) {
        let contract_held = self.compare(&self.contract, at, outs, &mut swept.contract, None);
        if let Some(reference) = &self.reference {
            let already = contract_held.then_some(&self.contract);
            for (x, len, promised) in self.contract.runs(at, outs.len()) {
                // No reference expects a result where the contract promises none.
                if promised == Expected::OutOfDomain {
                    swept.reference.count.out_of_domain += len as u64;
                } else {
                    self.compare(reference, x, &outs[(x - at) as usize..][..len], &mut swept.reference, already);
                }
            }
        }
    }

    /// Compares a block; returns true if the whole block has expected values and equals them. The block is known to equal the scheme `equal_to`, so
    /// runs in which both schemes have the same steps are not compared again.
    fn compare(&self, sweep: &Sweep, at: i64, outs: &[i32], part: &mut Part, equal_to: Option<&Sweep>) -> bool {
        let before = (part.count.differ, part.count.out_of_domain);
        let mut known = equal_to.map(|s| s.runs(at, outs.len()));
        for run in sweep.runs(at, outs.len()) {
            let alike = known.as_mut().and_then(Iterator::next) == Some(run);
            let (x, len, expected) = run;
            let outs = &outs[(x - at) as usize..][..len];
            match expected {
                Expected::OutOfDomain => part.count.out_of_domain += len as u64,
                Expected::Stepped(_) if alike => part.count.inputs += len as u64,
                Expected::Stepped(stepper) => self.stepped(&stepper, x, outs, part),
                Expected::OneByOne => self.one_by_one(sweep, x, outs, part),
            }
        }
        before == (part.count.differ, part.count.out_of_domain)
    }

    fn stepped(&self, stepper: &Stepper, x: i64, outs: &[i32], part: &mut Part) {
        part.count.inputs += outs.len() as u64;
        if self.comparer.equal(stepper, outs) {
            return;
        }
        let near = self.comparer.differences(stepper, outs).map(|near| (near, 0));
        match near.or_else(|| self.comparer.far_differences(stepper, outs, SMALL as u32)) {
            Some((Differences { plus, minus }, far)) => {
                part.count.differs(1, None, plus);
                part.count.differs(-1, None, minus);
                part.count.differs(FAR, None, far);
            }
            None => {
                part.deltas(outs.iter().enumerate().map(|(i, got)| i64::from(*got) - i64::from(stepper.ahead(i))));
            }
        }
        self.gather(x, outs, part, |i| Some(stepper.ahead(i).into()));
    }

    fn one_by_one(&self, sweep: &Sweep, x: i64, outs: &[i32], part: &mut Part) {
        let before = part.count.differ;
        let expected = |i: usize| sweep.one(x + i as i64);
        let inputs = part.deltas(outs.iter().enumerate().filter_map(|(i, got)| Some(i64::from(*got) - expected(i)?)));
        part.count.inputs += inputs;
        part.count.out_of_domain += outs.len() as u64 - inputs;
        if part.count.differ > before {
            self.gather(x, outs, part, expected);
        }
    }

    /// Collects evidence from a block with differences, and its smallest witness if that may be smaller than the known witness.
    fn gather(&self, x: i64, outs: &[i32], part: &mut Part, expected: impl Fn(usize) -> Option<i64>) {
        let last = x + outs.len() as i64 - 1;
        let nearest = if x <= 0 && last >= 0 { 0 } else { x.abs().min(last.abs()) };
        let hopeful = part.smallest.as_ref().is_none_or(|seen| nearest <= i64::from(seen.x).abs());
        let full = part.differing.len() >= EVIDENCE && part.agreeing.len() >= EVIDENCE;
        if !hopeful && (full || part.searched >= EVIDENCE) {
            return;
        }
        part.searched += 1;
        let from_zero: Box<dyn Iterator<Item = usize>> =
            if last <= 0 { Box::new((0..outs.len()).rev()) } else { Box::new(0..outs.len()) };
        let (mut differing, mut agreeing) = (0, 0);
        for i in from_zero {
            let Some(expected) = expected(i) else { continue };
            let seen = Seen { x: (x + i as i64) as i32, got: outs[i], expected };
            if i64::from(outs[i]) != expected {
                if differing < 4 && part.differing.len() < EVIDENCE {
                    part.differing.push(seen);
                }
                differing += 1;
                part.offer(seen);
            } else if agreeing < 4 && part.agreeing.len() < EVIDENCE {
                part.agreeing.push(seen);
                agreeing += 1;
            }
            let crosses_zero = x < 0 && last > 0;
            if differing >= 4 && agreeing >= 4 && !crosses_zero {
                break;
            }
        }
    }
}

impl Blocks for Plan<'_> {
    type Seen = Sides;

    fn merge(&self, all: &mut Sides, part: Sides) {
        all.contract.merge(part.contract);
        all.reference.merge(part.reference);
    }

    fn job(&self, _: usize) -> Job {
        let params = Params { q: Q31, channels: vec![self.channel] };
        Job::Fpm { kernel: self.kernel.name.to_owned(), params }
    }

    fn judge(&self, at: i64, outs: &[i32], seen: &mut Sides) {
        self.compared(at, outs, seen);
    }

    fn anchor(&self, x: i64) {
        for sweep in std::iter::once(&self.contract).chain(&self.reference) {
            let (fast, exact) = (sweep.at(x), sweep.anchor(x));
            assert_eq!(fast, exact, "the oracle disagrees with itself: {} at x={x}", sweep.scheme().label());
        }
    }

    fn during(&self, first: i64, last: i64) -> String {
        format!("accumulators {first}..={last}, m={} s={}", self.channel.multiplier, self.channel.shift)
    }
}

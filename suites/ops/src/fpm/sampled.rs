//! Directed and random cases: a group of parameters at a time, through every kernel and lane.

use super::judge::judge;
use super::tally::{Account, Side, Tally};
use super::yardstick::{Norm, Yardstick, in_domain};
use super::{Case, case};
use std::time::Instant;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::Budget;
use tiebreak_engine::lane::{Failure, Input, Lane, Lease, Order};
use tiebreak_engine::runner::{Answer, FailedBatch, Runner, fails, isolate};
use tiebreak_impls::fpm::{Channel, Kernel, Params};
use tiebreak_impls::protocol::Job;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::text;

/// One kernel in one lane, with what it is judged by.
pub struct Subject<'a> {
    /// Code under test.
    pub kernel: &'a Kernel,
    /// Where it runs.
    pub lane: &'a Lane,
    /// How it is asked there.
    pub runner: Runner<'a>,
    /// Its contract.
    pub contract: Yardstick,
    /// The operation's reference; none where only the contract matters.
    pub reference: Option<Yardstick>,
}

impl<'a> Subject<'a> {
    /// `kernel` in `lane`, held against its contract and `reference`.
    pub fn new(kernel: &'a Kernel, lane: &'a Lane, reference: Option<&Norm>) -> Result<Self, UnknownName> {
        Ok(Self {
            kernel,
            lane,
            runner: Runner::new(lane),
            contract: Yardstick::contract(&kernel.contract)?,
            reference: reference.map(|r| Yardstick::reference(&kernel.contract, r)).transpose()?,
        })
    }

    /// What a lane runs.
    pub fn job(&self, params: &Params) -> Job {
        Job::Fpm { kernel: self.kernel.name.to_owned(), params: params.clone() }
    }
}

/// What was seen of one subject against contract and reference. Records of parts add up.
#[derive(Clone, Debug, Default)]
pub struct Record<S = Tally> {
    /// Parameter pairs run.
    pub parameters: u64,
    /// Parameter pairs not run any more after failures to answer.
    pub given_up: u64,
    /// Against the contract.
    pub contract: S,
    /// Against the reference.
    pub reference: S,
    /// Batches that gave no output.
    pub failures: Vec<FailedBatch<Case>>,
    /// Seconds of lane and judge.
    pub seconds: f64,
}

/// A record with its reasons.
pub type Settled = Record<Account>;

impl<S: Side> Record<S> {
    /// Adds another part.
    pub fn merge(&mut self, other: Self) {
        self.parameters += other.parameters;
        self.given_up += other.given_up;
        self.contract.merge(other.contract);
        self.reference.merge(other.reference);
        self.failures.extend(other.failures);
        self.seconds += other.seconds;
    }
}

impl Record {
    /// Counts parameter pairs that are about to run, if they are.
    fn count(&mut self, subject: &Subject<'_>, pairs: u64) {
        *(if subject.runner.has_given_up() { &mut self.given_up } else { &mut self.parameters }) += pairs;
    }

    /// What was counted so far, with no cause looked for.
    pub fn counted(&self) -> Settled {
        self.with(self.failures.clone(), self.contract.unsettled(), self.reference.unsettled())
    }

    /// Names the cause of everything seen.
    pub fn settle(mut self, subject: &Subject<'_>) -> Settled {
        let holds = self.contract.count.differ == 0;
        let failures = std::mem::take(&mut self.failures);
        let contract = std::mem::take(&mut self.contract).settle(&subject.contract, holds);
        let reference = std::mem::take(&mut self.reference);
        let reference = subject.reference.as_ref().map(|yardstick| reference.settle(yardstick, holds));
        self.with(failures, contract, reference.unwrap_or_default())
    }

    fn with(&self, failures: Vec<FailedBatch<Case>>, contract: Account, reference: Account) -> Settled {
        let Self { parameters, given_up, seconds, .. } = *self;
        Record { parameters, given_up, contract, reference, failures, seconds }
    }
}

/// One batch through one subject: run, judged, and narrowed down where it gave no output.
pub fn run_batch(subject: &Subject<'_>, lease: &mut Lease<'_>, params: &Params, xs: &[i32], misalign: usize) -> Record {
    let mut record = Record::default();
    let begun = Instant::now();
    let job = subject.job(params);
    let order = Order { job: &job, input: Input::Values { len: xs.len(), values: xs }, misalign };
    let mut outs = Vec::new();
    let narrow = |_: &Failure| {
        let mut lease = subject.runner.impatient();
        let fails = |range: std::ops::Range<usize>| {
            let values = &xs[range];
            let input = Input::Values { len: values.len(), values };
            fails(&mut lease, &Order { job: &job, input, misalign: 0 })
        };
        isolate(xs.len(), params.channels.len(), fails).map(|index| case(params, xs, index))
    };
    let during = || format!("{}, {}", text::plural(xs.len(), "input"), describe(params));
    let answered = match subject.runner.run(lease, &order, &mut outs, narrow, during) {
        Answer::Given => true,
        Answer::GivenUp => false,
        Answer::GivenAgain(failed) => {
            record.failures.push(failed);
            true
        }
        Answer::Failed(failed) => {
            record.failures.push(failed);
            false
        }
    };
    if answered {
        record.contract = judge(&subject.contract, params, xs, &outs);
        if let Some(reference) = &subject.reference {
            record.reference = judge(reference, params, xs, &outs);
        }
    }
    record.seconds = begun.elapsed().as_secs_f64();
    record
}

/// `m=.. s=..`, and how many more.
pub fn describe(params: &Params) -> String {
    let Channel { multiplier, shift } = params.channels[0];
    let q = if params.q == 31 { String::new() } else { format!(" q={}", params.q) };
    let more = match params.channels.len() {
        1 => String::new(),
        n => format!(" and {} more channels", n - 1),
    };
    format!("m={multiplier} s={shift}{q}{more}")
}

/// A group of channels: the unit of parallel work.
pub struct Group<'a> {
    /// The channels.
    pub channels: &'a [Channel],
    /// Number of channels before this group, in the whole run.
    pub first: usize,
    /// What to spend.
    pub budget: Budget,
    /// Formats of the multipliers.
    pub formats: Formats,
    /// Seed of the run.
    pub seed: u64,
}

/// Formats of multiplier that a run tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// Q0.31, and others in turn.
    Q31AndOthers,
    /// One.
    Only(u32),
}

/// Formats tried beside Q0.31, one a channel, in turn.
const OTHER_FORMATS: [u32; 6] = [30, 15, 0, 24, 1, 8];
/// Channels of one per-channel batch: odd, so that every channel meets every vector lane.
const CHANNELS_TOGETHER: usize = 5;
/// Channels of the wide batches: below, at and above every vector width and cache line, mostly odd.
const WIDE: [usize; 6] = [9, 16, 17, 33, 65, WIDEST];
/// Channels of the widest batch.
const WIDEST: usize = 70;
/// Rows of a wide batch, the last one cut in half.
const WIDE_ROWS: usize = 7;

impl Formats {
    /// Fractional bits of the multipliers that several channels of a batch share.
    pub fn first(self) -> u32 {
        match self {
            Self::Q31AndOthers => 31,
            Self::Only(q) => q,
        }
    }
}

/// Runs the group through every subject; one record each, in order.
pub fn run_group(group: &Group<'_>, subjects: &[Subject<'_>]) -> Vec<Record> {
    let mut records = vec![Record::default(); subjects.len()];
    let q = group.formats.first();
    let inputs: Vec<Vec<i32>> = group.channels.iter().map(|c| accumulators(*c, q, &group.budget, group.seed)).collect();
    for (subject, record) in subjects.iter().zip(&mut records) {
        let mut lease = subject.lane.lease();
        if subject.kernel.contract.domain.per_channel {
            record.merge(per_channel(group, &inputs, subject, &mut lease));
        } else {
            record.merge(per_tensor(group, &inputs, subject, &mut lease));
        }
        if group.formats == Formats::Q31AndOthers {
            record.merge(other_formats(group, subject, &mut lease));
        }
        for (i, channel) in group.channels.iter().enumerate() {
            if group.first + i < group.budget.position_parameters {
                record.merge(positions(*channel, q, &inputs[i], subject, &mut lease));
            }
        }
    }
    records
}

fn per_tensor(group: &Group<'_>, inputs: &[Vec<i32>], subject: &Subject<'_>, lease: &mut Lease<'_>) -> Record {
    let mut record = Record::default();
    for (channel, xs) in group.channels.iter().zip(inputs) {
        let params = Params { q: group.formats.first(), channels: vec![*channel] };
        if in_domain(subject.kernel, &params) {
            record.count(subject, 1);
            record.merge(run_batch(subject, lease, &params, xs, 0));
        }
    }
    record
}

fn per_channel(group: &Group<'_>, inputs: &[Vec<i32>], subject: &Subject<'_>, lease: &mut Lease<'_>) -> Record {
    let mut record = Record::default();
    let covered: Vec<(&Channel, &Vec<i32>)> = group
        .channels
        .iter()
        .zip(inputs)
        .filter(|(c, _)| subject.kernel.contract.domain.contains(c.multiplier, c.shift, group.formats.first()))
        .collect();
    for together in covered.chunks(CHANNELS_TOGETHER) {
        let params = Params { q: group.formats.first(), channels: together.iter().map(|(c, _)| **c).collect() };
        let longest = together.iter().map(|(_, xs)| xs.len()).max().unwrap_or(0);
        let row = |i: usize| together.iter().map(move |(_, xs)| xs[i % xs.len()]);
        let xs: Vec<i32> = (0..longest).flat_map(row).collect();
        record.count(subject, together.len() as u64);
        record.merge(run_batch(subject, lease, &params, &xs, 0));
    }
    record
}

/// Batches of many channels, each ending within a row: a kernel of several channels takes those of `channels` in its domain in turn, as
/// often as it takes, with the accumulators that `inputs` gives for each.
pub fn wide(subject: &Subject<'_>, q: u32, channels: &[Channel], inputs: impl Fn(Channel) -> Vec<i32>) -> Record {
    let mut record = Record::default();
    let domain = &subject.kernel.contract.domain;
    let covered = channels
        .iter()
        .filter(|c| subject.kernel.contract.domain.per_channel && domain.contains(c.multiplier, c.shift, q));
    let covered: Vec<Channel> = covered.copied().collect();
    // From one end of the list to the other: neighbours share their shift.
    let spread = covered.iter().step_by((covered.len() / WIDEST).max(1)).take(WIDEST);
    let spread: Vec<(Channel, Vec<i32>)> = spread.map(|c| (*c, inputs(*c))).collect();
    let counts = WIDE.into_iter().enumerate().filter(|_| !spread.is_empty());
    let mut lease = subject.lane.lease();
    for (misalign, count) in counts {
        let together: Vec<_> = spread.iter().cycle().skip(count).take(count).collect();
        let params = Params { q, channels: together.iter().map(|(channel, _)| *channel).collect() };
        let value = |i: usize| {
            let xs = &together[i % count].1;
            xs[(i / count * xs.len() / WIDE_ROWS + i) % xs.len()]
        };
        let xs: Vec<i32> = (0..WIDE_ROWS * count - count / 2).map(value).collect();
        record.merge(run_batch(subject, &mut lease, &params, &xs, misalign));
    }
    record
}

fn other_formats(group: &Group<'_>, subject: &Subject<'_>, lease: &mut Lease<'_>) -> Record {
    let mut record = Record::default();
    for (i, channel) in group.channels.iter().enumerate() {
        let q = OTHER_FORMATS[(group.first + i) % OTHER_FORMATS.len()];
        let params = Params { q, channels: vec![*channel] };
        if in_domain(subject.kernel, &params) {
            let xs = accumulators(*channel, q, &group.budget, group.seed);
            record.count(subject, 1);
            record.merge(run_batch(subject, lease, &params, &xs, 0));
        }
    }
    record
}

/// Every length up to two vectors of the widest kernel, every misalignment, each value in every position.
fn positions(channel: Channel, q: u32, xs: &[i32], subject: &Subject<'_>, lease: &mut Lease<'_>) -> Record {
    let mut record = Record::default();
    let params = Params { q, channels: vec![channel] };
    if !in_domain(subject.kernel, &params) {
        return record;
    }
    let values: Vec<i32> = xs.iter().step_by((xs.len() / 8).max(1)).copied().collect();
    for len in 0..=17 {
        for misalign in 0..4 {
            for turn in 0..values.len().min(len.max(1)) {
                let rotated: Vec<i32> = (0..len).map(|i| values[(i + turn) % values.len()]).collect();
                record.merge(run_batch(subject, lease, &params, &rotated, misalign));
            }
        }
    }
    record
}

//! Fixed point multiply: any batch through any kernel, in its portable form, against its contract.

use super::{moved, within};
use crate::fpm::catalogue::{line, ready_line};
use crate::fpm::judge::judge;
use crate::fpm::rows::again;
use crate::fpm::sampled::{Record, Subject, run_batch};
use crate::fpm::shrink::{Freedom, shrink};
use crate::fpm::tally::Seen;
use crate::fpm::yardstick::{Yardstick, in_domain};
use crate::fpm::{Case, case};
use std::sync::LazyLock;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::Effort;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::verify::Command;
use tiebreak_impls::Form;
use tiebreak_impls::fpm::{Kernel, Params, kernels};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

/// A batch of fixed point multiplies, of any content.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Fractional bits of the multipliers, any number.
    pub q: u8,
    /// Multipliers and shifts, any numbers; those that a kernel makes no promise for are moved into its domain.
    pub channels: Vec<(i32, i8)>,
    /// Elements between the start of the buffers and the first one.
    pub misalign: u8,
    /// Accumulators.
    pub xs: Vec<i32>,
}

/// A kernel with its comparison.
pub struct Held {
    kernel: &'static Kernel,
    contract: Yardstick,
}

/// Every kernel; `index` of a fuzzer's choice picks one.
pub fn held(index: usize) -> &'static Held {
    static ALL: LazyLock<Vec<Held>> = LazyLock::new(|| kernels().iter().map(Held::new).collect());
    &ALL[index % ALL.len()]
}

impl Held {
    /// `kernel` against its contract.
    pub fn new(kernel: &'static Kernel) -> Self {
        let contract = Yardstick::contract(&kernel.contract).expect("a contract names schemes that there are");
        Self { kernel, contract }
    }

    /// Runs the batch in this process and compares every output: what to report where one differs.
    pub fn run(&self, batch: &Batch) -> Result<(), String> {
        let params = self.params(batch);
        if params.channels.is_empty() || !in_domain(self.kernel, &params) {
            return Ok(());
        }
        let misalign = usize::from(batch.misalign % 16);
        let mut input = vec![0; misalign];
        input.extend(&batch.xs);
        let mut output = vec![0; input.len()];
        self.kernel.run(Form::Portable)(&params, &input[misalign..], &mut output[misalign..]);
        let outs = &output[misalign..];
        let differs = |index: usize| {
            let (_, expected) = self.contract.expected(&case(&params, &batch.xs, index));
            expected.is_some_and(|expected| expected != i64::from(outs[index]))
        };
        if (0..outs.len()).any(differs) { Err(self.report(&params, &batch.xs, outs)) } else { Ok(()) }
    }

    fn params(&self, batch: &Batch) -> Params {
        let domain = &self.kernel.contract.domain;
        let channels = batch.channels.iter().take(if self.kernel.contract.domain.per_channel { usize::MAX } else { 1 });
        Params {
            q: within(batch.q.into(), *domain.q.start() as i32..=*domain.q.end() as i32) as u32,
            channels: channels.map(|(m, s)| moved(*m, (*s).into(), domain)).collect(),
        }
    }

    /// The smallest witness, as a line to read, a line for the catalogue, and a command.
    fn report(&self, params: &Params, xs: &[i32], outs: &[i32]) -> String {
        let lane = Lane::host();
        let subject = Subject::new(self.kernel, &lane, None).expect("schemes are known");
        let record = Record { contract: judge(&self.contract, params, xs, outs), ..Record::default() };
        let Some(seen) = record.settle(&subject).contract.witness else {
            return "differs, but not when judged again".to_owned();
        };
        self.lines(&shrink(&subject, &self.contract, &self.explained(&subject, seen), Freedom::Everything))
    }

    /// The same difference with a class that holds for more than one batch: many causes fit a few outputs, few fit all the
    /// directed inputs.
    fn explained(&self, subject: &Subject<'_>, seen: Seen) -> Seen {
        let Case { x, channel, q, .. } = *seen.case();
        let params = Params { q, channels: vec![channel] };
        let mut xs = accumulators(channel, q, &Effort::Quick.budget(), 0);
        xs.resize(xs.len().next_multiple_of(16) + seen.case().len % 16, x);
        let record = run_batch(subject, &mut subject.lane.lease(), &params, &xs, 0);
        record.settle(subject).contract.witness.unwrap_or(seen)
    }

    fn lines(&self, seen: &Seen) -> String {
        let (name, case) = (self.kernel.name, seen.case());
        let again = again(&Command::default(), name, "host", case);
        let reference = Scheme::single(RoundingRule::TiesUp, Overflow::Wrap);
        let mut schemes = vec![self.contract.own];
        schemes.extend((self.contract.own.label() != reference.label()).then_some(reference));
        let kept = ready_line(case.x, case.channel, &schemes, &format!("{name}, found by fuzzing"));
        // The catalogue knows Q0.31 only.
        let kept = if case.q == 31 { format!("\ncatalogue: {kept}") } else { String::new() };
        format!("fpm {name} host {}{kept}\nagain: {again}", line(seen))
    }
}

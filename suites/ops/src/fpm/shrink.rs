//! The smallest witness: the kernel is run again on simpler cases until none shows the same difference.

use super::classify::Observation;
use super::sampled::Subject;
use super::tally::Seen;
use super::yardstick::Yardstick;
use super::{Case, case};
use tiebreak_common::accumulators::corners;
use tiebreak_engine::lane::{Input, Lease, Order};
use tiebreak_impls::fpm::{Channel, Params};

/// Rounds of simplifying; each ends when nothing got simpler.
const ROUNDS: usize = 6;

/// How far a witness may be simplified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Only the accumulator: the parameters are the caller's.
    Accumulator,
    /// The parameters too, within the kernel's domain.
    Everything,
}

/// The simplest case that still differs from `yardstick` for the reason `seen` does.
pub fn shrink(subject: &Subject<'_>, yardstick: &Yardstick, seen: &Seen, freedom: Freedom) -> Seen {
    let mut shrinker = Shrinker { subject, yardstick, lease: subject.lane.lease(), best: seen.clone() };
    for _ in 0..ROUNDS {
        let before = shrinker.best.observation;
        shrinker.accumulator();
        if freedom == Freedom::Everything {
            shrinker.shift();
            shrinker.multiplier();
        }
        if shrinker.best.observation == before {
            break;
        }
    }
    shrinker.best
}

struct Shrinker<'a> {
    subject: &'a Subject<'a>,
    yardstick: &'a Yardstick,
    lease: Lease<'a>,
    best: Seen,
}

impl Shrinker<'_> {
    /// Tries accumulators with a channel; true where a simpler witness was found.
    fn attempt(&mut self, channel: Channel, xs: &[i32]) -> bool {
        let params = Params { q: self.best.case().q, channels: vec![channel] };
        if !super::yardstick::in_domain(self.subject.kernel, &params) {
            return false;
        }
        let in_tail = self.best.case().is_in_tail(16) && self.best.case().index > 0 || self.best.case().len < 4;
        // In the tail fewer than any vector holds; otherwise padded to whole vectors, so that all are in the body.
        let size = if in_tail { 3 } else { xs.len() };
        let mut found = false;
        for part in xs.chunks(size.max(1)) {
            let mut padded = part.to_vec();
            if !in_tail {
                padded.resize(part.len().next_multiple_of(16), part[0]);
            }
            found |= self.run(&params, &padded);
        }
        found
    }

    fn run(&mut self, params: &Params, xs: &[i32]) -> bool {
        let job = self.subject.job(params);
        let order = Order { job: &job, input: Input::Values { len: xs.len(), values: xs }, misalign: 0 };
        let mut outs = Vec::new();
        if self.lease.run(&order, &mut outs).is_err() {
            return false;
        }
        let mut found = false;
        for (index, &got) in outs.iter().enumerate() {
            found |= self.consider(case(params, xs, index), got);
        }
        found
    }

    fn consider(&mut self, case: Case, got: i32) -> bool {
        let (_, expected) = self.yardstick.expected(&case);
        let observation = Observation { case, got };
        match expected {
            Some(expected)
                if expected != i64::from(got)
                    && case.size() < self.best.case().size()
                    && self.best.explanation.covers(&observation) =>
            {
                self.best = Seen { observation, expected, ..self.best.clone() };
                true
            }
            _ => false,
        }
    }

    fn accumulator(&mut self) {
        let channel = self.best.case().channel;
        self.attempt(channel, &simple_accumulators(self.best.case().x));
        // Halving steps towards zero.
        for _ in 0..32 {
            let x = self.best.case().x;
            let steps: Vec<i32> = (1..32).map(|bit| x - (x >> bit)).chain([x - x.signum()]).collect();
            if !self.attempt(channel, &steps) {
                break;
            }
        }
        // Alone, in the shortest batch.
        self.attempt(channel, &[self.best.case().x]);
    }

    fn shift(&mut self) {
        let Case { channel, x, .. } = *self.best.case();
        let mut shifts: Vec<i32> = (-31..=31).filter(|s: &i32| s.abs() <= channel.shift.abs()).collect();
        shifts.sort_by_key(|s| (s.abs(), *s > 0));
        for shift in shifts {
            if self.attempt(Channel { shift, ..channel }, &simple_accumulators(x)) {
                break;
            }
        }
    }

    fn multiplier(&mut self) {
        let Case { channel, x, .. } = *self.best.case();
        let m = channel.multiplier;
        // A larger multiplier may let a smaller accumulator differ.
        for multiplier in tiebreak_common::parameters::CORNER_MULTIPLIERS {
            if multiplier.unsigned_abs() > m.unsigned_abs() {
                self.attempt(Channel { multiplier, ..channel }, &simple_accumulators(x));
            }
        }
        let Case { channel, x, .. } = *self.best.case();
        let m = channel.multiplier;
        let round = (0..31).map(|bit| m >> bit << bit);
        let corner =
            tiebreak_common::parameters::CORNER_MULTIPLIERS.into_iter().chain(round).chain([m.saturating_abs()]);
        let mut candidates: Vec<i32> = corner.filter(|c| c.unsigned_abs() <= m.unsigned_abs()).collect();
        candidates.sort_unstable_by_key(|c| (c.unsigned_abs(), *c < 0));
        candidates.dedup();
        for multiplier in candidates {
            if self.attempt(Channel { multiplier, ..channel }, &simple_accumulators(x)) {
                break;
            }
        }
        self.multiplier_by_halving();
    }

    /// The smallest multiplier for the accumulator found, where differing is a threshold in it.
    fn multiplier_by_halving(&mut self) {
        let Case { channel, x, .. } = *self.best.case();
        let (mut fails, mut holds) = (i64::from(channel.multiplier), 0i64);
        while (fails - holds).abs() > 1 {
            let middle = holds + (fails - holds) / 2;
            if self.attempt(Channel { multiplier: middle as i32, ..channel }, &[x]) {
                fails = middle;
            } else {
                holds = middle;
            }
        }
    }
}

/// Accumulators simpler than `x`, and `x`.
fn simple_accumulators(x: i32) -> Vec<i32> {
    let mut xs: Vec<i32> = (-64..=64).chain(corners()).chain([x, x.saturating_neg()]).collect();
    xs.retain(|c| c.unsigned_abs() <= x.unsigned_abs());
    xs.sort_unstable_by_key(|c| (c.unsigned_abs(), *c < 0));
    xs.dedup();
    xs
}

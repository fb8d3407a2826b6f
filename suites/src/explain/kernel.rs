//! What a kernel computes around one input: it is run at the input's multiplier and shift and where sequences part, in the
//! body of a vector loop and behind it, and what comes out is held against its contract.

use crate::accumulators::accumulators;
use crate::budget::{Budget, Effort};
use crate::fpm::Case;
use crate::fpm::classify::{Explanation, Observation, explain, probe_channels};
use crate::fpm::hypotheses::class;
use crate::fpm::tally::Regime;
use crate::fpm::yardstick::{Norm, Yardstick};
use crate::lane::FORM;
use std::borrow::Cow;
use tiebreak_impls::contract::Contract;
use tiebreak_impls::fpm::{Channel, Kernel, Params};
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Name, Scheme};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// Elements of a batch of which all are in whole vectors, whatever the vector's length up to this.
const WHOLE: usize = 16;

/// Outputs at the input's own multiplier and shift, and at those where sequences part.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// At the input's own.
    pub near: Vec<Observation>,
    /// At the others, in the direction of the input's shift.
    pub far: Vec<Observation>,
}

impl Evidence {
    fn all(&self) -> Vec<Observation> {
        [&self.near[..], &self.far].concat()
    }

    /// Both, or nothing but the first where that alone can be explained.
    pub fn cause(&self, yardstick: &Yardstick, zone: usize, holds: bool) -> Option<Explanation> {
        let everywhere = cause(yardstick, zone, &self.all(), holds);
        match everywhere {
            Some(found) if found.class == class::UNEXPLAINED => {
                cause(yardstick, zone, &self.near, holds).or(Some(found))
            }
            found => found,
        }
    }

    /// The accumulator nearest to zero on which it differs at the input's own multiplier and shift.
    pub fn nearest_difference(&self, yardstick: &Yardstick) -> Option<i32> {
        let differs = |o: &&Observation| yardstick.expected(&o.case).1.is_some_and(|v| v != i64::from(o.got));
        self.near.iter().filter(differs).map(|o| o.case.x).min_by_key(|x| (x.unsigned_abs(), *x < 0))
    }
}

/// Why outputs differ from what `yardstick` expects of a zone; nothing where none does.
fn cause(yardstick: &Yardstick, zone: usize, observations: &[Observation], holds: bool) -> Option<Explanation> {
    let judged = observations.iter().filter_map(|o| Some((yardstick.expected(&o.case).1? == i64::from(o.got), *o)));
    let (agreeing, differing): (Vec<_>, Vec<_>) = judged.partition(|(same, _)| *same);
    if differing.is_empty() {
        return None;
    }
    let evidence: Vec<Observation> = differing.into_iter().chain(agreeing).map(|(_, o)| o).collect();
    Some(explain(yardstick, zone, &evidence, holds).unwrap_or_else(Explanation::none))
}

/// What a kernel does in one place.
#[derive(Clone, Debug)]
pub struct Part {
    /// `body` or `tail` where they are not the same.
    pub place: Option<&'static str>,
    /// Its output for the input.
    pub value: i32,
    /// Its steps, and what becomes of results that do not fit; nothing where nothing reproduces it.
    pub steps: Option<(Vec<(Name, Step)>, Overflow)>,
    /// Whose steps, in words.
    pub steps_of: String,
    /// How it departs from its contract.
    pub broken: Option<Explanation>,
    /// Its outputs.
    pub evidence: Evidence,
    zone: usize,
}

/// The parts of `kernel` at one input: one, or body and tail.
pub fn parts(kernel: &Kernel, x: i32, channel: Channel, q: u32) -> Result<Vec<Part>, UnknownName> {
    let contract = Yardstick::contract(&kernel.contract)?;
    let [body, tail] = [true, false].map(|whole| observed(kernel, x, channel, q, whole));
    let zone = |e: &Evidence| contract.zone_of(&e.near[0].case);
    let (in_body, in_tail) = (zone(&body), zone(&tail));
    if in_body == in_tail {
        let both = Evidence { near: [&body.near[..], &tail.near].concat(), far: [&body.far[..], &tail.far].concat() };
        let found = both.cause(&contract, in_body, false);
        if found.as_ref().is_none_or(|e| e.hypothesis.is_some()) {
            return Ok(vec![part(&contract, None, both, in_body, found)]);
        }
        let apart = |place, evidence: Evidence| {
            let own = evidence.cause(&contract, in_body, false);
            let mut part = part(&contract, Some(place), evidence, in_body, own);
            if let (Some(own), Some(whole)) = (&mut part.broken, &found)
                && whole.class == class::POSITION
            {
                own.because = format!(
                    "class {} in the {place}, where the rest of the batch has another: {}",
                    own.class, own.because
                );
                own.class = class::POSITION;
            }
            part
        };
        return Ok(vec![apart("body", body), apart("tail", tail)]);
    }
    let apart = |place, evidence: Evidence, zone| {
        let found = evidence.cause(&contract, zone, false);
        part(&contract, Some(place), evidence, zone, found)
    };
    Ok(vec![apart("body", body, in_body), apart("tail", tail, in_tail)])
}

impl Part {
    /// Why it differs from another scheme than its contract's, and where next to zero it does.
    pub fn against(
        &self,
        contract: &Contract,
        reference: &Norm,
    ) -> Result<(Option<Explanation>, Option<i32>), UnknownName> {
        let yardstick = Yardstick::reference(contract, reference)?;
        let found = self.evidence.cause(&yardstick, self.zone, self.broken.is_none());
        Ok((found, self.evidence.nearest_difference(&yardstick)))
    }

    /// The scheme that its contract promises here.
    pub fn promised(&self, contract: &Contract) -> Result<Scheme, UnknownName> {
        Ok(Yardstick::contract(contract)?.zones[self.zone].own)
    }

    /// Where next to zero it departs from its contract.
    pub fn nearest_break(&self, contract: &Contract) -> Result<Option<i32>, UnknownName> {
        Ok(self.evidence.nearest_difference(&Yardstick::contract(contract)?))
    }
}

fn part(
    contract: &Yardstick,
    place: Option<&'static str>,
    evidence: Evidence,
    zone: usize,
    broken: Option<Explanation>,
) -> Part {
    let own = contract.zones[zone].own;
    let (steps, steps_of) = match &broken {
        None => {
            let named = own.definition.steps.iter().map(|(name, step)| (Name::from(*name), *step)).collect();
            (
                Some((named, own.overflow)),
                format!(
                    "the steps of {}, which it equals on all {} outputs examined",
                    text::scheme(&own.label()),
                    text::count(evidence.all().len() as u64)
                ),
            )
        }
        Some(Explanation { hypothesis: Some(h), because, .. }) => {
            let named = h.steps.iter().map(|step| (Cow::Owned(step.to_string()), *step)).collect();
            (Some((named, h.overflow)), because.clone())
        }
        Some(Explanation { because, .. }) => (None, because.clone()),
    };
    // The input itself was put first.
    Part { place, value: evidence.near[0].got, steps, steps_of, broken, evidence, zone }
}

/// Outputs of the kernel, all in whole vectors or each alone in its batch; the input comes first.
fn observed(kernel: &Kernel, x: i32, channel: Channel, q: u32, whole: bool) -> Evidence {
    let few = Budget { random_accumulators: 32, near_ties: 16, ..Effort::Quick.budget() };
    let run =
        |channel, xs: &[i32]| if whole { together(kernel, channel, q, xs) } else { alone(kernel, channel, q, xs) };
    let mut xs = vec![x];
    xs.extend(accumulators(channel, q, &Effort::Quick.budget(), 0));
    let near = run(channel, &xs);
    let probes = probe_channels(&kernel.contract.domain, q, Regime::of(channel.shift));
    let far = probes.filter(|c| *c != channel).flat_map(|c| run(c, &accumulators(c, q, &few, 0))).collect();
    Evidence { near, far }
}

fn together(kernel: &Kernel, channel: Channel, q: u32, xs: &[i32]) -> Vec<Observation> {
    let mut padded = xs.to_vec();
    padded.resize(xs.len().next_multiple_of(WHOLE), 0);
    let outs = outputs(kernel, channel, q, &padded);
    let case = |index| Case { x: xs[index], channel, q, index, len: padded.len() };
    (0..xs.len()).map(|index| Observation { case: case(index), got: outs[index] }).collect()
}

fn alone(kernel: &Kernel, channel: Channel, q: u32, xs: &[i32]) -> Vec<Observation> {
    let one = |x: &i32| {
        let case = Case { x: *x, channel, q, index: 0, len: 1 };
        Observation { case, got: outputs(kernel, channel, q, &[*x])[0] }
    };
    xs.iter().map(one).collect()
}

fn outputs(kernel: &Kernel, channel: Channel, q: u32, xs: &[i32]) -> Vec<i32> {
    let mut out = vec![0; xs.len()];
    kernel.run(FORM)(&Params { q, channels: vec![channel] }, xs, &mut out);
    out
}

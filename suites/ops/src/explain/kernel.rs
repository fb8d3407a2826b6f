//! The steps of a kernel at one input, as a whole or in its body and its tail: its outputs around the input are compared with its contract.

use super::evidence::{Evidence, observed};
use crate::fpm::classify::Explanation;
use crate::fpm::yardstick::{Norm, Yardstick};
use std::borrow::Cow;
use tiebreak_common::class::Class;
use tiebreak_impls::contract::Contract;
use tiebreak_impls::fpm::{Channel, Kernel};
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Name, Scheme};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// What a kernel does in one place.
#[derive(Clone, Debug)]
pub struct Part {
    /// `body` or `tail` where they are not the same.
    pub place: Option<&'static str>,
    /// Its output for the input.
    pub value: i32,
    /// Its steps, and the policy for results that do not fit; `None` if nothing reproduces it.
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
                && whole.class == Class::Position
            {
                own.because = format!(
                    "class {} in the {place}, where the rest of the batch has another: {}",
                    own.class, own.because
                );
                own.class = Class::Position;
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

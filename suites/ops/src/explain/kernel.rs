//! Steps of a kernel for one input, for body and tail together or separately. The outputs around the input are compared with the contract.

use super::evidence::{Against, Evidence, Found, observed};
use crate::fpm::promised::{Promised, ShiftDirection};
use std::borrow::Cow;
use tiebreak_common::Class;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Channel, Kernel};
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Name, Scheme};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// Behaviour of a kernel in one place of a vector.
#[derive(Clone, Debug)]
pub struct Part {
    /// Place, `body` or `tail`; `None` if both behave alike.
    pub place: Option<&'static str>,
    /// Output for the input.
    pub value: i32,
    /// Steps, and the policy for results that do not fit; `None` if no hypothesis reproduces the outputs.
    pub steps: Option<(Vec<(Name, Step)>, Overflow)>,
    /// Description of the source of the steps: a scheme or a hypothesis.
    pub steps_of: String,
    /// Cause of the departure from the contract; `None` if the contract is kept.
    pub broken: Option<Found>,
    /// Outputs around the input.
    pub evidence: Evidence,
    zone: usize,
}

/// Returns the parts of `kernel` for one input: a single part, or body and tail.
pub fn parts(kernel: &Kernel, x: i32, channel: Channel, q: u32) -> Result<Vec<Part>, UnknownName> {
    let contract = Promised::by(&kernel.contract)?;
    let [body, tail] = [true, false].map(|whole| observed(kernel, x, channel, q, whole));
    let zone = |e: &Evidence| contract.zone_at(0, &e.near[0].case.params);
    let (in_body, in_tail) = (zone(&body), zone(&tail));
    let domain = &kernel.contract.domain;
    let against = |zone| {
        let group = contract.group(zone, ShiftDirection::of(channel.shift));
        Against { contract: &contract, scheme: &contract, domain, group, kept: false }
    };
    if in_body == in_tail {
        let both = body.and(&tail);
        let found = both.cause(&against(in_body));
        if found.as_ref().is_none_or(|e| e.hypothesis.is_some()) {
            return Ok(vec![part(&contract, None, both, in_body, found)]);
        }
        let apart = |place, evidence: Evidence| {
            let own = evidence.cause(&against(in_body));
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
        let found = evidence.cause(&against(zone));
        part(&contract, Some(place), evidence, zone, found)
    };
    Ok(vec![apart("body", body, in_body), apart("tail", tail, in_tail)])
}

impl Part {
    /// Returns the cause of the difference from a scheme other than the contract's, and the differing accumulator nearest to zero.
    pub fn against(&self, kernel: &Kernel, reference: Scheme) -> Result<(Option<Found>, Option<i32>), UnknownName> {
        let (contract, reference) = (Promised::by(&kernel.contract)?, Promised::plain(reference));
        let against = self.held(&contract, &reference, &kernel.contract.domain, self.broken.is_none());
        Ok((self.evidence.cause(&against), self.evidence.nearest_difference(&against)))
    }

    fn held<'a>(&self, contract: &'a Promised, scheme: &'a Promised, domain: &'a Domain, kept: bool) -> Against<'a> {
        let shift = self.evidence.near[0].case.params.params.channels[0].shift;
        Against { contract, scheme, domain, group: contract.group(self.zone, ShiftDirection::of(shift)), kept }
    }

    /// Returns the scheme that the contract promises in this place.
    pub fn promised(&self, kernel: &Kernel) -> Result<Scheme, UnknownName> {
        Ok(*Promised::by(&kernel.contract)?.at(self.zone))
    }

    /// Returns the accumulator nearest to zero on which the kernel breaks its contract.
    pub fn nearest_break(&self, kernel: &Kernel) -> Result<Option<i32>, UnknownName> {
        let contract = Promised::by(&kernel.contract)?;
        Ok(self.evidence.nearest_difference(&self.held(&contract, &contract, &kernel.contract.domain, false)))
    }
}

fn part(
    contract: &Promised,
    place: Option<&'static str>,
    evidence: Evidence,
    zone: usize,
    broken: Option<Found>,
) -> Part {
    let own = *contract.at(zone);
    let (steps, steps_of) = match &broken {
        None => {
            let named = own.definition.steps.iter().map(|(name, step)| (Name::from(*name), *step)).collect();
            (
                Some((named, own.overflow)),
                format!(
                    "the steps of {}, which it equals on all {} outputs examined",
                    text::scheme(&own.label()),
                    text::count(evidence.results() as u64)
                ),
            )
        }
        Some(Found { hypothesis: Some(h), because, .. }) => {
            let named = h.steps.iter().map(|step| (Cow::Owned(step.to_string()), *step)).collect();
            (Some((named, h.overflow)), because.clone())
        }
        Some(Found { because, .. }) => (None, because.clone()),
    };
    // The input itself is first.
    Part { place, value: evidence.near[0].outs[0], steps, steps_of, broken, evidence, zone }
}

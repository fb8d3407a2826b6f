//! Path from the reference to a contract's scheme, one change at a time, which gives the class of each difference from the reference.
//!
//! Only this operation has path steps that are not schemes: without the wrap, a wrapping left shift is distinct from a rounding.

use super::changes::multiplication;
use super::{Requantize, parameters};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, PathStep};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Params;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Parameters as Multiply, integer};
use tiebreak_oracle::requantize::{Definition, Scheme};
use tiebreak_oracle::scheme::Registered;
use tiebreak_oracle::word::Overflow;

/// Steps of the contract in which intermediates that do not fit are kept exact, saturate but do not wrap, or follow the contract.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intermediates {
    /// Class of the change.
    pub(super) class: Class,
    contract: Scheme,
    saturates: bool,
    wraps: bool,
}

impl Intermediates {
    /// Returns the steps for a channel.
    pub(super) fn steps(&self, p: &Params, channel: usize) -> Vec<Step> {
        let overflow = match self.contract.overflow {
            Overflow::Wrap if !self.wraps => Overflow::OutOfDomain,
            Overflow::Saturate if !self.saturates => Overflow::OutOfDomain,
            promised => promised,
        };
        let steps = Scheme { overflow, ..self.contract }.steps(&parameters(p), channel).into_iter();
        let kept = |step: &Step| match step {
            Step::Wrap => self.wraps,
            Step::Saturate => self.saturates,
            _ => true,
        };
        steps.map(|(_, step)| step).filter(kept).collect()
    }

    fn because(&self) -> &'static str {
        match (self.saturates, self.wraps) {
            (_, true) => "intermediates wrap as promised",
            (true, false) => "intermediates saturate as promised",
            (false, false) => "the multiplication is that of the contract, with intermediates of any size",
        }
    }

    fn predict(&self, p: &Params, acc: &[i32]) -> Vec<Option<i32>> {
        let steps: Vec<_> = (0..p.channels.len()).map(|channel| self.steps(p, channel)).collect();
        let one = |(at, x): (usize, &i32)| {
            let channel = at % p.channels.len();
            let Channel { multiplier, shift } = p.channels[channel];
            let given = integer::run(&steps[channel], (*x).into(), &Multiply::q31(multiplier, shift))?;
            i32::try_from(given).ok()
        };
        acc.iter().enumerate().map(one).collect()
    }
}

/// Returns the changes from a reference to a contract: first the contract's multiplication, then its handling of intermediates that do not fit,
/// because a wrapping left shift is no rounding difference.
pub(super) fn changes(contract: &Scheme, reference: &Scheme) -> Vec<Intermediates> {
    let has = |step: Step, overflow: Overflow| {
        let inside = match contract.definition {
            Definition::Fpm(definition) => definition.steps.iter().any(|(_, other)| *other == step),
            Definition::Legacy | Definition::LegacyTiesAway => false,
        };
        inside || contract.overflow == overflow
    };
    let change = |class, saturates, wraps| Intermediates { class, contract: *contract, saturates, wraps };
    let mut out = Vec::new();
    if contract.definition.name() != reference.definition.name() {
        out.push(change(multiplication(reference, contract).class, false, false));
    }
    if has(Step::Saturate, Overflow::Saturate) {
        out.push(change(Class::Saturation, true, false));
    }
    if has(Step::Wrap, Overflow::Wrap) {
        out.push(change(Class::Wrap, true, true));
    }
    out
}

/// Returns the changes as steps of a path.
pub(crate) fn path(contract: &Scheme, reference: &Scheme) -> Vec<PathStep<Requantize>> {
    let step = |change: Intermediates| {
        let predict = move |case: &Case<Params>| Some(change.predict(&case.params, &case.tensors[0]));
        PathStep::of(Change::predicts(change.class, change.because(), predict))
    };
    changes(contract, reference).into_iter().map(step).collect()
}

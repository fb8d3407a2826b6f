//! Class of a difference on one input that comes from the word: one party wraps or saturates, and the other does not.

use super::Party;
use tiebreak_common::Class;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Effect, Parameters, Trace};

/// Returns the class of a difference that one party's wraps or saturations make on this input; `None` if both parties lose the same by them, or
/// if the results agree.
pub fn class(left: &Party, right: &Party, p: &Parameters) -> Option<Class> {
    if left.value == right.value {
        return None;
    }
    let (before, after) = (left.trace.as_ref()?, right.trace.as_ref()?);
    if loss(before, p)? == loss(after, p)? {
        return None;
    }
    let word = |trace: &Trace, effect: Effect| {
        trace.events().any(|t| t.effect == effect && !matches!(t.step, Step::Clamp(..)))
    };
    match (word(after, Effect::Wrapped), word(before, Effect::Saturated)) {
        (true, false) => Some(Class::Wrap),
        (_, true) => Some(Class::MissingSaturation),
        _ if word(after, Effect::Saturated) => Some(Class::Saturation),
        _ if word(before, Effect::Wrapped) => Some(Class::Wrap),
        _ => None,
    }
}

/// Returns the result minus the result of the same steps without a word; `None` if these steps reject the input.
fn loss(trace: &Trace, p: &Parameters) -> Option<Rational> {
    let start = trace.steps.first()?.before.clone();
    let kept = trace.steps.iter().map(|traced| traced.step).filter(|step| !matches!(step, Step::Wrap | Step::Saturate));
    let unbounded = kept.into_iter().try_fold(start, |value, step| step.apply(value, p))?;
    Some(Rational::from(trace.result.as_ref()?) - unbounded)
}

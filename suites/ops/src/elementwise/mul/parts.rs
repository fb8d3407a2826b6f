//! Parts of a multiplication scheme, and the next scheme on the way from the exact product to a scheme.

use super::super::Parts;
use crate::fpm::hypotheses::{last_rule, structural_class};
use tiebreak_common::Class;
use tiebreak_oracle::elementwise::mul::steps::{Own, Step};
use tiebreak_oracle::elementwise::mul::{Definition, Scheme};
use tiebreak_oracle::fpm::{self, scheme::DEFINITIONS};

/// Scaling method of a scheme.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Exact scaling.
    Exact,
    /// Scheme of fixed point multiply, with the derivation of the multiplier.
    Rescaled(&'static fpm::Definition, &'static str),
    /// Steps in f32, with the derivation of the multiplier if there is a multiplier.
    Floats(Option<&'static str>),
}

/// Reads the parts of a scheme; `None` for a scheme of another form.
pub(super) fn parts(definition: &Definition) -> Option<Parts<Kind>> {
    let place = |is: fn(&Step) -> bool| definition.combined.iter().position(|(_, step)| is(step));
    let rounds = place(|step| matches!(step, Step::Round(_) | Step::Own(Own::Rescale(..))))?;
    let derivation = definition.combined.iter().find_map(|(_, step)| match step {
        Step::Own(Own::Multiply(derivation)) => Some(*derivation),
        _ => None,
    });
    let (kind, rule) = match definition.combined[rounds].1 {
        Step::Own(Own::Rescale(name, derivation)) => {
            let fpm = DEFINITIONS.iter().find(|fpm| fpm.name == name)?;
            (Kind::Rescaled(fpm, derivation), last_rule(fpm)?)
        }
        Step::Round(rule) if derivation == Some("exact") => (Kind::Exact, rule),
        Step::Round(rule) => (Kind::Floats(derivation), rule),
        _ => return None,
    };
    let zero_point_first = place(|step| *step == Step::AddZeroPoint).is_some_and(|at| at < rounds);
    Some(Parts { kind, rule, zero_point_first })
}

/// Returns the next scheme on the way to `target`, one part at a time: the rounding rule of the exact product, then the place of the zero point or
/// the multiplier, then the rest. `None` if the parts of a scheme are unknown, or if `from` is not on that way.
pub(super) fn next(from: &Scheme, target: &Scheme) -> Option<Scheme> {
    let (at, to) = (parts(from.definition)?, parts(target.definition)?);
    if from.label() == target.label() {
        return None;
    }
    match (at.kind, to.kind) {
        (Kind::Exact, _) if !at.zero_point_first && at.rule != to.rule => Some(Scheme::ideal(to.rule)),
        (Kind::Exact, Kind::Rescaled(_, derivation)) if !at.zero_point_first => {
            Some(Scheme::narrowed(derivation, to.rule))
        }
        (Kind::Rescaled(..), Kind::Rescaled(_, derivation)) => {
            (from.label() == Scheme::narrowed(derivation, to.rule).label()).then_some(*target)
        }
        (Kind::Exact, Kind::Floats(_)) if to.zero_point_first && !at.zero_point_first => {
            Some(Scheme::parse("zero-point-first-nearest-even").unwrap_or(*target))
        }
        (Kind::Exact, Kind::Floats(_)) if to.zero_point_first || !at.zero_point_first => Some(*target),
        _ => None,
    }
}

/// Returns the class of the difference between two schemes.
pub(super) fn class(own: Parts<Kind>, other: Parts<Kind>) -> Class {
    let same_order = own.zero_point_first == other.zero_point_first;
    match (own.kind, other.kind) {
        (Kind::Rescaled(own, a), Kind::Rescaled(other, b)) if a == b => structural_class(own, other),
        (Kind::Rescaled(own, _), Kind::Rescaled(other, _)) if own.name == other.name => Class::F32Step,
        (Kind::Exact, Kind::Rescaled(_, "f32")) => Class::F32Step,
        (Kind::Exact, Kind::Rescaled(..)) => Class::MultiplierNarrowed,
        (Kind::Floats(_), Kind::Exact) | (Kind::Exact, Kind::Floats(_)) => Class::F32Step,
        (Kind::Exact, Kind::Exact) if !same_order => Class::ZeroPointPlacement,
        (Kind::Exact, Kind::Exact) => Class::rounding(own.rule, other.rule),
        (Kind::Floats(Some(a)), Kind::Floats(Some(b))) if a == b && !same_order => Class::ZeroPointPlacement,
        (Kind::Floats(Some(a)), Kind::Floats(Some(b))) if a != b && same_order => Class::Reciprocal,
        _ => Class::OtherScheme,
    }
}

//! Parts of a pooling scheme, and the next scheme on the way from the exact average to a scheme.

use tiebreak_common::Class;
use tiebreak_oracle::pool::steps::{Gather, Multiplier, Step};
use tiebreak_oracle::pool::{Definition, Scheme};
use tiebreak_oracle::rounding::RoundingRule;

/// Averaging method of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Exact average of the real values.
    Real,
    /// Exact average of the stored values.
    Stored,
    /// Exact product of the sum and a multiplier.
    Multiplied(Multiplier),
    /// Product by a scheme of fixed point multiply.
    Rescaled,
    /// Steps in f32.
    Floats,
}

/// Parts of a scheme, read from its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    kind: Kind,
    rule: RoundingRule,
}

/// Reads the parts of a scheme; `None` for a maximum, or for a scheme that adds half of the count.
pub(super) fn parts(definition: &Definition) -> Option<Parts> {
    let steps = || definition.steps.iter().map(|(_, step)| *step);
    if definition.is_largest() || steps().any(|step| step == Step::AddHalfOfCount) {
        return None;
    }
    let rescaled = steps().any(|step| matches!(step, Step::Rescale(_)));
    let rule = steps().find_map(|step| match step {
        Step::Round(rule) => Some(rule),
        _ => None,
    });
    let rule = rule.or(rescaled.then_some(RoundingRule::TiesUp))?;
    let multiplier = steps().find_map(|step| match step {
        Step::Multiply(multiplier) => Some(multiplier),
        _ => None,
    });
    let kind = match (definition.gather.1, multiplier) {
        _ if rescaled => Kind::Rescaled,
        _ if steps().any(|step| step == Step::RoundToSingle) => Kind::Floats,
        (_, Some(multiplier)) => Kind::Multiplied(multiplier),
        (Gather::Stored, None) => Kind::Stored,
        _ => Kind::Real,
    };
    Some(Parts { kind, rule })
}

/// Returns the next scheme on the way to `target`: first the exact average with its rounding rule, then `target`. `None` if the parts of a scheme
/// are unknown, or if `from` is not on that way.
pub(super) fn next(from: &Scheme, target: &Scheme) -> Option<Scheme> {
    let (at, to) = (parts(from.definition)?, parts(target.definition)?);
    if from.label() == target.label() || at.kind != Kind::Real {
        return None;
    }
    if at.rule == to.rule { Some(*target) } else { Some(Scheme::ideal(to.rule)) }
}

/// Returns the class of the difference between two averages.
pub(super) fn class(own: &Definition, other: &Definition) -> Class {
    // Adding half of the count rounds some negative sums above the nearest integer.
    let adds = |definition: &Definition| definition.name == "half-added";
    if adds(own) != adds(other)
        && own.is_of_stored()
        && other.is_of_stored()
        && !own.is_largest()
        && !other.is_largest()
    {
        return Class::DirectedRounding;
    }
    let (Some(own), Some(other)) = (parts(own), parts(other)) else { return Class::OtherScheme };
    match (own.kind, other.kind) {
        (a, b) if a == b && own.rule != other.rule => Class::rounding(own.rule, other.rule),
        (Kind::Real, Kind::Stored) | (Kind::Stored, Kind::Real) if own.rule == other.rule => Class::ZeroPointPlacement,
        (Kind::Real, Kind::Multiplied(_)) | (Kind::Multiplied(_), Kind::Real) if own.rule == other.rule => {
            Class::MultiplierNarrowed
        }
        (Kind::Real, Kind::Rescaled) | (Kind::Rescaled, Kind::Real) if own.rule == other.rule => {
            Class::MultiplierNarrowed
        }
        (Kind::Real, Kind::Floats) | (Kind::Floats, Kind::Real) if own.rule == other.rule => Class::F32Step,
        _ => Class::OtherScheme,
    }
}

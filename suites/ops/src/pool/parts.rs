//! Parts of a pooling scheme, and the next scheme on the way from the exact average to it.

use tiebreak_common::class::Class;
use tiebreak_oracle::pool::steps::{Gather, Multiplier, Step};
use tiebreak_oracle::pool::{Definition, Scheme};
use tiebreak_oracle::rounding::RoundingRule;

/// Way in which a scheme averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The reals, exactly.
    Real,
    /// The stored values, exactly.
    Stored,
    /// By a multiplier of the sum, exactly.
    Multiplied(Multiplier),
    /// By a scheme of fixed point multiply.
    Rescaled,
    /// By steps in f32.
    Floats,
}

/// Parts of a scheme, read from its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    kind: Kind,
    rule: RoundingRule,
}

/// Parts of a scheme; none of a maximum, or of one that adds half of the count.
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

/// The next scheme on the way to another: the rule of the exact average, then the rest. None if the parts of either are not known, or the first is not on that way.
pub(super) fn next(from: &Scheme, target: &Scheme) -> Option<Scheme> {
    let (at, to) = (parts(from.definition)?, parts(target.definition)?);
    if from.label() == target.label() || at.kind != Kind::Real {
        return None;
    }
    if at.rule == to.rule { Some(*target) } else { Some(Scheme::ideal(to.rule)) }
}

/// Class of an average by another scheme.
pub(super) fn class(own: &Definition, other: &Definition) -> Class {
    // Half of the count takes negative sums to an integer above the nearest.
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

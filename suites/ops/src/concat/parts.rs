//! Parts of a concatenation scheme, and the next scheme on the way from the exact value to a scheme.

use tiebreak_common::Class;
use tiebreak_oracle::concat::steps::{Factor, Step};
use tiebreak_oracle::concat::{Definition, Scheme};
use tiebreak_oracle::rounding::RoundingRule;

/// Rescaling method of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Exact value, rounded once.
    Exact,
    /// Multiplication by a multiplier of fewer bits.
    Multiplied(Factor),
    /// Steps in f32: a product and a bias.
    Biased,
    /// Steps in f32: a product and a quotient.
    Divided,
}

/// Parts of a scheme, read from its steps.
#[derive(Clone, Copy, Debug)]
struct Parts {
    kind: Kind,
    rule: RoundingRule,
    /// True if the output's zero point is added before the rounding.
    placed: bool,
}

/// Reads the parts of a scheme; `None` for a copy.
fn parts(definition: &Definition) -> Option<Parts> {
    let steps = || definition.steps.iter().map(|(_, step)| *step);
    let rounding = steps().position(|step| matches!(step, Step::Round(_)))?;
    let Step::Round(rule) = definition.steps[rounding].1 else { return None };
    let placed = steps().take(rounding).any(|step| step == Step::AddZeroPoint);
    let factor = steps().find_map(|step| match step {
        Step::Multiply(factor) => Some(factor),
        _ => None,
    });
    let kind = match factor {
        Some(Factor::ByReciprocal) => Kind::Biased,
        Some(factor) => Kind::Multiplied(factor),
        None if steps().any(|step| step == Step::RoundToSingle) => Kind::Divided,
        None => Kind::Exact,
    };
    Some(Parts { kind, rule, placed })
}

/// Returns the next scheme toward `target`: first the exact value with its rounding rule, then `target`. `None` if `from` leads elsewhere.
pub(super) fn next(from: &Scheme, target: &Scheme) -> Option<Scheme> {
    let (at, to) = (parts(from.definition)?, parts(target.definition)?);
    if from.label() == target.label() || at.kind != Kind::Exact || at.placed {
        return None;
    }
    if at.rule == to.rule { Some(*target) } else { Some(Scheme::ideal(to.rule)) }
}

/// Returns the class of the difference between two rescaling schemes.
pub(super) fn class(own: &Definition, other: &Definition) -> Class {
    let (Some(own), Some(other)) = (parts(own), parts(other)) else { return Class::OtherScheme };
    let one_is = |kind: fn(Kind) -> bool| kind(own.kind) != kind(other.kind);
    match (own.kind == other.kind, own.placed == other.placed, own.rule == other.rule) {
        (true, false, true) => Class::ZeroPointPlacement,
        (true, true, false) => Class::rounding(own.rule, other.rule),
        (false, true, true)
            if one_is(|kind| matches!(kind, Kind::Multiplied(_))) && one_is(|kind| kind == Kind::Exact) =>
        {
            Class::MultiplierNarrowed
        }
        (false, true, true) if one_is(|kind| kind == Kind::Exact) => Class::F32Step,
        (false, true, true) if own.kind != Kind::Biased && other.kind != Kind::Biased => Class::MultiplierNarrowed,
        _ => Class::OtherScheme,
    }
}

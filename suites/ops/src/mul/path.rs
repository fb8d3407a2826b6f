//! How the exact product, rounded once, becomes the scheme of a contract, one change at a time: what each difference from it is due to.

use super::Mul;
use crate::fpm::hypotheses::last_rule;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::PathStep;
use tiebreak_oracle::fpm::{self, scheme::DEFINITIONS};
use tiebreak_oracle::mul::steps::Step;
use tiebreak_oracle::mul::{Definition, Scheme};
use tiebreak_oracle::rounding::RoundingRule;

/// How a scheme scales.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Exactly.
    Exact,
    /// By a scheme of fixed point multiply, with a multiplier of this derivation.
    Rescaled(&'static fpm::Definition, &'static str),
    /// By steps in f32, with a multiplier of this derivation if there is one.
    Floats(Option<&'static str>),
}

/// What a scheme is made of, read from its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) kind: Kind,
    /// The rule by which it rounds last.
    pub(super) rule: RoundingRule,
    /// Whether the zero point is added before the rounding.
    pub(super) zero_point_first: bool,
}

/// What a scheme is made of.
pub(super) fn parts(definition: &Definition) -> Option<Parts> {
    let place = |is: fn(&Step) -> bool| definition.product.iter().position(|(_, step)| is(step));
    let rounds = place(|step| matches!(step, Step::Round(_) | Step::Rescale(..)))?;
    let derivation = definition.product.iter().find_map(|(_, step)| match step {
        Step::Multiply(derivation) => Some(*derivation),
        _ => None,
    });
    let (kind, rule) = match definition.product[rounds].1 {
        Step::Rescale(name, derivation) => {
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

/// The class of a multiplier that is made of a quotient of this derivation, where the exact one is promised.
pub(super) fn narrowed(derivation: &str) -> Class {
    if derivation == "f32" { Class::F32Step } else { Class::MultiplierNarrowed }
}

/// The path from an exact product rounded by a rule to a contract; none where it is not known what either is made of.
pub(super) fn path(contract: &Scheme, reference: &Scheme) -> Vec<PathStep<Mul>> {
    let (Some(to), Some(from)) = (parts(contract.definition), parts(reference.definition)) else { return Vec::new() };
    if !matches!(from, Parts { kind: Kind::Exact, zero_point_first: false, .. }) {
        return Vec::new();
    }
    let mut out = Vec::new();
    if to.rule != from.rule {
        out.push(PathStep::of(Class::rounding(from.rule, to.rule), Scheme::ideal(to.rule)));
    }
    match to.kind {
        Kind::Rescaled(_, derivation) => {
            out.push(PathStep::of(narrowed(derivation), Scheme::narrowed(derivation, to.rule)));
            out.push(PathStep::of(Class::DoubleRounding, *contract));
        }
        Kind::Floats(_) => {
            let placed = Scheme::parse("zero-point-first-nearest-even").ok().filter(|_| to.zero_point_first);
            out.extend(placed.map(|scheme| PathStep::of(Class::ZeroPointPlacement, scheme)));
            out.push(PathStep::of(Class::F32Step, *contract));
        }
        Kind::Exact => {}
    }
    out
}

//! How the exact sum becomes the scheme of a contract, one change at a time: what each difference from it is due to.

use super::Add;
use crate::fpm::hypotheses::last_rule;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::PathStep;
use tiebreak_oracle::add::steps::Step;
use tiebreak_oracle::add::{Definition, Scheme};
use tiebreak_oracle::fpm::{self, scheme::DEFINITIONS};
use tiebreak_oracle::rounding::RoundingRule;

/// How a scheme scales.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Exactly.
    Exact,
    /// Exactly, by the multipliers of a rescaling.
    Narrowed,
    /// By three rescales, each by this scheme of fixed point multiply.
    Rescaled(&'static fpm::Definition),
    /// By integer multipliers and one shift.
    Fixed,
    /// By steps in f32.
    Floats,
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
    let kind = definition.term.iter().chain(definition.sum).find_map(|(_, step)| match step {
        Step::Rescale(name, _) => DEFINITIONS.iter().find(|fpm| fpm.name == *name).map(Kind::Rescaled),
        Step::Multiply(_) => Some(Kind::Narrowed),
        Step::Fixed(_) => Some(Kind::Fixed),
        Step::RoundToSingle => Some(Kind::Floats),
        _ => None,
    });
    let kind = kind.unwrap_or(Kind::Exact);
    let place = |is: fn(&Step) -> bool| definition.sum.iter().position(|(_, step)| is(step));
    let rounds = place(|step| matches!(step, Step::Round(_) | Step::Rescale(..)))?;
    let rule = match (kind, definition.sum[rounds].1) {
        (_, Step::Round(rule)) => rule,
        (Kind::Rescaled(fpm), _) => last_rule(fpm)?,
        _ => return None,
    };
    let zero_point_first = place(|step| *step == Step::AddZeroPoint).is_some_and(|at| at < rounds);
    Some(Parts { kind, rule, zero_point_first })
}

/// The path from an exact sum rounded by a rule to a contract; none where it is not known what either is made of.
pub(super) fn path(contract: &Scheme, reference: &Scheme) -> Vec<PathStep<Add>> {
    let (Some(to), Some(from)) = (parts(contract.definition), parts(reference.definition)) else { return Vec::new() };
    if !matches!(from, Parts { kind: Kind::Exact, zero_point_first: false, .. }) {
        return Vec::new();
    }
    let mut out = Vec::new();
    if to.rule != from.rule {
        out.push(PathStep::of(Class::rounding(from.rule, to.rule), Scheme::ideal(to.rule)));
    }
    match to.kind {
        Kind::Rescaled(_) => {
            out.push(PathStep::of(Class::MultiplierNarrowed, Scheme::narrowed(to.rule)));
            out.push(PathStep::of(Class::DoubleRounding, *contract));
        }
        Kind::Narrowed | Kind::Fixed => out.push(PathStep::of(Class::MultiplierNarrowed, *contract)),
        Kind::Floats => {
            let placed = Scheme::parse("zero-point-first-nearest-even").ok().filter(|_| to.zero_point_first);
            out.extend(placed.map(|scheme| PathStep::of(Class::ZeroPointPlacement, scheme)));
            out.push(PathStep::of(Class::F32Step, *contract));
        }
        Kind::Exact => {}
    }
    out
}

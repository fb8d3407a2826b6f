//! Parts of an addition or subtraction scheme, and the next scheme on the way from the exact sum to a scheme.

use super::super::Parts;
use crate::fpm::hypotheses::{last_rule, structural_class};
use tiebreak_common::Class;
use tiebreak_oracle::elementwise::Definition;
use tiebreak_oracle::elementwise::add::Sum;
use tiebreak_oracle::elementwise::add::steps::{Factor, Own, Step};
use tiebreak_oracle::fpm::{self, scheme::DEFINITIONS};
use tiebreak_oracle::scheme::Scheme;

/// Scaling method of a scheme.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Exact scaling.
    Exact,
    /// Exact scaling by the multipliers of a rescaling.
    Narrowed,
    /// Three rescales by a scheme of fixed point multiply.
    Rescaled(&'static fpm::Definition),
    /// As [`Kind::Rescaled`], but with a negated multiplier for the right operand.
    Negated(&'static fpm::Definition),
    /// Separate scaling of each operand by a scheme of fixed point multiply, and an integer sum.
    Operands(&'static fpm::Definition),
    /// Scaling by integer multipliers and one shift.
    Fixed,
    /// Scaling by steps in f32.
    Floats,
}

/// Reads the parts of a scheme; `None` for a scheme of another form.
pub(in super::super) fn parts<A: Sum>(definition: &'static Definition<A>) -> Option<Parts<Kind>> {
    let kind = definition.operand.iter().chain(definition.combined).find_map(|(_, step)| match step {
        Step::Own(Own::Rescale(name, _)) => DEFINITIONS.iter().find(|fpm| fpm.name == *name).map(Kind::Rescaled),
        Step::Own(Own::RescaleNegated(name, _)) => DEFINITIONS.iter().find(|fpm| fpm.name == *name).map(Kind::Negated),
        Step::Own(Own::Multiply(_)) => Some(Kind::Narrowed),
        Step::Own(Own::Fixed(_)) => Some(Kind::Fixed),
        Step::RoundToSingle => Some(Kind::Floats),
        _ => None,
    });
    if let (Some(Kind::Rescaled(fpm)), [_]) = (kind, definition.operand)
        && matches!(definition.operand[0].1, Step::Own(Own::Rescale(_, Factor::Ratio)))
    {
        return Some(Parts { kind: Kind::Operands(fpm), rule: last_rule(fpm)?, zero_point_first: false });
    }
    let kind = kind.unwrap_or(Kind::Exact);
    let place = |is: fn(&Step) -> bool| definition.combined.iter().position(|(_, step)| is(step));
    let rounds = place(|step| matches!(step, Step::Round(_) | Step::Own(Own::Rescale(..))))?;
    let rule = match (kind, definition.combined[rounds].1) {
        (_, Step::Round(rule)) => rule,
        (Kind::Rescaled(fpm) | Kind::Negated(fpm), _) => last_rule(fpm)?,
        _ => return None,
    };
    let zero_point_first = place(|step| *step == Step::AddZeroPoint).is_some_and(|at| at < rounds);
    Some(Parts { kind, rule, zero_point_first })
}

/// Returns the next scheme on the way to `target`, one part at a time: the rounding rule of the exact sum, then the place of the zero point or the
/// multipliers, then the rest. `None` if the parts of a scheme are unknown, or if `from` is not on that way.
pub(in super::super) fn next<A: Sum>(
    from: &Scheme<&'static Definition<A>>,
    target: &Scheme<&'static Definition<A>>,
) -> Option<Scheme<&'static Definition<A>>> {
    let (at, to) = (parts(from.definition)?, parts(target.definition)?);
    let on_the_way = match (at.kind, to.kind) {
        (Kind::Exact, _) => !at.zero_point_first || to.zero_point_first,
        (Kind::Narrowed, Kind::Rescaled(_) | Kind::Negated(_)) => at.rule == to.rule,
        _ => false,
    };
    if !on_the_way || from.label() == target.label() {
        return None;
    }
    Some(match (at.kind, to.kind) {
        (Kind::Exact, _) if !at.zero_point_first && at.rule != to.rule => {
            Scheme::<&'static Definition<A>>::ideal(to.rule)
        }
        (Kind::Exact, Kind::Rescaled(_) | Kind::Negated(_)) => Scheme::<&'static Definition<A>>::narrowed(to.rule),
        (Kind::Exact, Kind::Floats) if to.zero_point_first && !at.zero_point_first => {
            Scheme::<&'static Definition<A>>::parse("zero-point-first-nearest-even").unwrap_or(*target)
        }
        (Kind::Exact, Kind::Exact) if at.zero_point_first == to.zero_point_first => return None,
        _ => *target,
    })
}

/// Returns the class of the difference between two schemes.
pub(in super::super) fn class(own: Parts<Kind>, other: Parts<Kind>) -> Class {
    match (own.kind, other.kind) {
        (Kind::Rescaled(own), Kind::Rescaled(other)) | (Kind::Operands(own), Kind::Operands(other)) => {
            structural_class(own, other)
        }
        (Kind::Operands(_), Kind::Exact | Kind::Narrowed) | (Kind::Exact | Kind::Narrowed, Kind::Operands(_)) => {
            Class::DoubleRounding
        }
        (Kind::Rescaled(own), Kind::Negated(other)) | (Kind::Negated(own), Kind::Rescaled(other))
            if own.name == other.name =>
        {
            Class::OperandSign
        }
        (Kind::Floats, Kind::Exact) | (Kind::Exact, Kind::Floats) => Class::F32Step,
        (Kind::Exact, Kind::Exact) if own.zero_point_first != other.zero_point_first => Class::ZeroPointPlacement,
        (Kind::Exact, Kind::Exact) | (Kind::Narrowed, Kind::Narrowed) => Class::rounding(own.rule, other.rule),
        (Kind::Exact, Kind::Narrowed | Kind::Fixed) => Class::MultiplierNarrowed,
        (Kind::Narrowed, Kind::Rescaled(_) | Kind::Negated(_)) => Class::DoubleRounding,
        _ => Class::OtherScheme,
    }
}

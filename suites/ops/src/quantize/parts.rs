//! Parts of a quantize scheme, read from its steps, and every change of a single part.

use super::Promised;
use tiebreak_common::Class;
use tiebreak_engine::operation::Lead;
use tiebreak_impls::quantized::Expressed;
use tiebreak_oracle::quantize::Scheme;
use tiebreak_oracle::quantize::scheme::DEFINITIONS;
use tiebreak_oracle::quantize::steps::{Addend, Step};
use tiebreak_oracle::rounding::RoundingRule::{self, *};
use tiebreak_oracle::word::Overflow;

/// Step with its name.
pub type Named = (&'static str, Step);

/// Name of the magic bias: adding and subtracting it rounds an f32 to an integer, ties to even.
const MAGIC: &str = "the magic bias rounds";

/// Rounding rules, in the order in which they are tried.
pub(super) const RULES: [RoundingRule; 8] =
    [TiesEven, TiesAway, TiesUp, TiesDown, TiesToZero, TowardZero, TowardNegative, TowardPositive];

/// Parts of a quantize scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Rule of the rounding to an integer.
    pub rule: RoundingRule,
    /// True if the zero point is added after the rounding.
    pub after: bool,
    /// True if steps are rounded in the expressed type.
    pub steps: bool,
    /// True if the scheme multiplies by the rounded reciprocal of the scale.
    pub reciprocal: bool,
}

/// Part of a scheme that a change replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Rounding rule.
    Rule,
    /// Place of the zero point.
    ZeroPoint,
    /// Division, or multiplication by the reciprocal.
    Reciprocal,
    /// Rounding of steps.
    Steps,
}

/// Change of a single part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartChange {
    pub(super) part: Part,
    pub(super) from: Parts,
    pub(super) to: Parts,
}

/// Replaces a magic bias in a step list by the equivalent rounding to an integer.
pub fn spelled(list: &[Named]) -> Vec<Named> {
    let mut list = list.to_vec();
    let magic = |w: &[Named]| match [w[0].1, w[1].1, w[2].1] {
        [Step::Add(Addend::Constant(a)), Step::RoundToFormat, Step::Add(Addend::Constant(b))] => a == -b,
        _ => false,
    };
    if let Some(at) = list.windows(3).position(magic) {
        list.splice(at..at + 3, [(MAGIC, Step::RoundToInteger(TiesEven))]);
    }
    list
}

impl Parts {
    /// Reads the parts of a step list; `None` if it does not round to an integer.
    pub fn of(list: &[Named]) -> Option<Self> {
        let list = spelled(list);
        let place = |is: fn(&Step) -> bool| list.iter().position(|(_, step)| is(step));
        let (rounds, rule) = list.iter().enumerate().find_map(|(at, (_, step))| match step {
            Step::RoundToInteger(rule) | Step::Convert(rule) => Some((at, *rule)),
            _ => None,
        })?;
        Some(Self {
            rule,
            after: place(|step| matches!(step, Step::Add(_))) > Some(rounds),
            steps: place(|step| *step == Step::RoundToFormat).is_some(),
            reciprocal: place(|step| *step == Step::MultiplyByReciprocal).is_some(),
        })
    }

    /// Returns the first scheme with these parts; its conversion saturates.
    pub(super) fn scheme(self) -> Option<Scheme> {
        let definition = DEFINITIONS.iter().find(|definition| Self::of(definition.steps) == Some(self))?;
        let overflow = if definition.converts() { Overflow::Saturate } else { Overflow::OutOfDomain };
        Some(Scheme { definition, overflow })
    }

    /// Returns every change of a single part, in the order of preference. A reciprocal matters only if steps are rounded.
    pub(super) fn changes(self) -> Vec<PartChange> {
        let rules = RULES.into_iter().filter(|rule| *rule != self.rule);
        let rules = rules.map(|rule| (Part::Rule, Self { rule, ..self }));
        let placed = (Part::ZeroPoint, Self { after: !self.after, ..self });
        let reciprocal = (Part::Reciprocal, Self { reciprocal: !self.reciprocal, ..self });
        let steps = (Part::Steps, Self { steps: !self.steps, reciprocal: false, ..self });
        let all = rules.chain([placed]).chain(Some(reciprocal).filter(|_| self.steps)).chain([steps]);
        all.map(|(part, to)| PartChange { part, from: self, to }).collect()
    }

    /// Returns the number of parts that differ.
    fn distance(self, other: Self) -> usize {
        let others = [
            self.rule != other.rule,
            self.after != other.after,
            self.steps != other.steps,
            self.reciprocal != other.reciprocal,
        ];
        others.into_iter().filter(|other| *other).count()
    }
}

impl PartChange {
    /// Returns the lead of the change toward a scheme.
    pub(super) fn lead(&self, target: &Promised) -> Lead<Promised> {
        match Parts::of(target.scheme.definition.steps) {
            Some(to) if to == self.to => Lead::To(target.clone()),
            Some(to) if self.to.distance(to) < self.from.distance(to) => {
                self.to.scheme().map_or(Lead::Nearer, |scheme| Lead::To(Promised::plain(scheme)))
            }
            _ => Lead::Away,
        }
    }

    /// Returns the class of the difference in an expressed type.
    pub(super) fn class(&self, expressed: Expressed) -> Class {
        match self.part {
            Part::Rule => Class::rounding(self.from.rule, self.to.rule),
            Part::ZeroPoint => Class::ZeroPointPlacement,
            Part::Reciprocal => Class::Reciprocal,
            Part::Steps => Class::step(expressed),
        }
    }

    /// Describes the change in an expressed type.
    pub(super) fn because(&self, expressed: Expressed) -> String {
        match self.part {
            Part::Rule => format!("rounded by {}", self.to.rule.name()),
            Part::ZeroPoint if self.to.after => "the zero point is added after the rounding".to_owned(),
            Part::ZeroPoint => "the zero point is added before the rounding".to_owned(),
            Part::Reciprocal if self.to.reciprocal => "multiplied by the rounded 1/scale".to_owned(),
            Part::Reciprocal => "divided by the scale".to_owned(),
            Part::Steps if self.to.steps => format!("every step is rounded in {}", expressed.name()),
            Part::Steps => format!("no step is rounded in {}", expressed.name()),
        }
    }
}

/// Returns the contract's scheme with the rounding rule of the reference and a saturating conversion: the effect of the format alone. `None` unless
/// steps are rounded, the zero point is added before the rounding, and the rules differ.
pub(super) fn ideal_steps(contract: &Scheme, reference: &Scheme) -> Option<Scheme> {
    let (to, from) = (Parts::of(contract.definition.steps)?, Parts::of(reference.definition.steps)?);
    let other = to.steps && !to.after && to.rule != from.rule;
    Parts { rule: from.rule, ..to }.scheme().filter(|_| other)
}

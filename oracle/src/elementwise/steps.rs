//! Steps of elementwise schemes, exact on rationals.

use super::{Arithmetic, Parameters, Side};
use crate::derivation::dyadic::nearest;
use crate::float::Format::F32;
use crate::rounding::RoundingRule;
use crate::word::Overflow;
use rug::Rational;
use std::fmt::Debug;

/// One exact step. `v` is the value so far; `S` is the type of the steps used only by one arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<S> {
    /// `v` times the operand's scale.
    Scale,
    /// `v` divided by the output's scale.
    DivideByOutput,
    /// `v` rounded to f32, ties to even.
    RoundToSingle,
    /// `v` rounded to an integer.
    Round(RoundingRule),
    /// `v` clamped to `min - zero_point ..= max - zero_point`.
    ClampBeforeZeroPoint,
    /// `v` plus the output's zero point.
    AddZeroPoint,
    /// `v` clamped.
    Clamp,
    /// Step used only by this arithmetic.
    Own(S),
}

/// Step with its name in the source.
pub type Named<S> = (&'static str, Step<S>);

/// Step used only by one arithmetic.
pub trait OwnStep<A: Arithmetic>: Copy + Debug + Eq + Send + Sync {
    /// Computes the value after the step; `None` if the step is out of domain. `side` is `None` after the operands are combined.
    fn apply(self, v: Rational, overflow: Overflow, c: &Constants<'_, A>, side: Option<Side>) -> Option<Rational>;
}

/// Constants that the steps derive from a batch's parameters.
#[derive(Clone, Debug)]
pub struct Constants<'p, A: Arithmetic> {
    pub(super) p: &'p Parameters<A>,
    /// Scales of both operands and of the result.
    scales: [Rational; 3],
    /// Constants of the steps used only by this arithmetic.
    pub(super) own: A::Constants,
}

impl<'p, A: Arithmetic> Constants<'p, A> {
    /// Computes the constants for these parameters.
    pub fn new(p: &'p Parameters<A>) -> Self {
        let scales = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
        Self { p, own: A::constants(p, &scales), scales }
    }

    /// Computes the value after all steps; `None` if a step is out of domain. `side` is `None` after the operands are combined.
    pub fn all(
        &self,
        steps: &[Named<A::Step>],
        v: Rational,
        overflow: Overflow,
        side: Option<Side>,
    ) -> Option<Rational> {
        steps.iter().try_fold(v, |v, (_, step)| self.apply(*step, v, overflow, side))
    }

    /// Computes the value after one step.
    fn apply(&self, step: Step<A::Step>, v: Rational, overflow: Overflow, side: Option<Side>) -> Option<Rational> {
        let p = self.p;
        Some(match step {
            Step::Scale => v * &self.scales[index(side)],
            Step::DivideByOutput => v / &self.scales[2],
            Step::RoundToSingle => nearest(F32, &v),
            Step::Round(rule) => rule.round(&v).into(),
            Step::ClampBeforeZeroPoint => v.clamp(&(p.min - p.out.zero_point), &(p.max - p.out.zero_point)),
            Step::AddZeroPoint => v + p.out.zero_point,
            Step::Clamp => v.clamp(&p.min, &p.max),
            Step::Own(own) => own.apply(v, overflow, self, side)?,
        })
    }
}

/// Returns the index of an operand, or of the result: 0, 1 or 2.
pub(super) fn index(side: Option<Side>) -> usize {
    side.map_or(2, |side| side as usize)
}

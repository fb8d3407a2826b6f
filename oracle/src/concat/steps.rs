//! Steps of the schemes of a concatenation, exact on rationals.

use super::{Concatenation, Definition, Input};
use crate::derivation::dyadic::nearest;
use crate::derivation::quantize_multiplier;
use crate::float::Format::{F32, F64};
use crate::rounding::RoundingRule::{self, TiesEven};
use rug::{Integer, Rational};

/// Factor computed from both scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// `f32(input scale * f32(1 / output scale))`.
    ByReciprocal,
    /// Q0.31 multiplier and shift of `f64(input scale / output scale)`.
    Q31,
    /// `f32(input scale / output scale)` times 256, rounded to an integer, ties to even; divided by 256.
    EightBits,
}

/// One exact step. `v` is the value so far, at first the stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `v` minus the input's zero point.
    Subtract,
    /// `v` times the input's scale.
    Scale,
    /// `v` divided by the output's scale.
    DivideByOutput,
    /// `v` times a factor.
    Multiply(Factor),
    /// `v` minus the product of the input's zero point and a factor, rounded to f32.
    SubtractProduct(Factor),
    /// `v` rounded to f32, ties to even.
    RoundToSingle,
    /// `v` rounded to an integer.
    Round(RoundingRule),
    /// `v` plus the output's zero point.
    AddZeroPoint,
    /// `v` clamped to the type.
    Clamp,
}

/// Step with its name in the source.
pub type Named = (&'static str, Step);

/// One result, with the exact value after every step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Stored value.
    pub stored: i32,
    /// Steps from the stored value on.
    pub steps: Vec<(&'static str, Step, Rational)>,
}

impl Factor {
    fn exact(self, p: &Concatenation, input: &Input) -> Rational {
        let (own, out) = (input.operand.exact_scale(), p.out.exact_scale());
        match self {
            Self::ByReciprocal => nearest(F32, &(own * nearest(F32, &out.recip()))),
            Self::Q31 => {
                let (m, s) = quantize_multiplier(&nearest(F64, &(own / out))).expect("a positive number");
                Rational::from(m) << (s - 31)
            }
            Self::EightBits => Rational::from(TiesEven.round(&(nearest(F32, &(own / out)) << 8))) >> 8,
        }
    }
}

impl Step {
    fn apply(self, v: Rational, p: &Concatenation, input: &Input) -> Rational {
        match self {
            Self::Subtract => v - input.operand.zero_point,
            Self::Scale => v * input.operand.exact_scale(),
            Self::DivideByOutput => v / p.out.exact_scale(),
            Self::Multiply(factor) => v * factor.exact(p, input),
            Self::SubtractProduct(factor) => {
                v - nearest(F32, &(factor.exact(p, input) * Rational::from(input.operand.zero_point)))
            }
            Self::RoundToSingle => nearest(F32, &v),
            Self::Round(rule) => rule.round(&v).into(),
            Self::AddZeroPoint => v + p.out.zero_point,
            Self::Clamp => v.clamp(&p.storage.min(), &p.storage.max()),
        }
    }
}

impl Definition {
    /// Computes the result of a stored value of an input.
    pub(super) fn result(&self, p: &Concatenation, input: &Input, stored: i32) -> Integer {
        let result = self.steps.iter().fold(Rational::from(stored), |v, (_, step)| step.apply(v, p, input));
        assert!(result.is_integer(), "{} ends in the fraction {result}", self.name);
        result.into_numer_denom().0
    }

    /// Traces the steps of a stored value of an input.
    pub(super) fn trace(&self, p: &Concatenation, input: &Input, stored: i32) -> Trace {
        let mut value = Rational::from(stored);
        let mut steps = Vec::new();
        for (name, step) in self.steps {
            value = step.apply(value, p, input);
            steps.push((*name, *step, value.clone()));
        }
        Trace { stored, steps }
    }
}

//! Steps of pooling schemes, exact on rationals.

use super::windows::Window;
use super::{Definition, Pooling};
use crate::derivation::dyadic::nearest;
use crate::derivation::quantize_multiplier;
use crate::float::Format::{F32, F64};
use crate::fpm;
use crate::rounding::RoundingRule;
use crate::word::Overflow;
use rug::{Integer, Rational};

/// Reduction of the elements of a window to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// Sum of the stored values.
    Stored,
    /// Sum of the differences from the zero point.
    Centred,
    /// Sum of the reals in f32, row by row, with each real rounded to f32.
    Singles,
    /// Largest stored value.
    Largest,
}

/// Multiplier of a sum of differences, which includes both scales and the divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplier {
    /// `f32(input scale / f32(output scale * count))`.
    Single,
    /// `f32(f64(f64(input scale / output scale) / count))`.
    Double,
    /// Equal scales only: `floor((2^30 + 1) * 2^k / count) / 2^(30 + k)`, with 2^k the least power of two that is at least the count.
    Reciprocal,
}

/// Exact step. `v` is the value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `v` plus half of the divisor, rounded down.
    AddHalfOfCount,
    /// `v` divided by the divisor.
    DivideByCount,
    /// `v` times the input's scale over the output's scale.
    MultiplyByScales,
    /// `v` divided by the output's scale.
    DivideByScale,
    /// `v` times a multiplier.
    Multiply(Multiplier),
    /// `v` multiplied by a scheme of fixed point multiply, with the Q0.31 multiplier and the shift of [`Multiplier::Single`].
    Rescale(&'static str),
    /// `v` rounded to f32, ties to even.
    RoundToSingle,
    /// `v` rounded to an integer.
    Round(RoundingRule),
    /// `v` plus the output's zero point.
    AddZeroPoint,
    /// `v` clamped.
    Clamp,
}

impl Gather {
    fn of(self, p: &Pooling, window: &Window) -> Rational {
        let zero_point = p.input.zero_point;
        let wrapped = |sum: i64| Rational::from(p.sum.wrap(sum));
        match self {
            Self::Stored => wrapped(window.stored.iter().map(|v| i64::from(*v)).sum()),
            Self::Centred => wrapped(window.stored.iter().map(|v| i64::from(*v) - i64::from(zero_point)).sum()),
            Self::Singles => {
                let scale = p.input.exact_scale();
                let real = |v: &i32| nearest(F32, &(Rational::from(v - zero_point) * &scale));
                window.stored.iter().fold(Rational::new(), |sum, v| nearest(F32, &(sum + real(v))))
            }
            Self::Largest => Rational::from(window.stored.iter().copied().max().unwrap_or_default()),
        }
    }
}

impl Multiplier {
    /// Returns the multiplier of a window.
    pub fn exact(self, p: &Pooling, count: usize) -> Rational {
        let (input, out, count) = (p.input.exact_scale(), p.out.exact_scale(), Integer::from(count));
        match self {
            Self::Single => nearest(F32, &(input / nearest(F32, &(out * &count)))),
            Self::Double => nearest(F32, &nearest(F64, &(nearest(F64, &(input / out)) / &count))),
            Self::Reciprocal => {
                let k = Integer::from(&count - 1u32).significant_bits();
                let numerator = ((Integer::from(1) << 30) + 1u32) << k;
                Rational::from(numerator / count) >> (30 + k)
            }
        }
    }
}

impl Definition {
    /// Computes the result of a window; `None` if a step is out of domain.
    pub(super) fn result(&self, overflow: Overflow, p: &Pooling, window: &Window) -> Option<Integer> {
        let count = window.count(p);
        let steps = self.steps.iter();
        let result = steps
            .map(|(_, step)| *step)
            .try_fold(self.gather.1.of(p, window), |v, step| step.apply(v, overflow, p, count))?;
        assert!(result.is_integer(), "{} ends in the fraction {result}", self.name);
        Some(result.into_numer_denom().0)
    }
}

/// One result of a pooling, with the exact value after every step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Number of image elements in the window.
    pub elements: usize,
    /// Divisor of an average.
    pub count: usize,
    /// Name and value of the reduction of the elements.
    pub gathered: (&'static str, Rational),
    /// Later steps, up to the first step without a value, if any.
    pub steps: Vec<(&'static str, Step, Option<Rational>)>,
}

impl Definition {
    /// Traces the steps of a window.
    pub(super) fn trace(&self, overflow: Overflow, p: &Pooling, window: &Window) -> Trace {
        let (count, (name, gather)) = (window.count(p), self.gather);
        let first = gather.of(p, window);
        let mut value = Some(first.clone());
        let mut steps = Vec::new();
        for (name, step) in self.steps {
            let Some(before) = value else { break };
            value = step.apply(before, overflow, p, count);
            steps.push((*name, *step, value.clone()));
        }
        Trace { elements: window.stored.len(), count, gathered: (name, first), steps }
    }
}

impl Step {
    fn apply(self, v: Rational, overflow: Overflow, p: &Pooling, count: usize) -> Option<Rational> {
        Some(match self {
            Self::AddHalfOfCount => v + Integer::from(count / 2),
            Self::DivideByCount => v / Integer::from(count),
            Self::MultiplyByScales => v * p.input.exact_scale() / p.out.exact_scale(),
            Self::DivideByScale => v / p.out.exact_scale(),
            Self::Multiply(multiplier) => v * multiplier.exact(p, count),
            Self::Rescale(name) => {
                let (m, s) = quantize_multiplier(&Multiplier::Single.exact(p, count))?;
                fpm::Scheme::find(name, overflow)?.exact(v.numer().to_i64()?, &fpm::Parameters::q31(m, s))?.into()
            }
            Self::RoundToSingle => nearest(F32, &v),
            Self::Round(rule) => rule.round(&v).into(),
            Self::AddZeroPoint => v + p.out.zero_point,
            Self::Clamp => v.clamp(&p.min, &p.max),
        })
    }
}

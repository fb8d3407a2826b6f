//! The vocabulary of multiplication schemes: exact steps on rationals.

use super::Parameters;
use crate::derivation::dyadic::nearest;
use crate::derivation::{DERIVATIONS, Scales, quantize_multiplier};
use crate::float::Format::F32;
use crate::fpm;
use crate::rounding::RoundingRule;
use crate::word::Overflow;
use rug::Rational;

/// One exact step. `v` is the value so far. The real multiplier, `lhs_scale * rhs_scale / out_scale`, is that of the named derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `v` times the operand's scale.
    Scale,
    /// `v` over the output's scale.
    DivideByOutput,
    /// `v` times the real multiplier.
    Multiply(&'static str),
    /// `v` by a scheme of fixed point multiply, first named, with the Q0.31 multiplier and the shift of the real multiplier.
    Rescale(&'static str, &'static str),
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
}

/// The constants that the steps derive from a batch's parameters.
#[derive(Clone, Debug)]
pub struct Constants<'p> {
    p: &'p Parameters,
    scales: [Rational; 3],
    /// The real multiplier by derivation.
    reals: Vec<(&'static str, Rational)>,
}

impl<'p> Constants<'p> {
    /// Those of these parameters.
    pub fn new(p: &'p Parameters) -> Self {
        let scales = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
        let [input, weight, output] = scales.clone();
        let of = Scales { input, weight, output };
        let reals = DERIVATIONS.iter().map(|derivation| (derivation.name, (derivation.real)(&of))).collect();
        Self { p, scales, reals }
    }

    /// Bits of the word that holds the product of both differences.
    pub(super) fn product_bits(&self) -> u32 {
        self.p.product_bits
    }

    fn real(&self, derivation: &str) -> Option<&Rational> {
        self.reals.iter().find(|(name, _)| *name == derivation).map(|(_, real)| real)
    }
}

impl Step {
    /// The next value; `None` if the step is out of domain. `at` is 0 for the left operand, 1 for the right one and 2 for the product.
    pub fn apply(self, v: Rational, overflow: Overflow, c: &Constants<'_>, at: usize) -> Option<Rational> {
        let p = c.p;
        Some(match self {
            Self::Scale => v * &c.scales[at],
            Self::DivideByOutput => v / &c.scales[2],
            Self::Multiply(derivation) => v * c.real(derivation)?,
            Self::Rescale(name, derivation) => {
                let (m, s) = quantize_multiplier(c.real(derivation)?)?;
                let definition = fpm::scheme::DEFINITIONS.iter().find(|d| d.name == name)?;
                definition.exact(overflow, v.numer().to_i64()?, &fpm::Parameters::q31(m, s))?.into()
            }
            Self::RoundToSingle => nearest(F32, &v),
            Self::Round(rule) => rule.round(&v).into(),
            Self::ClampBeforeZeroPoint => v.clamp(&(p.min - p.out.zero_point), &(p.max - p.out.zero_point)),
            Self::AddZeroPoint => v + p.out.zero_point,
            Self::Clamp => v.clamp(&p.min, &p.max),
        })
    }
}

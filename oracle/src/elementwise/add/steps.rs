//! Exact steps used only by schemes of sums and differences.

use super::super::Parameters;
use super::super::Side;
use super::super::steps::{Constants, OwnStep, index};
use super::{LeftShift, Sum};
use crate::derivation::dyadic::{exponent, nearest};
use crate::derivation::quantize_multiplier;
use crate::float::Format::{F32, F64};
use crate::fpm;
use crate::rounding::RoundingRule::TiesEven;
use crate::word::Overflow;
use rug::Rational;

/// One exact step of an addition or a subtraction.
pub type Step = super::super::steps::Step<Own>;

/// Real number that becomes a Q0.31 multiplier. Quotients are doubles, as in the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// `2^left_shift`.
    Lift,
    /// The operand's scale over twice the larger scale: at most a half.
    Operand,
    /// The operand's scale over twice the larger scale, times `2^left_shift`.
    Lifted,
    /// Twice the larger scale over `2^left_shift` times the output's scale. Sources check that this factor is below 1.
    Output,
    /// The operand's scale over the output's scale.
    Ratio,
}

/// Exact step. `v` is the value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// `v * 2^left_shift`.
    LeftShift,
    /// `v` multiplied by a scheme of fixed point multiply.
    Rescale(&'static str, Factor),
    /// [`Own::Rescale`], with the right operand's multiplier negated, and its result negated again: the code subtracts by an addition.
    RescaleNegated(&'static str, Factor),
    /// `v` times a Q0.31 multiplier, exact.
    Multiply(Factor),
    /// `v * r`; `r` is 1 over the output's scale, rounded to f32.
    MultiplyByReciprocal,
    /// `v` times an integer: the operand's scale over the output's, rounded to f32, times `2^shift` of [`Own::FixedShift`], ties to even.
    Fixed(u32),
    /// `v / 2^shift`, with the shift that gives the larger multiplier of [`Own::Fixed`] this many bits after its first.
    FixedShift(u32),
}

/// Constants that the steps derive from a batch's parameters.
#[derive(Clone, Debug)]
pub struct OwnConstants {
    /// Scale of each operand over the output's scale, as f32.
    ratios: [Rational; 2],
    /// 1 over the output's scale, as f32.
    reciprocal: Rational,
    /// Multiplier and shift by factor, for the left operand, the right operand and the sum.
    multipliers: [[Option<(i32, i32)>; 3]; 5],
}

impl OwnConstants {
    /// Computes the constants for these parameters, with the exact scales of both operands and of the result.
    pub(in super::super) fn new<A: Sum>(p: &Parameters<A>, scales: &[Rational; 3]) -> Self {
        let LeftShift(bits) = p.own;
        let [lhs, rhs, out] = scales;
        let twice = lhs.clone().max(rhs.clone()) * 2u32;
        let multiplier = |factor: Factor, scale: &Rational| {
            let real = match factor {
                Factor::Lift => Rational::from(1) << bits,
                Factor::Operand => nearest(F64, &Rational::from(scale / &twice)),
                Factor::Lifted => nearest(F64, &Rational::from(scale / &twice)) << bits,
                Factor::Output => nearest(F64, &(&twice / (scale.clone() << bits))),
                Factor::Ratio => nearest(F64, &Rational::from(scale / out)),
            };
            quantize_multiplier(&real)
        };
        let factors = [Factor::Lift, Factor::Operand, Factor::Lifted, Factor::Output, Factor::Ratio];
        let multipliers = factors.map(|factor| [lhs, rhs, out].map(|scale| multiplier(factor, scale)));
        let ratios = [lhs, rhs].map(|scale| nearest(F32, &Rational::from(scale / out)));
        let reciprocal = nearest(F32, &out.clone().recip());
        Self { ratios, reciprocal, multipliers }
    }

    /// Returns the shift at which the larger ratio has `bits` bits after its first.
    fn fixed_shift(&self, bits: u32) -> u32 {
        let larger = self.ratios.iter().max().map_or(0, exponent);
        // The exponent of a float is one below the exponent of `frexp`.
        (bits as i32 - (larger - 1)).max(0) as u32
    }
}

impl<A: Sum> OwnStep<A> for Own {
    fn apply(self, v: Rational, overflow: Overflow, c: &Constants<'_, A>, side: Option<Side>) -> Option<Rational> {
        let (own, at) = (&c.own, index(side));
        let multiplier = |factor: Factor| own.multipliers[factor as usize][at];
        Some(match self {
            Self::LeftShift => v << c.p.own.0,
            Self::Rescale(name, factor) => rescaled(name, overflow, &v, multiplier(factor)?)?,
            Self::RescaleNegated(name, factor) => {
                let (m, s) = multiplier(factor)?;
                if side == Some(Side::Rhs) {
                    -rescaled(name, overflow, &v, (-m, s))?
                } else {
                    rescaled(name, overflow, &v, (m, s))?
                }
            }
            Self::Multiply(factor) => {
                let (m, s) = multiplier(factor)?;
                (v * m) << (s - 31)
            }
            Self::MultiplyByReciprocal => v * &own.reciprocal,
            Self::Fixed(bits) => {
                v * Rational::from(TiesEven.round(&(own.ratios.get(at)?.clone() << own.fixed_shift(bits))))
            }
            Self::FixedShift(bits) => v >> own.fixed_shift(bits),
        })
    }
}

/// Multiplies an integer by a scheme of fixed point multiply, with this multiplier and shift.
fn rescaled(name: &str, overflow: Overflow, v: &Rational, (m, s): (i32, i32)) -> Option<Rational> {
    Some(fpm::Scheme::find(name, overflow)?.exact(v.numer().to_i64()?, &fpm::Parameters::q31(m, s))?.into())
}

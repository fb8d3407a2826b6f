//! The vocabulary of addition schemes: exact steps on rationals.

use super::Parameters;
use crate::derivation::dyadic::{exponent, nearest};
use crate::derivation::quantize_multiplier;
use crate::float::Format::{F32, F64};
use crate::fpm;
use crate::rounding::RoundingRule::{self, TiesEven};
use crate::word::Overflow;
use rug::Rational;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one.
    Lhs,
    /// The right one.
    Rhs,
}

/// A real number that a Q0.31 multiplier is made of. Quotients are doubles, as the sources compute them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// `2^left_shift`.
    Lift,
    /// The operand's scale over twice the larger one: at most a half.
    Operand,
    /// That times `2^left_shift`.
    Lifted,
    /// Twice the larger scale over `2^left_shift` times the output's scale. Sources check that it is below 1.
    Output,
}

/// One exact step. `v` is the value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `v * 2^left_shift`.
    LeftShift,
    /// `v` by a scheme of fixed point multiply.
    Rescale(&'static str, Factor),
    /// `v` times a Q0.31 multiplier, exact.
    Multiply(Factor),
    /// `v` times the operand's scale.
    Scale,
    /// `v` over the output's scale.
    DivideByOutput,
    /// `v * r`, `r` being 1 over the output's scale, rounded to f32.
    MultiplyByReciprocal,
    /// `v` rounded to f32, ties to even.
    RoundToSingle,
    /// `v` times the operand's scale over the output's, rounded to f32 and then to an integer of 2^[`Step::FixedShift`], ties to even.
    Fixed(u32),
    /// `v / 2^shift`, the shift such that the larger multiplier of [`Step::Fixed`] has this many bits after its first.
    FixedShift(u32),
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
    /// Over the output's, as f32.
    ratios: [Rational; 2],
    /// 1 over the output's, as f32.
    reciprocal: Rational,
    /// Multiplier and shift by factor, for the left operand, the right one and the sum.
    multipliers: [[Option<(i32, i32)>; 3]; 4],
}

impl<'p> Constants<'p> {
    /// Those of these parameters.
    pub fn new(p: &'p Parameters) -> Self {
        let scales = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
        let [lhs, rhs, out] = &scales;
        let twice = lhs.clone().max(rhs.clone()) * 2u32;
        let multiplier = |factor: Factor, scale: &Rational| {
            let real = match factor {
                Factor::Lift => Rational::from(1) << p.left_shift,
                Factor::Operand => nearest(F64, &Rational::from(scale / &twice)),
                Factor::Lifted => nearest(F64, &Rational::from(scale / &twice)) << p.left_shift,
                Factor::Output => nearest(F64, &(&twice / (scale.clone() << p.left_shift))),
            };
            quantize_multiplier(&real)
        };
        let factors = [Factor::Lift, Factor::Operand, Factor::Lifted, Factor::Output];
        let multipliers = factors.map(|factor| [lhs, rhs, out].map(|scale| multiplier(factor, scale)));
        let ratios = [lhs, rhs].map(|scale| nearest(F32, &Rational::from(scale / out)));
        let reciprocal = nearest(F32, &out.clone().recip());
        Self { p, scales, ratios, reciprocal, multipliers }
    }

    /// The shift at which the larger ratio has `bits` bits after its first.
    fn fixed_shift(&self, bits: u32) -> u32 {
        let larger = self.ratios.iter().max().map_or(0, exponent);
        // The exponent of a float is one below that of `frexp`.
        (bits as i32 - (larger - 1)).max(0) as u32
    }
}

impl Step {
    /// The next value; `None` if the step is out of domain. `side` is the operand's, where `v` is not a sum.
    pub fn apply(self, v: Rational, overflow: Overflow, c: &Constants<'_>, side: Option<Side>) -> Option<Rational> {
        let (p, at) = (c.p, side.map_or(2, |side| side as usize));
        let multiplier = |factor: Factor| c.multipliers[factor as usize][at];
        Some(match self {
            Self::LeftShift => v << p.left_shift,
            Self::Rescale(name, factor) => {
                let (m, s) = multiplier(factor)?;
                let definition = fpm::scheme::DEFINITIONS.iter().find(|d| d.name == name)?;
                definition.exact(overflow, v.numer().to_i64()?, &fpm::Parameters::q31(m, s))?.into()
            }
            Self::Multiply(factor) => {
                let (m, s) = multiplier(factor)?;
                (v * m) << (s - 31)
            }
            Self::Scale => v * &c.scales[at],
            Self::DivideByOutput => v / &c.scales[2],
            Self::MultiplyByReciprocal => v * &c.reciprocal,
            Self::RoundToSingle => nearest(F32, &v),
            Self::Fixed(bits) => {
                v * Rational::from(TiesEven.round(&(c.ratios.get(at)?.clone() << c.fixed_shift(bits))))
            }
            Self::FixedShift(bits) => v >> c.fixed_shift(bits),
            Self::Round(rule) => rule.round(&v).into(),
            Self::ClampBeforeZeroPoint => v.clamp(&(p.min - p.out.zero_point), &(p.max - p.out.zero_point)),
            Self::AddZeroPoint => v + p.out.zero_point,
            Self::Clamp => v.clamp(&p.min, &p.max),
        })
    }
}

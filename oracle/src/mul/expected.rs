//! Multiplications in machine integers, derived independently of the steps on rationals. What depends on the parameters alone is worked out
//! once a batch.

use super::Parameters;
use crate::derivation::dyadic::Dyadic;
use crate::float::Format::F32;
use crate::fpm;
use crate::quantize::Soft;
use crate::rounding::RoundingRule::{self, *};
use crate::word::{Overflow, Word};

/// How the results of a scheme are computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fast {
    /// One quotient of integers.
    Once(RoundingRule),
    /// One quotient of integers that holds the zero point.
    Placed(RoundingRule),
    /// One fixed point multiplication by the scheme of that name.
    Rescaled(&'static str, Quotient),
    /// The product in f32 times a multiplier in f32, rounded to an integer before the zero point is added.
    Single(Quotient),
    /// The same with the zero point added in f32 before the rounding.
    SinglePlaced(Quotient),
    /// In f32, operand by operand.
    Onnx,
}

/// How the real multiplier is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotient {
    /// Product and quotient in f32.
    F32,
    /// Product and quotient in double.
    F64,
    /// Product in f32, times the reciprocal of the output's scale in f32.
    Reciprocal,
}

/// Left shifts beyond this make every result one that is clamped: a product of 1 becomes 2^16 at least.
const MOST_LEFT: i32 = 40;
/// Right shifts beyond this make every product of 80 bits less than a sixteenth.
const MOST_RIGHT: i32 = 84;

impl Fast {
    pub(super) fn each(self, overflow: Overflow, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Vec<Option<i32>> {
        let zero_point = i128::from(p.out.zero_point);
        let clamped = |v: i128| Some(v.clamp(p.min.into(), p.max.into()) as i32);
        let word = Word { bits: p.product_bits };
        let products = |finish: &dyn Fn(i64) -> Option<i32>| {
            let product = |(a, b): (&i32, &i32)| {
                let differences = [a - p.lhs.zero_point, b - p.rhs.zero_point].map(i128::from);
                finish(word.wrap(differences[0] * differences[1]) as i64)
            };
            lhs.iter().zip(rhs).map(product).collect()
        };
        match self {
            Self::Once(rule) => {
                let (n, d) = fraction(p);
                products(&|v| clamped(rule.quotient(i128::from(v) * n, d) + zero_point))
            }
            Self::Placed(rule) => {
                let (n, d) = fraction(p);
                products(&|v| clamped(rule.quotient(i128::from(v) * n + zero_point * d, d)))
            }
            Self::Rescaled(name, quotient) => {
                let definition = fpm::scheme::DEFINITIONS.iter().find(|d| d.name == name);
                let (multiplier, shift) = quotient.real(p).q31();
                let (Some(definition), ..=31) = (definition, shift) else { return vec![None; lhs.len()] };
                let (scheme, by) = (fpm::Scheme { definition, overflow }, fpm::Parameters::q31(multiplier, shift));
                products(&|v| clamped(i128::from(scheme.fast(v, &by)?) + zero_point))
            }
            Self::Single(quotient) => {
                let by = quotient.soft(p);
                products(&|v| clamped(scaled(v, by).to_integer(TiesEven).number() + zero_point))
            }
            Self::SinglePlaced(quotient) => {
                let (by, zero_point) = (quotient.soft(p), Soft::integer(p.out.zero_point.into()));
                products(&|v| clamped(scaled(v, by).plus(zero_point).rounded(F32).to_integer(TiesEven).number()))
            }
            Self::Onnx => lhs.iter().zip(rhs).map(|(a, b)| clamped(onnx(p, *a, *b))).collect(),
        }
    }
}

/// What a product is to be multiplied and divided by, such that neither overflows for products of 32 bits and zero points of 16.
fn fraction(p: &Parameters) -> (i128, i128) {
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(super::Operand::dyadic);
    let (n, d, e) = (lhs.n * rhs.n, out.n, lhs.e + rhs.e - out.e);
    if e >= 0 { (n << e.min(MOST_LEFT), d) } else { (n, d << (-e).min(MOST_RIGHT)) }
}

impl Quotient {
    fn real(self, p: &Parameters) -> Dyadic {
        let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(super::Operand::dyadic);
        let product = lhs.times(rhs);
        match self {
            Self::F32 => product.rounded(24).over(out).rounded(24),
            Self::F64 => product.rounded(53).over(out).rounded(53),
            Self::Reciprocal => product.rounded(24).times(Dyadic::new(1, 0).over(out).rounded(24)).rounded(24),
        }
    }

    /// In f32.
    fn soft(self, p: &Parameters) -> Soft {
        let Dyadic { n, e } = self.real(p);
        Soft::Number { n, e }
    }
}

/// A product in f32, scaled in f32.
fn scaled(product: i64, by: Soft) -> Soft {
    Soft::integer(product).rounded(F32).times(by).rounded(F32)
}

/// One result of ONNX Runtime, before it is clamped.
fn onnx(p: &Parameters, lhs: i32, rhs: i32) -> i128 {
    let [lhs_scale, rhs_scale, out] = [p.lhs, p.rhs, p.out].map(|o| Soft::of(F32, o.scale.into()));
    let (a, b) = (lhs - p.lhs.zero_point, rhs - p.rhs.zero_point);
    // The sign of both apart: factors are positive.
    let negative = (a < 0) != (b < 0);
    let real = |difference: i32, scale: Soft| Soft::integer(difference.abs().into()).times(scale).rounded(F32);
    let size = real(a, lhs_scale).times(real(b, rhs_scale)).rounded(F32).divided_by(out).rounded(F32);
    let scaled = if negative { size.negated() } else { size };
    // Beyond the bounds by its floor or ceiling: beyond them by itself, and integers are their own.
    let [lo, hi] = [p.min, p.max].map(|end| i128::from(end) - i128::from(p.out.zero_point));
    if scaled.to_integer(TowardPositive).number() <= lo {
        return p.min.into();
    }
    if scaled.to_integer(TowardNegative).number() >= hi {
        return p.max.into();
    }
    let placed = scaled.plus(Soft::integer(p.out.zero_point.into())).rounded(F32);
    placed.to_integer(TiesEven).number()
}

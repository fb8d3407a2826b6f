//! Multiplications in machine integers, derived independently of the steps on rationals. Values that depend only on the parameters are
//! computed once for each batch.

use super::super::{Operand, integers};
use super::{Multiplication, Parameters, ProductBits};
use crate::derivation::dyadic::Dyadic;
use crate::float::Format::F32;
use crate::fpm;
use crate::quantize::Soft;
use crate::rounding::RoundingRule::{self, *};
use crate::word::{Overflow, Word};

/// Computation of a scheme's results.
#[derive(Clone, Copy, Debug)]
pub enum Fast {
    /// Single quotient of integers.
    Once(RoundingRule),
    /// Single quotient of integers, zero point included.
    Placed(RoundingRule),
    /// One fixed point multiplication by the named scheme.
    Rescaled(&'static str, Quotient),
    /// The product in f32 times a multiplier in f32, rounded to an integer before the zero point is added.
    Single(Quotient),
    /// The product in f32 times a multiplier in f32, plus the zero point in f32, rounded to an integer.
    SinglePlaced(Quotient),
    /// ONNX Runtime's computation in f32, operand by operand.
    Onnx,
}

/// Computation of the real multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotient {
    /// Product and quotient in f32.
    F32,
    /// Product and quotient in double.
    F64,
    /// Product in f32, times the reciprocal of the output's scale in f32.
    Reciprocal,
}

/// Largest left shift. Beyond this shift every nonzero product is clamped, because a product of 1 becomes at least 2^16.
const MOST_LEFT: i32 = 40;
/// Largest right shift. Beyond this shift every product of 80 bits is below one sixteenth.
const MOST_RIGHT: i32 = 84;

impl integers::Fast<Multiplication> for Fast {
    fn each(self, overflow: Overflow, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Vec<Option<i32>> {
        let products = |finish: &dyn Fn(i64) -> Option<i32>| each_product(p, lhs, rhs, finish);
        match self {
            Self::Once(rule) => {
                let (n, d) = fraction(p);
                products(&|v| p.placed(rule.quotient(i128::from(v) * n, d)))
            }
            Self::Placed(rule) => {
                let (n, d) = fraction(p);
                let zero_point = d * i128::from(p.out.zero_point);
                products(&|v| p.clamped(rule.quotient(i128::from(v) * n + zero_point, d)))
            }
            Self::Rescaled(name, quotient) => {
                let (multiplier, shift) = quotient.real(p).q31();
                let scheme = fpm::Scheme::find(name, overflow);
                let (Some(scheme), ..=31) = (scheme, shift) else { return vec![None; lhs.len()] };
                let by = fpm::Parameters::q31(multiplier, shift);
                products(&|v| p.placed(scheme.fast(v, &by)?.into()))
            }
            Self::Single(quotient) => {
                let by = quotient.soft(p);
                products(&|v| p.placed(scaled(v, by).to_integer(TiesEven).number()))
            }
            Self::SinglePlaced(quotient) => {
                let (by, zero_point) = (quotient.soft(p), Soft::integer(p.out.zero_point.into()));
                products(&|v| p.clamped(scaled(v, by).plus(zero_point).rounded(F32).to_integer(TiesEven).number()))
            }
            Self::Onnx => lhs.iter().zip(rhs).map(|(a, b)| p.placed_in_f32(onnx(p, *a, *b))).collect(),
        }
    }
}

/// Number of 8-bit products from which `finish` is cached: in longer batches most products recur.
const FEW: usize = 1 << 14;

/// Applies `finish` to each product; for 8-bit operands only once for each distinct product.
fn each_product(p: &Parameters, lhs: &[i32], rhs: &[i32], finish: &dyn Fn(i64) -> Option<i32>) -> Vec<Option<i32>> {
    let ProductBits(bits) = p.own;
    let word = Word { bits };
    let product = |(a, b): (&i32, &i32)| {
        let differences = [a - p.lhs.zero_point, b - p.rhs.zero_point].map(i128::from);
        word.wrap(differences[0] * differences[1]) as i64
    };
    let products = lhs.iter().zip(rhs).map(product);
    if p.storage.bits > 8 || lhs.len() < FEW {
        return products.map(finish).collect();
    }
    // A product that wraps is nearer to 0.
    let largest = i64::from(p.lhs.furthest(lhs)) * i64::from(p.rhs.furthest(rhs));
    let mut known = vec![None; 2 * largest as usize + 1];
    products.map(|v| *known[(v + largest) as usize].get_or_insert_with(|| finish(v))).collect()
}

/// Returns the factor and the divisor of a product. Neither overflows for products of 32 bits and zero points of 16.
fn fraction(p: &Parameters) -> (i128, i128) {
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(Operand::dyadic);
    let (n, d, e) = (lhs.n * rhs.n, out.n, lhs.e + rhs.e - out.e);
    if e >= 0 { (n << e.min(MOST_LEFT), d) } else { (n, d << (-e).min(MOST_RIGHT)) }
}

impl Quotient {
    fn real(self, p: &Parameters) -> Dyadic {
        let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(Operand::dyadic);
        let product = lhs.times(rhs);
        match self {
            Self::F32 => product.rounded(24).over(out).rounded(24),
            Self::F64 => product.rounded(53).over(out).rounded(53),
            Self::Reciprocal => product.rounded(24).times(Dyadic::new(1, 0).over(out).rounded(24)).rounded(24),
        }
    }

    /// Returns the real multiplier as a number of f32.
    fn soft(self, p: &Parameters) -> Soft {
        let Dyadic { n, e } = self.real(p);
        Soft::Number { n, e }
    }
}

/// Computes a product in f32, scaled in f32.
fn scaled(product: i64, by: Soft) -> Soft {
    Soft::integer(product).rounded(F32).times(by).rounded(F32)
}

/// Computes the product of both operands over the output's scale like ONNX Runtime, each step in f32.
fn onnx(p: &Parameters, lhs: i32, rhs: i32) -> Soft {
    let [lhs_scale, rhs_scale, out] = [p.lhs, p.rhs, p.out].map(|o| Soft::of(F32, o.scale.into()));
    let (a, b) = (lhs - p.lhs.zero_point, rhs - p.rhs.zero_point);
    // Sign and magnitude are computed separately, because factors are positive.
    let negative = (a < 0) != (b < 0);
    let real = |difference: i32, scale: Soft| Soft::integer(difference.abs().into()).times(scale).rounded(F32);
    let size = real(a, lhs_scale).times(real(b, rhs_scale)).rounded(F32).divided_by(out).rounded(F32);
    if negative { size.negated() } else { size }
}

//! Quantized multiplication: `lhs_scale * (lhs - lhs_zero_point) * rhs_scale * (rhs - rhs_zero_point)` over the output's scale, rounded to
//! an integer, plus the output's zero point, clamped; and the schemes by which systems compute it.
//!
//! Source of the operation: ONNX operators, QLinearMul; TensorFlow Lite 8-bit quantization specification, MUL.

mod domain;
mod expected;
mod registry;
pub mod steps;

use super::Arithmetic;
use crate::quantize::suffix;
use crate::rounding::RoundingRule;
use crate::shape::{ShapeError, broken};
use crate::word::Word;
use rug::Rational;
use std::ops::RangeInclusive;

pub use domain::Scales;

/// Multiplication of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplication {}

/// Parameters of a batch.
pub type Parameters = super::Parameters<Multiplication>;
/// Mathematical definition of multiplication.
pub type Definition = super::Definition<Multiplication>;
/// Definition with the policy for a rescale beyond int32.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

/// Bits of the word that holds the product of both differences, if a scheme multiplies integers; the product wraps in this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductBits(pub u32);

/// Exponents of scales, as powers of two, such that no f32 step overflows or becomes subnormal.
pub const EXPONENTS: RangeInclusive<i32> = -30..=30;
/// Bits of the products in all sources.
pub const PRODUCT_BITS: ProductBits = ProductBits(MOST_BITS);

const MOST_BITS: u32 = 32;

impl Arithmetic for Multiplication {
    type Own = ProductBits;
    type Step = steps::Own;
    type Constants = steps::OwnConstants;
    type Fast = expected::Fast;
    type Scales = Scales;
    const EXPONENTS: RangeInclusive<i32> = EXPONENTS;
    const DEFINITIONS: &'static [Definition] = registry::DEFINITIONS;

    fn check(p: &Parameters, furthest: [u32; 2]) -> Result<(), ShapeError> {
        let ProductBits(bits) = p.own;
        if !(8..=MOST_BITS).contains(&bits) {
            return Err(broken("product_bits", format!("{bits} bits; it has 8 to {MOST_BITS}")));
        }
        let [a, b] = furthest.map(u64::from);
        if a * b >= 1 << (MOST_BITS - 1) {
            return Err(broken("lhs", format!("a product of differences of {a} and {b} is no int32")));
        }
        Ok(())
    }

    fn takes(p: &Parameters, scales: Scales) -> bool {
        domain::takes(p, scales)
    }

    fn constants(_: &Parameters, scales: &[Rational; 3]) -> steps::OwnConstants {
        steps::OwnConstants::new(scales)
    }

    /// Computes the product; the product of differences wraps in its word.
    fn combined(p: &Parameters, [lhs, rhs]: [&Rational; 2], integers: bool) -> Rational {
        let product = Rational::from(lhs * rhs);
        let ProductBits(bits) = p.own;
        if integers { Word { bits }.wrap_exact(product.numer()).into() } else { product }
    }
}

impl Scheme {
    /// Creates the scheme that multiplies by the Q0.31 multiplier of this derivation (`f32` or `f64`), rounded once.
    pub fn narrowed(derivation: &str, rule: RoundingRule) -> Self {
        Self::named(&format!("q31-{derivation}-{}", suffix(rule)))
    }
}

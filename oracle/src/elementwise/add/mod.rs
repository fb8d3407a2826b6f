//! Quantized addition: `lhs_scale * (lhs - lhs_zero_point) + rhs_scale * (rhs - rhs_zero_point)` over the output's scale, rounded to an
//! integer, plus the output's zero point, clamped; and the schemes by which systems compute it.
//!
//! Source of the operation: ONNX operators, QLinearAdd; TensorFlow Lite 8-bit quantization specification, ADD.

mod domain;
pub(super) mod expected;
mod registry;
pub mod steps;

use super::Arithmetic;
use crate::quantize::{Storage, suffix};
use crate::rounding::RoundingRule;
use crate::shape::{ShapeError, broken};
use rug::Rational;
use std::ops::RangeInclusive;

pub use domain::Scales;

/// Addition of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addition {}

/// Parameters of a batch.
pub type Parameters = super::Parameters<Addition>;
/// Mathematical definition of addition.
pub type Definition = super::Definition<Addition>;
/// Definition with the policy for a rescale beyond int32; each rescale fits if [`Parameters::check`] passes.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

/// Number of bits by which schemes that rescale shift operands up first; see [`left_shift`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftShift(pub u32);

/// Exponents of scales, as powers of two, such that no f32 step overflows or becomes subnormal.
pub const EXPONENTS: RangeInclusive<i32> = -100..=100;
/// Largest number of binades between the scales of one addition.
pub const APART: i32 = 40;

/// Returns the number of bits by which all sources shift up operands of a type: as many as fit in an int32.
pub fn left_shift(storage: Storage) -> LeftShift {
    LeftShift(if storage.bits > 8 { 15 } else { 20 })
}

/// Sum of two terms, the second of either sign: the common part of addition and subtraction.
pub trait Sum:
    Arithmetic<Own = LeftShift, Step = steps::Own, Constants = steps::OwnConstants, Fast = expected::Fast, Scales = Scales>
{
    /// Sign of the right operand.
    const SIGN: i32;
    /// Every scheme.
    const SCHEMES: &'static [super::Definition<Self>];
}

impl Sum for Addition {
    const SIGN: i32 = 1;
    const SCHEMES: &'static [Definition] = registry::DEFINITIONS;
}

impl<A: Sum> crate::scheme::Scheme<&'static super::Definition<A>> {
    /// Creates the scheme of the exact sum by the Q0.31 multipliers of a rescaling, rounded once.
    pub fn narrowed(rule: RoundingRule) -> Self {
        Self::named(&format!("q31-{}", suffix(rule)))
    }
}

impl<A: Sum> Arithmetic for A {
    type Own = LeftShift;
    type Step = steps::Own;
    type Constants = steps::OwnConstants;
    type Fast = expected::Fast;
    type Scales = Scales;
    const EXPONENTS: RangeInclusive<i32> = EXPONENTS;
    const DEFINITIONS: &'static [super::Definition<A>] = A::SCHEMES;

    /// Checks that scales are not too far apart, and that differences fit in an int32 after the left shift.
    fn check(p: &super::Parameters<A>, furthest: [u32; 2]) -> Result<(), ShapeError> {
        let exponents = [p.lhs, p.rhs, p.out].map(|operand| operand.exponent());
        let apart = exponents.iter().max().zip(exponents.iter().min()).map_or(0, |(most, least)| most - least);
        if apart > APART {
            return Err(broken("out", format!("scales are {apart} binades apart, at most {APART}")));
        }
        let (LeftShift(bits), [a, b]) = (p.own, furthest);
        let difference = a.max(b);
        if bits > 30 || u64::from(difference) << bits >= 1 << 31 {
            return Err(broken("left_shift", format!("by {bits} bits a difference of {difference} is no int32")));
        }
        Ok(())
    }

    fn takes(p: &super::Parameters<A>, scales: Scales) -> bool {
        domain::takes(p, scales)
    }

    fn constants(p: &super::Parameters<A>, scales: &[Rational; 3]) -> steps::OwnConstants {
        steps::OwnConstants::new(p, scales)
    }

    fn combined(_: &super::Parameters<A>, [lhs, rhs]: [&Rational; 2], _: bool) -> Rational {
        if A::SIGN < 0 { Rational::from(lhs - rhs) } else { Rational::from(lhs + rhs) }
    }
}

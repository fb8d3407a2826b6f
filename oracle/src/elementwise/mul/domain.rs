//! Scales that systems accept for a multiplication: the checks in their sources, in f32.

use super::Parameters;
use crate::derivation::dyadic::nearest;
use crate::float::Format::F32;
use rug::Rational;
use rug::ops::Pow;

/// Scales that a system accepts, all within [`super::EXPONENTS`] of 2. The domain limits one quotient: the product of both operands' scales
/// over the output's scale, with product and quotient rounded to f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// The quotient is below 2^14 for 8 bits and below 1 for 16 bits.
    Rescaled,
    /// The quotient is in `[2^-16, 2^8)`.
    Ratio,
}

/// True if a system with this domain of scales accepts these scales and zero points. Zero points of 16 bits must be 0 (TFLite,
/// `tensorflow/lite/kernels/mul.cc`, `Prepare`).
pub(super) fn takes(p: &Parameters, scales: Scales) -> bool {
    let operands = [p.lhs, p.rhs, p.out];
    if p.storage.bits > 8 && operands.iter().any(|operand| operand.zero_point != 0) {
        return false;
    }
    let [lhs, rhs, out] = operands.map(|operand| operand.exact_scale());
    let power = |e: i32| Rational::from(2).pow(e);
    let quotient = nearest(F32, &(nearest(F32, &(lhs * rhs)) / out));
    match scales {
        Scales::Rescaled => quotient < power(if p.storage.bits > 8 { 0 } else { 14 }),
        Scales::Ratio => quotient >= power(-16) && quotient < power(8),
    }
}

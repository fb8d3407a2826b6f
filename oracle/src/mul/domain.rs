//! Which scales the systems take for a multiplication: what their sources check, which they do in f32.

use super::Parameters;
use crate::derivation::dyadic::nearest;
use crate::elementwise::in_binades;
use crate::float::Format::F32;
use rug::Rational;
use rug::ops::Pow;

/// Which scales a system takes, all within [`super::EXPONENTS`] of 2, by the quotient of the product of both operands' and the output's, each rounded to f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// Below 2^14 for 8 bits and below 1 for 16.
    Rescaled,
    /// In `[2^-16, 2^8)`.
    Ratio,
}

impl Parameters {
    /// Whether a system that takes such scales takes these, and the zero points, which those of 16 bits take as 0 alone (TFLite,
    /// `tensorflow/lite/kernels/mul.cc`, `Prepare`).
    pub fn takes(&self, scales: Scales) -> bool {
        let operands = [self.lhs, self.rhs, self.out];
        if self.storage.bits > 8 && operands.iter().any(|operand| operand.zero_point != 0) {
            return false;
        }
        if !operands.iter().all(|operand| in_binades(operand, &super::EXPONENTS)) {
            return false;
        }
        let [lhs, rhs, out] = operands.map(|operand| operand.exact_scale());
        let power = |e: i32| Rational::from(2).pow(e);
        let quotient = nearest(F32, &(nearest(F32, &(lhs * rhs)) / out));
        match scales {
            Scales::Rescaled => quotient < power(if self.storage.bits > 8 { 0 } else { 14 }),
            Scales::Ratio => quotient >= power(-16) && quotient < power(8),
        }
    }
}

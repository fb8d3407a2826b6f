//! Which scales the systems take for an addition: what their sources check, as statements about exact numbers.
//!
//! The domain of scales belongs to the oracle. A check inside a kernel decides nothing about the inputs of a run: a kernel
//! that refuses an input of this domain is a finding.

use super::Parameters;
use crate::derivation::dyadic::exponent;
use crate::elementwise::in_binades;
use rug::Rational;
use rug::ops::Pow;

/// Which scales a system takes. All are within [`super::EXPONENTS`] of 2, and at most 2^[`super::APART`] of one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// Every three.
    Any,
    /// Twice the larger of both operands' is below the output's shifted left by `left_shift`.
    Rescaled,
    /// Each operand's over the output's is in `[2^-10, 2^8)`.
    Ratios,
    /// Each operand's over the output's is in `[2^-14, 2^8)`, the larger one from 2^-10, and a multiplier of 21 bits after its first holds the
    /// larger one without a carry.
    Wide,
}

impl Parameters {
    /// Whether a system that takes such scales takes these; nothing else of the batch matters.
    pub fn takes(&self, scales: Scales) -> bool {
        let operands = [self.lhs, self.rhs, self.out];
        if !operands.iter().all(|operand| in_binades(operand, &super::EXPONENTS)) {
            return false;
        }
        let [lhs, rhs, out] = operands.map(|operand| operand.exact_scale());
        let power = |e: i32| Rational::from(2).pow(e);
        let (smaller, larger) = if lhs <= rhs { (lhs, rhs) } else { (rhs, lhs) };
        let (least, most) = ((&smaller).min(&out), (&larger).max(&out));
        if Rational::from(most / least) > power(super::APART) {
            return false;
        }
        let (below, above) = (Rational::from(&smaller / &out), Rational::from(&larger / &out));
        match scales {
            Scales::Any => true,
            Scales::Rescaled => above * 2u32 < power(self.left_shift as i32),
            Scales::Ratios => below >= power(-10) && above < power(8),
            Scales::Wide => {
                let ends = below >= power(-14) && above >= power(-10) && above < power(8);
                // The quotient in f32, to 22 bits, ties to even: from 2 - 5 * 2^-24 on it is 2.
                let first = above.clone() / power(exponent(&above) - 1);
                ends && first < 2 - 5 * power(-24)
            }
        }
    }
}

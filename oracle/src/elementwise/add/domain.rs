//! Scales that systems accept for an addition or a subtraction: the checks in their sources, as conditions on exact numbers.
//!
//! The domain of scales belongs to the oracle. A check inside a kernel decides nothing about the inputs of a run: a kernel
//! that rejects an input of this domain is a finding.

use super::super::Parameters;
use super::{LeftShift, Sum};
use crate::derivation::dyadic::exponent;
use rug::Rational;
use rug::ops::Pow;

/// Scales that a system accepts. All are within [`super::EXPONENTS`] of 2, and at most 2^[`super::APART`] apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// Any three scales.
    Any,
    /// Twice the larger scale of both operands is below the output's scale shifted left by `left_shift`.
    Rescaled,
    /// The scale of each operand over the output's scale is in `[2^-10, 2^8)`.
    Ratios,
    /// The scale of each operand over the output's scale is in `[2^-14, 2^8)`, the larger quotient is at least 2^-10, and a multiplier of 21 bits
    /// after its first holds the larger quotient without a carry.
    Wide,
}

/// True if a system with this domain of scales accepts these parameters.
pub(in super::super) fn takes<A: Sum>(p: &Parameters<A>, scales: Scales) -> bool {
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
    let power = |e: i32| Rational::from(2).pow(e);
    let (smaller, larger) = if lhs <= rhs { (lhs, rhs) } else { (rhs, lhs) };
    let (least, most) = ((&smaller).min(&out), (&larger).max(&out));
    if Rational::from(most / least) > power(super::APART) {
        return false;
    }
    let (below, above) = (Rational::from(&smaller / &out), Rational::from(&larger / &out));
    match scales {
        Scales::Any => true,
        Scales::Rescaled => {
            let LeftShift(bits) = p.own;
            above * 2u32 < power(bits as i32)
        }
        Scales::Ratios => below >= power(-10) && above < power(8),
        Scales::Wide => {
            let ends = below >= power(-14) && above >= power(-10) && above < power(8);
            // Rounded to f32 and then to 22 bits, ties to even, a quotient from 2 - 5 * 2^-24 on becomes 2.
            let first = above.clone() / power(exponent(&above) - 1);
            ends && first < 2 - 5 * power(-24)
        }
    }
}

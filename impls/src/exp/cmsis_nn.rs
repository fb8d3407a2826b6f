//! CMSIS-NN: `arm_nn_exp_on_negative_values` of its softmax, for five integer bits only, and the MVE form on `int32x4_t`.
//!
//! Source: ARM-software/CMSIS-NN `Include/arm_nnsupportfunctions.h`.

use super::gemmlowp::{EIGHTH, FACTORS, PROMISE, THIRD};
use super::vector::vector;
use super::{Domain, Kernel, each};
use crate::kernel::scalar;
use crate::simd::{Portable, Vector, every_lane};

const DOMAIN: Domain = Domain { integer_bits: INTEGER_BITS..=INTEGER_BITS };
const INTEGER_BITS: i32 = 5;

/// Scalar code.
pub(super) const SCALAR: Kernel = scalar!(
    "arm-exp", "CMSIS-NN arm_nn_exp_on_negative_values, five integer bits",
    PROMISE on DOMAIN, from "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h arm_nn_exp_on_negative_values",
    |_, x, out| each(x, out, exponential)
);

/// Kernel for MVE. Its instructions `vqrdmulh` and `vrshl`, and the fixup before `vrshl`, are modelled.
pub(super) const MVE: Kernel = scalar!(
    "arm-exp-mve", "CMSIS-NN arm_exp_on_negative_values_mve_32x4, five integer bits",
    PROMISE on DOMAIN, from "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h arm_exp_on_negative_values_mve_32x4",
    |_, x, out| every_lane::<Portable, ()>(x, out, (), |(), x| lanes(x))
);

#[inline(always)]
fn lanes<V: Vector>(x: V) -> V {
    vector(x, INTEGER_BITS)
}

/// Computes the exponential of one number.
#[inline(always)]
pub(crate) fn exponential(x: i32) -> i32 {
    const SHIFT: u32 = 24;
    let rest = (x & ((1 << SHIFT) - 1)) - (1 << SHIFT);
    let remainder = rest.wrapping_sub(x);
    let y = (rest << INTEGER_BITS) + (1 << 28);
    let y2 = doubling_high_mult(y, y);
    let inner = divide_by_power_of_two(doubling_high_mult(y2, y2), 2) + doubling_high_mult(y2, y);
    let inner = divide_by_power_of_two(doubling_high_mult(inner, THIRD) + y2, 1);
    let mut result = EIGHTH + doubling_high_mult(EIGHTH, y + inner);
    for (bit, factor) in (SHIFT..).zip(FACTORS) {
        if remainder >> bit & 1 != 0 {
            result = doubling_high_mult(result, factor);
        }
    }
    if x == 0 { i32::MAX } else { result }
}

/// `arm_nn_doubling_high_mult`: the nudge follows the signs of the operands, and the division truncates. The product that overflows saturates.
#[inline(always)]
pub(crate) fn doubling_high_mult(a: i32, b: i32) -> i32 {
    if a == b && a == i32::MIN {
        return i32::MAX;
    }
    let nudge = if (a < 0) ^ (b < 0) { 1 - (1i64 << 30) } else { 1 << 30 };
    ((nudge + i64::from(a) * i64::from(b)) / (1i64 << 31)) as i32
}

/// `arm_nn_divide_by_power_of_two`: rounds ties away from zero; `exponent` is in 0..=31.
#[inline(always)]
pub(crate) fn divide_by_power_of_two(dividend: i32, exponent: u32) -> i32 {
    let mask = 1i32.wrapping_shl(exponent).wrapping_sub(1);
    let quotient = dividend.wrapping_shr(exponent);
    quotient + i32::from(mask & dividend > (mask >> 1) + i32::from(quotient < 0))
}

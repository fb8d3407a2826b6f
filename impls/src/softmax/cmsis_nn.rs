//! CMSIS-NN: `arm_softmax_s8` and `arm_softmax_s8_s16`, without MVE.
//!
//! Source: ARM-software/CMSIS-NN `Source/NNSupportFunctions/arm_nn_softmax_common_s8.c`, `Include/arm_nnsupportfunctions.h`.

use super::tflite::PROMISE;
use super::{Domain, Kernel, Params, rows};
use crate::contract::Contract;
use crate::element::Element::{I8, I16};
use crate::exp::cmsis_nn::{divide_by_power_of_two, doubling_high_mult as mul_sat, exponential};

const SOURCE: &str = "ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_softmax_common_s8.c";

/// int8 to int8.
pub(super) const S8: Kernel = Kernel {
    name: "arm-softmax-s8",
    summary: "CMSIS-NN arm_softmax_s8",
    contract: Contract { promise: PROMISE, domain: Domain { input: I8, output: I8 }, deviations: &[], source: SOURCE },
    portable: |params, input, out| rows(params, I8, input, out, |row, out| softmax(params, 23, (-128, 127), row, out)),
    native: None,
};

/// int8 to int16.
pub(super) const S8_TO_S16: Kernel = Kernel {
    name: "arm-softmax-s8-s16",
    summary: "CMSIS-NN arm_softmax_s8_s16",
    contract: Contract { promise: PROMISE, domain: Domain { input: I8, output: I16 }, deviations: &[], source: SOURCE },
    portable: |params, input, out| {
        rows(params, I8, input, out, |row, out| softmax(params, 15, (-32_768, 32_767), row, out));
    },
    native: None,
};

/// Computes one row; `bits` is the output type's part of the shift.
#[inline(always)]
fn softmax(p: &Params, bits: i32, (least, most): (i32, i32), row: &[i32], out: &mut [i32]) {
    const ACCUM_BITS: i32 = 12;
    let mask = 1i32.wrapping_shl(p.left_shift as u32);
    let largest = row[1..].iter().fold(row[0], |most, v| most.max(*v));
    let power = |v: i32| exponential(mul_sat((v - largest).wrapping_mul(mask), p.multiplier));
    let mut sum = 0i32;
    for v in row {
        if *v - largest >= p.diff_min {
            sum = sum.wrapping_add(divide_by_power_of_two(power(*v), ACCUM_BITS as u32));
        }
    }
    let headroom = sum.leading_zeros();
    let shifted = if sum > 0 { sum.wrapping_shl(headroom) } else { 0 };
    let scale = one_over_one_plus(shifted.wrapping_sub(i32::MIN));
    let shift = ACCUM_BITS - headroom as i32 + bits;
    for (v, out) in row.iter().zip(out) {
        *out = if *v - largest >= p.diff_min {
            (divide_by_power_of_two(mul_sat(scale, power(*v)), shift as u32) + least).clamp(least, most)
        } else {
            least
        };
    }
}

/// Computes `arm_nn_one_over_one_plus_x_for_x_in_0_1`.
#[inline(always)]
fn one_over_one_plus(x: i32) -> i32 {
    let sum = i64::from(x) + i64::from(i32::MAX);
    let half_denominator = ((sum + if sum >= 0 { 1 } else { -1 }) / 2) as i32;
    let mut y = 1_515_870_810 + mul_sat(half_denominator, -1_010_580_540);
    for _ in 0..3 {
        y += mult_by_power_of_two(mul_sat(y, (1 << 29) - mul_sat(half_denominator, y)), 2);
    }
    mult_by_power_of_two(y, 1)
}

/// Computes `arm_nn_mult_by_power_of_two`: values beyond the threshold saturate.
#[inline(always)]
fn mult_by_power_of_two(x: i32, exponent: u32) -> i32 {
    let threshold = (1 << (31 - exponent)) - 1;
    match x {
        _ if x > threshold => i32::MAX,
        _ if x < -threshold => i32::MIN,
        _ => x << exponent,
    }
}

//! TensorFlow Lite and TensorFlow Lite Micro: the reference softmax in fixed point.
//!
//! Source: tensorflow/tensorflow `lite/kernels/internal/reference/softmax.h`, `lite/kernels/internal/common.h`; google/gemmlowp `fixedpoint/fixedpoint.h`.

use super::{Domain, Kernel, Params, rows};
use crate::contract::{Overflow, Promise};
use crate::element::Element::{self, I8, I16, U8};
use crate::exp::gemmlowp::exponential;
use crate::fpm::gemmlowp::{rounding_divide_by_pot, saturating_rounding_doubling_high_mul as mul};
use crate::kernel::scalar;

pub(super) const PROMISE: Promise = Promise { scheme: "tflite", overflow: Overflow::OutOfDomain };

const SOURCE: &str = "tensorflow/tensorflow lite/kernels/internal/reference/softmax.h Softmax<InputT, OutputT>";

/// Integer bits of a scaled difference.
pub(crate) const INTEGER_BITS: i32 = 5;
/// Integer bits of the sum of the exponentials.
pub(crate) const ACCUMULATED: u32 = 12;

macro_rules! kernel {
    ($name:literal, $summary:literal, $input:ident, $output:ident) => {
        scalar!(
            $name, $summary, PROMISE on Domain { input: $input, output: $output }, from SOURCE,
            |params, input, out| rows(params, $input, input, out, |row, out| softmax(params, $output, row, out))
        )
    };
}

pub(super) const TO_I8: Kernel = kernel!("tflite-softmax-i8", "TFLite reference Softmax, int8 to int8", I8, I8);
pub(super) const TO_U8: Kernel = kernel!("tflite-softmax-u8", "TFLite reference Softmax, uint8 to uint8", U8, U8);
pub(super) const TO_I16: Kernel = kernel!("tflite-softmax-i8-i16", "TFLite reference Softmax, int8 to int16", I8, I16);

/// Computes one row.
#[inline(always)]
fn softmax(p: &Params, output: Element, row: &[i32], out: &mut [i32]) {
    let largest = row.iter().fold(i32::MIN, |most, v| most.max(*v));
    let exponential_of = |v: i32| exponential(scaled(v - largest, p), INTEGER_BITS);
    let taken = |v: i32| v - largest >= p.diff_min;
    let mut sum = 0i32;
    for v in row.iter().filter(|v| taken(**v)) {
        sum = sum.wrapping_add(rounding_divide_by_pot(exponential_of(*v), ACCUMULATED));
    }
    let (scale, over_unit) = reciprocal_of(sum, ACCUMULATED as i32);
    let exponent = over_unit + 31 - 8 * output.bytes() as i32;
    let (least, most) = (*output.range().start(), *output.range().end());
    for (v, out) in row.iter().zip(out) {
        *out = match taken(*v) {
            true => {
                (rounding_divide_by_pot(mul(scale, exponential_of(*v)), exponent as u32) + least).min(most).max(least)
            }
            false => least,
        };
    }
}

/// Computes `MultiplyByQuantizedMultiplierGreaterThanOne`.
#[inline(always)]
pub(crate) fn scaled(difference: i32, p: &Params) -> i32 {
    mul(difference.wrapping_mul(1i32.wrapping_shl(p.left_shift as u32)), p.multiplier)
}

/// Computes `GetReciprocal`: `2^-k` times the reciprocal of a number with `integer_bits` integer bits, and `k`.
#[inline(always)]
pub(crate) fn reciprocal_of(x: i32, integer_bits: i32) -> (i32, i32) {
    let headroom = x.leading_zeros();
    let shifted_minus_one = (x as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (one_over_one_plus(shifted_minus_one), integer_bits - headroom as i32)
}

/// Computes gemmlowp's `one_over_one_plus_x_for_x_in_0_1`.
#[inline(always)]
pub(crate) fn one_over_one_plus(a: i32) -> i32 {
    saturating_shift(newton(a), 1)
}

/// Computes `2 / (1 + a)` by three steps of Newton-Raphson, with two integer bits.
#[inline(always)]
pub(crate) fn newton(a: i32) -> i32 {
    let sum = i64::from(a) + i64::from(i32::MAX);
    let half_denominator = ((sum + if sum >= 0 { 1 } else { -1 }) / 2) as i32;
    let mut x = 1_515_870_810 + mul(half_denominator, -1_010_580_540);
    for _ in 0..3 {
        let error = (1 << 29) - mul(half_denominator, x);
        x = x.wrapping_add(saturating_shift(mul(x, error), 2));
    }
    x
}

/// Computes `SaturatingRoundingMultiplyByPOT` for a positive exponent.
#[inline(always)]
pub(crate) fn saturating_shift(x: i32, exponent: u32) -> i32 {
    let threshold = (1 << (31 - exponent)) - 1;
    if x > threshold {
        i32::MAX
    } else if x < -threshold {
        i32::MIN
    } else {
        x << exponent
    }
}

//! TensorFlow Lite: the three forms of `MultiplyByQuantizedMultiplier`.
//!
//! Double rounding is the default; `TFLITE_SINGLE_ROUNDING` selects the single form. The 64-bit overload is for int16 activations with int64
//! accumulators. It reduces the multiplier to 16 bits so that a 48-bit accumulator cannot overflow. Here its accumulator is an int32.
//!
//! The source checks only in debug builds that a result fits in int32; a release build casts, so the result wraps.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/common.cc`.

use super::gemmlowp::double_rounding;
use super::{Kernel, each};
use crate::contract::{Contract, Domain, Overflow};

const SOURCE: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/common.cc";

/// Default: gemmlowp's two functions on an accumulator multiplied by `1 << max(s, 0)`. The source has no checks.
pub(super) const DOUBLE: Kernel = Kernel {
    name: "tflite-double",
    summary: "TFLite MultiplyByQuantizedMultiplier, double rounding",
    contract: Contract::new("gemmlowp-double", Overflow::Wrap, Domain::ALL, SOURCE),
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| double_rounding(x, m, s));
    },
    native: None,
};

/// `(x * m + 2^(30-s)) >> (31-s)`. The source checks `m >= 0` and `-31 <= s <= 30`.
pub(super) const SINGLE: Kernel = Kernel {
    name: "tflite-single",
    summary: "TFLite MultiplyByQuantizedMultiplier, single rounding",
    contract: Contract::new(
        "tflite-single",
        Overflow::Wrap,
        Domain { multipliers: 0..=i32::MAX, shifts: -31..=30, ..Domain::ALL },
        SOURCE,
    ),
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| single_rounding(x, m, s));
    },
    native: None,
};

/// `(x * m16 + 2^(14-s)) >> (15-s)` with the multiplier reduced to 16 bits. The source checks `m >= 0`, `-31 <= s <= 7`.
pub(super) const REDUCED: Kernel = Kernel {
    name: "tflite-int16",
    summary: "TFLite MultiplyByQuantizedMultiplier for int64 accumulators, multiplier reduced to 16 bits",
    contract: Contract::new(
        "tflite-int16-multiplier",
        Overflow::Wrap,
        Domain { multipliers: 0..=i32::MAX, shifts: -31..=7, ..Domain::ALL },
        SOURCE,
    ),
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| reduced_multiplier(x, m, s));
    },
    native: None,
};

/// Computes one element of [`SINGLE`].
#[inline(always)]
pub(crate) fn single_rounding(x: i32, m: i32, s: i32) -> i32 {
    let total = (31 - s) as u32;
    let rounding = 1i64.wrapping_shl(total.wrapping_sub(1));
    (i64::from(x) * i64::from(m) + rounding).wrapping_shr(total) as i32
}

/// Computes one element of [`REDUCED`].
#[inline(always)]
pub(crate) fn reduced_multiplier(x: i32, m: i32, s: i32) -> i32 {
    let reduced = if m < 0x7FFF_0000 { (m + (1 << 15)) >> 16 } else { 0x7FFF };
    let total = (15 - s) as u32;
    let rounding = 1i64.wrapping_shl(total.wrapping_sub(1));
    (i64::from(x) * i64::from(reduced) + rounding).wrapping_shr(total) as i32
}

/// Computes `QuantizeMultiplier` of a positive normal double: the significand in [1/2, 1) as 31 bits, rounded half away, and the exponent.
pub(crate) fn quantize_multiplier(real: f64) -> (i32, i32) {
    let bits = real.to_bits();
    let mut shift = (bits >> 52) as i32 - 1022;
    let significand = f64::from_bits(bits & ((1 << 52) - 1) | 1022 << 52);
    let mut fixed = (significand * f64::from(1u32 << 31)).round() as i64;
    if fixed == 1 << 31 {
        fixed /= 2;
        shift += 1;
    }
    if shift < -31 { (0, 0) } else { (fixed as i32, shift) }
}

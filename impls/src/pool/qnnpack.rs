//! QNNPACK: the int32 sum, with a bias of minus the zero points of the whole window, times the 24-bit significand of the scale in 64 bits. The
//! product, less 1 if the sum is negative, is shifted right with rounding once: ties go away from zero. Padding is a buffer of zero points, and the
//! divisor counts it.
//!
//! Source: pytorch/QNNPACK `src/qnnpack/requantization.h` (qnnp_avgpool_quantize), `src/average-pooling.c`.

use super::windows::{clamp, each, single};
use super::{Counted, Domain, Kernel, Params, onnx};
use crate::contract::{Overflow, Promise};
use crate::element::Element::U8;

/// Average of unsigned bytes.
pub(super) const AVERAGE_U8: Kernel = Kernel::scalar(
    "qnnpack-q8avgpool",
    "QNNPACK q8avgpool: int32 sum, multiplier of 24 bits, one rounding shift, ties away; padding counted",
    Promise { scheme: "qnnpack", overflow: Overflow::OutOfDomain },
    Domain { element: U8, counted: Counted::Always, clamp: true, ..onnx::IN_F32 },
    "pytorch/QNNPACK src/qnnpack/requantization.h, src/average-pooling.c",
    |params, input, out| {
        let by = single(params, params.area());
        let bias = -params.input.zero_point * params.area() as i32;
        each(params, U8, input, out, |window| {
            let padding = (params.area() - window.inside()) as i32 * params.input.zero_point;
            requantized(params, by, window.sum() + padding + bias)
        });
    },
);

/// Multiplies the biased sum by a scale in `[2^-32, 2^8)`, adds the zero point, and clamps.
#[inline(always)]
pub(super) fn requantized(params: &Params, scale: f32, sum: i32) -> i32 {
    let bits = scale.to_bits();
    let multiplier = i64::from(bits & 0x007f_ffff | 0x0080_0000);
    let shift = 127 + 23 - (bits >> 23);
    let product = i64::from(sum) * multiplier - i64::from(sum < 0);
    let rounded = (product + (1i64 << (shift - 1))) >> shift;
    clamp(rounded as i32 + params.out.zero_point, params)
}

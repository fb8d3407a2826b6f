//! XNNPACK: f32 to qs8 and qu8 by a magic bias. The sum of `1.5 * 2^23` and a number below `2^22` has the nearest integer in its low bits, ties to
//! even, because the last place of the sum has weight 1.
//!
//! `math_max_f32` is `fmaxf`, which returns the bound for NaN. (The variant `imagic` instead clamps the sum's bits as int32, and turns NaN into a
//! bound by its sign.)
//!
//! Source: google/XNNPACK `src/f32-qs8-vcvt/scalar-fmagic.c.in`, `src/xnnpack/math.h`.

use super::{Domain, Kernel, each};
use crate::contract::{Overflow, Promise};

const MAGIC_BIAS: f32 = 12_582_912.0;

/// Scalar kernel.
pub(super) const FMAGIC: Kernel = Kernel::scalar(
    "xnnpack-quantize",
    "XNNPACK fmagic: x * (1/scale) in f32, clamped less the zero point, rounded by a magic bias",
    Promise { scheme: "xnnpack", overflow: Overflow::OutOfDomain },
    Domain { bounds: true, ..Domain::BYTES },
    "google/XNNPACK src/f32-qs8-vcvt/scalar-fmagic.c.in",
    |params, x, out| {
        let bounds = [params.quantized.min, params.quantized.max];
        let channel = |scale: f32, zero_point: i64| {
            let bias_less_zero_point = MAGIC_BIAS.to_bits() as i32 - zero_point as i32;
            (1.0 / scale, bounds.map(|bound| (bound - zero_point) as f32), bias_less_zero_point)
        };
        each(params, x, out, channel, |x, (reciprocal, [min, max], bias_less_zero_point)| {
            let biased = (x * reciprocal).max(*min).min(*max) + MAGIC_BIAS;
            biased.to_bits() as i32 - bias_less_zero_point
        });
    },
);

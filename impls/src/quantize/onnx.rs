//! ONNX Runtime: QuantizeLinear, `saturate(round_half_even(x / scale) + zero_point)`.
//!
//! Its vector code divides, clamps to the bounds less the zero point, and converts by `cvtps2dq` or `fcvtns`; the zero point is added in
//! integers. `maxps` and `fmaxnm` give the bound where the quotient is NaN, so NaN becomes the least value. Tails take the same steps.
//!
//! Blocks along the last axis go through the same code, one call for each block. Along another axis they do not: there a different loop converts
//! to int32 before it clamps, which leaves quotients beyond int32 undefined.
//!
//! Source: ONNX operators, QuantizeLinear; microsoft/onnxruntime `onnxruntime/core/mlas/lib/quantize.cpp`, `MlasQuantizeLinearVector`;
//! `onnxruntime/core/util/qmath.h`, `BlockedQuantizeLinear`.

use super::{Domain, Kernel, each};
use crate::contract::{Overflow, Promise};
use crate::quantized::{Container, Expressed, Finest, I8, I16, Params, U8, U16};

/// Whole 8- and 16-bit types, per tensor, per axis, and in blocks along the last axis.
pub(crate) const DOMAIN: Domain = Domain {
    expressed: &[Expressed::F32],
    storage: &[I8, U8, I16, U16],
    bounds: false,
    finest: Finest::LastAxis,
    containers: &[Container::Ranked],
    compiled: false,
};

/// MLAS.
pub(super) const LINEAR: Kernel = Kernel::scalar(
    "onnx-quantizelinear",
    "ONNX Runtime: x / scale clamped less the zero point, nearest even, then the zero point",
    Promise { scheme: "onnx", overflow: Overflow::OutOfDomain },
    DOMAIN,
    "ONNX operators, QuantizeLinear; microsoft/onnxruntime onnxruntime/core/mlas/lib/quantize.cpp",
    |params, x, out| linear(params, x, out, f32::round_ties_even),
);

/// The kernel, rounding by `round`.
#[inline(always)]
pub(crate) fn linear(params: &Params, x: &[i32], out: &mut [i32], round: impl Fn(f32) -> f32) {
    let [min, max] = [params.quantized.min, params.quantized.max];
    let channel =
        |scale, zero_point| (scale, [min - zero_point, max - zero_point].map(|v| v as f32), zero_point as i32);
    each(params, x, out, channel, |x, (scale, [min, max], zero_point)| {
        // `max` and `min` of Rust give the number where the other is NaN.
        round((x / scale).max(*min).min(*max)) as i32 + zero_point
    });
}

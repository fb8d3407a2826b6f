//! Products whose sums are scaled in f32: XNNPACK's `fp32` requantization, and ONNX Runtime's `QLinearMatMul` and `QLinearConv`.
//!
//! The sum with its bias wraps in int32, is rounded to f32, and is multiplied by the scale in f32. The result is clamped to the ends of the output
//! less the zero point and rounded to nearest, ties to even. Then the zero point is added. A scale is a 24-bit multiplier: `m * 2^(s-31)` is an f32.
//!
//! Rounding is `lrintf`, `vcvtn`, or the addition of a magic bias of 1.5 * 2^23. With the magic bias, the bits of (bias less zero point) are
//! subtracted from the bits of the sum. Within the clamp all three are the same.
//!
//! Source: google/XNNPACK `src/qs8-gemm/scalar.c.in` with `fp32` and its variants `lrintf` and `fmagic`; microsoft/onnxruntime `onnxruntime/core/mlas/lib/requantize.cpp`
//! `MlasRequantizeOutput`, `onnxruntime/core/providers/cpu/quantization/quantize_linear_matmul.cc`.

use super::loops::{Operand, each};
use super::{Domain, Kernel, Layer, Params};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{I8, U8};
use crate::fpm::Channel;
use crate::kernel::scalar;
use crate::matmul;

const PROMISE: Promise = Promise { scheme: "xnnpack-fp32", overflow: Overflow::Wrap };
const XNNPACK: &str = "google/XNNPACK src/qs8-gemm/scalar.c.in with fp32";
const MLAS: &str = "microsoft/onnxruntime onnxruntime/core/mlas/lib/requantize.cpp MlasRequantizeOutput";

/// Scales that are f32, from 2^-32 to 2^8, as XNNPACK asserts.
const SCALES: contract::Domain = contract::Domain {
    multipliers: 1 << 30..=i32::MAX,
    multiple_of: 1 << 7,
    shifts: -31..=8,
    ..contract::Domain::PER_CHANNEL
};

/// Domain of int8 with symmetric weights and a scale for each column.
pub(crate) const QC8W: Domain = Domain {
    operands: matmul::Domain { rhs_offsets: 0..=0, ..matmul::Domain::all(I8, I8) },
    ..Domain::layer([I8; 3], SCALES)
};

/// `qs8-qc8w-gemm`, with `lrintf`.
pub(super) const QC8W_I8: Kernel = scalar!(
    "xnnpack-qs8-qc8w-gemm-fp32", "XNNPACK qs8-qc8w-gemm fp32: clamped in f32, lrintf, zero point; a scale for each column",
    PROMISE on QC8W, from XNNPACK,
    |params, lhs, rhs, out| {
        layer(params, (I8, lhs), (I8, rhs), out, |layer, scaled| placed(layer, scaled, f32::round_ties_even))
    }
);

/// `qu8-gemm`, with the magic bias.
pub(super) const QU8: Kernel = Kernel::scalar(
    "xnnpack-qu8-gemm-fp32",
    "XNNPACK qu8-gemm fp32: clamped in f32, rounded by a magic bias, from whose bits the zero point is taken",
    PROMISE,
    Domain::layer([U8; 3], contract::Domain { per_channel: false, ..SCALES }),
    XNNPACK,
    |params, lhs, rhs, out| {
        layer(params, (U8, lhs), (U8, rhs), out, |layer, scaled| {
            let [min, max] = ends(layer);
            let less_zero_point = (MAGIC.to_bits() as i32).wrapping_sub(layer.zero_point);
            ((scaled.max(min).min(max) + MAGIC).to_bits() as i32).wrapping_sub(less_zero_point)
        })
    },
);

/// MLAS, uint8 by int8 to uint8.
pub(super) const MLAS_U8: Kernel = scalar!(
    "onnxruntime-qlinearmatmul-u8", "ONNX Runtime QLinearMatMul and QLinearConv, MlasRequantizeOutput: uint8 by int8, a scale for each column",
    PROMISE on Domain::layer([U8, I8, U8], SCALES).of_whole_output(), from MLAS,
    |params, lhs, rhs, out| layer(params, (U8, lhs), (I8, rhs), out, mlas)
);

/// MLAS, int8.
pub(super) const MLAS_I8: Kernel = scalar!(
    "onnxruntime-qlinearmatmul-i8", "ONNX Runtime QLinearMatMul and QLinearConv, MlasRequantizeOutput: int8, a scale for each column",
    PROMISE on Domain::layer([I8; 3], SCALES).of_whole_output(), from MLAS,
    |params, lhs, rhs, out| layer(params, (I8, lhs), (I8, rhs), out, mlas)
);

/// Magic bias: its sum with a number within 2^22 of zero has no fraction bits.
const MAGIC: f32 = 12_582_912.0;

/// Clamps, rounds, and adds the zero point.
#[inline(always)]
pub(crate) fn placed(layer: &Layer<'_>, scaled: f32, round: fn(f32) -> f32) -> i32 {
    let [min, max] = ends(layer);
    round(scaled.max(min).min(max)) as i32 + layer.zero_point
}

/// Returns the ends of the output less the zero point, which an f32 holds exactly.
#[inline(always)]
pub(crate) fn ends(layer: &Layer<'_>) -> [f32; 2] {
    [layer.min, layer.max].map(|end| (end - layer.zero_point) as f32)
}

/// Clamps to the ends of the type less the zero point, rounds by the magic bias, and adds the zero point.
#[inline(always)]
fn mlas(layer: &Layer<'_>, scaled: f32) -> i32 {
    let range = layer.output.range();
    let [min, max] = [range.start(), range.end()].map(|end| (end - layer.zero_point) as f32);
    let clamped = scaled.max(min).min(max);
    ((clamped + MAGIC).to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32).wrapping_add(layer.zero_point)
}

/// Returns a 24-bit scale as f32.
#[inline(always)]
pub(crate) fn scale(Channel { multiplier, shift }: Channel) -> f32 {
    multiplier as f32 * f32::from_bits((shift - 31 + 127).cast_unsigned() << 23)
}

/// Computes each result from its layer and its scaled sum.
#[inline(always)]
pub(crate) fn layer(
    params: &Params,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
    out: &mut [i32],
    result: impl Fn(&Layer<'_>, f32) -> i32,
) {
    let Some(layer) = params.layer() else { return };
    each(params, lhs, rhs, out, |sum, [_, column]| {
        result(&layer, sum.wrapping_add(layer.bias(column)) as f32 * scale(layer.channel(column)))
    });
}

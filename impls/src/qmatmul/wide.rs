//! Layers of int16 activations, int8 weights and int64 biases. Sums have 64 bits, of which every source requires 48. The multiplier is reduced to 16
//! bits, so that the product fits in 64 bits.
//!
//! TFLite's `MultiplyByQuantizedMultiplier(int64_t, ..)` adds half of the last place before its shift, and TOSA's `apply_scale_16` does the same with
//! a 16-bit multiplier. CMSIS-NN's `arm_nn_requantize_s64` shifts with one extra fraction bit, casts to int32, and then rounds that bit away.
//!
//! `arm_nn_vec_mat_mult_t_s16` with `ARM_MATH_DSP` sums the first 512 products in 32 bits. This is exact for weights of -127 to 127, which TFLite's
//! specification of 8-bit quantization requires, and not for 512 products of -32768 and -128. Read from the source.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h`, `tensorflow/lite/kernels/internal/common.cc`;
//! ARM-software/CMSIS-NN `Source/FullyConnectedFunctions/arm_fully_connected_s16.c`, `Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s16.c`; TOSA specification,
//! FULLY_CONNECTED, RESCALE, apply_scale_16.

use super::{Domain, Kernel, Layer64, Lists, Params};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{I8, I16};
use crate::fpm::Channel;
use crate::matmul;
use crate::requantize;

const CMSIS_NN: &str = "ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s16.c";
pub(crate) const HALVES: Promise = Promise { scheme: "cmsis-nn-int16-multiplier", overflow: Overflow::Wrap };

/// Domain of int16 by int8 to int16 with these offsets and multipliers. The zero points of int16 are 0.
const fn domain(operands: matmul::Domain, channels: contract::Domain) -> Domain {
    Domain {
        operands,
        lists: Lists::Layer64,
        requantize: requantize::Domain { output: I16, channels, bias: true, zero_point: false, clamp: true },
    }
}

/// Weights with a zero point, which only TFLite's code adds.
const OPERANDS: matmul::Domain =
    matmul::Domain { lhs_offsets: 0..=0, rhs_offsets: -127..=128, ..matmul::Domain::all(I16, I8) };
const SYMMETRIC: matmul::Domain = matmul::Domain { rhs_offsets: 0..=0, ..OPERANDS };

/// Multipliers and shifts that TFLite checks: `m >= 0`, `-31 <= s <= 7`.
pub(crate) const REDUCED: contract::Domain =
    contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=7, ..contract::Domain::PER_CHANNEL };

/// Domain of TFLite's layers.
pub(crate) const TFLITE: Domain = domain(OPERANDS, REDUCED);
/// Domain of CMSIS-NN's layers: no offsets, and one multiplier of either sign.
pub(crate) const CMSIS: Domain =
    domain(SYMMETRIC, contract::Domain { multipliers: -i32::MAX..=i32::MAX, per_channel: false, ..REDUCED });

/// TFLite's reference layer.
pub(super) const TFLITE_I16: Kernel = Kernel::scalar(
    "tflite-fully-connected-16x8",
    "TFLite reference FullyConnectedPerChannel, int16 by int8: int64 sums and biases, multiplier reduced to 16 bits",
    Promise { scheme: "tflite-int16-multiplier", overflow: Overflow::Wrap },
    TFLITE,
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h; common.cc",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| rounded(layer, sum + layer.bias(j), j)),
);

/// CMSIS-NN's C code.
pub(super) const CMSIS_I16: Kernel = Kernel::scalar(
    "cmsis-nn-fully-connected-i16",
    "CMSIS-NN arm_fully_connected_s16 in C: int64 sums and biases, arm_nn_requantize_s64",
    HALVES,
    CMSIS,
    CMSIS_NN,
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| halved(layer, sum + layer.bias(j), j)),
);

/// CMSIS-NN's code for the DSP extension.
pub(super) const CMSIS_DSP_I16: Kernel = Kernel::scalar(
    "cmsis-nn-fully-connected-dsp-i16",
    "CMSIS-NN arm_fully_connected_s16 with ARM_MATH_DSP: SMLAD for the first 512 products, int64 for the others",
    HALVES,
    Domain { operands: matmul::Domain { rhs_values: -127..=127, ..SYMMETRIC }, ..CMSIS },
    CMSIS_NN,
    dsp,
);

/// TOSA's operators.
pub(super) const TOSA_I48: Kernel = Kernel::scalar(
    "tosa-fully-connected-i48",
    "TOSA FULLY_CONNECTED int16 by int8 with accumulators of 48 bits, RESCALE by apply_scale_16, CLAMP",
    Promise { scheme: "tflite-int16-multiplier", overflow: Overflow::OutOfDomain },
    domain(
        SYMMETRIC,
        contract::Domain { multipliers: 0..=0x7FFF_0000, multiple_of: 1 << 16, shifts: -31..=13, ..REDUCED },
    ),
    "TOSA specification, FULLY_CONNECTED, RESCALE, apply_scale_16 (multiplier = m / 2^16, shift = 15 - s)",
    |params, lhs, rhs, out| {
        layer(params, lhs, rhs, out, |layer, sum, j| {
            let Channel { multiplier, shift } = layer.channel(j);
            let places = 15 - shift;
            let product = (sum + layer.bias(j)).wrapping_mul(i64::from((multiplier >> 16) as i16));
            layer.finish((product.wrapping_add(1 << (places - 1)) >> places) as i32)
        });
    },
);

/// Number of products of [`dsp`] that are summed in 32 bits.
pub(crate) const FAST: usize = 512;

/// Sums the first products by `SMLAD`, four at a time, up to [`FAST`]; sums the remaining products in 64 bits.
#[inline(always)]
pub(crate) fn dsp(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Some(of) = params.layer64() else { return };
    let n = params.shape.n;
    let whole = params.shape.k.min(FAST) / 4 * 4;
    each(params, lhs, rhs, out, |row, column, j| {
        let products = row.iter().zip(column).map(|(l, r)| (i32::from(*l), i32::from(*r)));
        let (mut fast, mut sum) = (0i32, 0i64);
        for (at, (l, r)) in products.enumerate() {
            if at < whole {
                fast = fast.wrapping_add(l * r);
            } else {
                sum += i64::from(l * r);
            }
        }
        halved(&of, sum + i64::from(fast) + of.bias(j % n), j)
    });
}

/// Computes `REDUCE_MULTIPLIER`, which TFLite has in the same form.
#[inline(always)]
pub(crate) fn reduced(multiplier: i32) -> i64 {
    if multiplier < 0x7FFF_0000 { ((multiplier + (1 << 15)) >> 16).into() } else { 0x7FFF }
}

/// Finishes TFLite's layer: adds half of the last place, shifts, and casts.
#[inline(always)]
pub(crate) fn rounded(layer: &Layer64<'_>, sum: i64, column: usize) -> i32 {
    let Channel { multiplier, .. } = layer.channel(column);
    shifted(layer, sum, reduced(multiplier), column)
}

/// Finishes TFLite's layer by a 16-bit multiplier.
#[inline(always)]
pub(crate) fn shifted(layer: &Layer64<'_>, sum: i64, reduced: i64, column: usize) -> i32 {
    let places = 15 - layer.channel(column).shift;
    let nudged = sum.wrapping_mul(reduced).wrapping_add(1 << (places - 1));
    layer.finish((nudged >> places) as i32)
}

/// Finishes CMSIS-NN's layer: shifts with one extra fraction bit, casts to int32, and rounds that bit away.
#[inline(always)]
pub(crate) fn halved(layer: &Layer64<'_>, sum: i64, column: usize) -> i32 {
    let Channel { multiplier, shift } = layer.channel(column);
    let high = (sum.wrapping_mul(reduced(multiplier)) >> (14 - shift)) as i32;
    layer.finish(high.wrapping_add(1) >> 1)
}

/// Computes each result from its 64-bit sum and its column: `acc += (lhs + lhs_offset) * (rhs + rhs_offset)`.
#[inline(always)]
pub(crate) fn layer(
    params: &Params,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    result: impl Fn(&Layer64<'_>, i64, usize) -> i32,
) {
    let Some(of) = params.layer64() else { return };
    let (lhs_offset, rhs_offset) = (params.shape.lhs_offset, params.shape.rhs_offset);
    each(params, lhs, rhs, out, |row, column, j| {
        let product = |(l, r): (&i16, &i8)| (i32::from(*l) + lhs_offset).wrapping_mul(i32::from(*r) + rhs_offset);
        result(&of, row.iter().zip(column).map(|terms| i64::from(product(terms))).sum(), j)
    });
}

/// Computes each result from its row, its column and the index of the column.
#[inline(always)]
fn each(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32], result: impl Fn(&[i16], &[i8], usize) -> i32) {
    let (n, k) = (params.shape.n, params.shape.k);
    let lhs: Vec<i16> = lhs.as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect();
    let columns: Vec<i8> = (0..n).flat_map(|j| rhs.iter().skip(j).step_by(n).map(|byte| *byte as i8)).collect();
    for (row, out) in lhs.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (j, (column, out)) in columns.chunks_exact(k).zip(out).enumerate() {
            *out = result(row, column, j);
        }
    }
}

//! CMSIS-NN: convolutions of int16 by int8 for Cortex-M, with requantization.
//!
//! `arm_convolve_s16` writes patches of int16, padded by 0, and multiplies two patches by the filters. It sums the first 512 products of a result in
//! 32 bits and the others in 64 bits, and adds the 64-bit bias. If an image has an odd number of results, all products of the last result are summed
//! in 32 bits. Both sums are exact for 512 products with weights of -127 to 127; for more products the sum of the last result wraps. With a 32-bit
//! bias `arm_nn_requantize` follows, as for int8.
//!
//! `arm_depthwise_conv_s16` starts each 64-bit accumulator with the bias. Both functions end with `arm_nn_requantize_s64`.
//!
//! Source: ARM-software/CMSIS-NN `Source/ConvolutionFunctions/arm_convolve_s16.c`, `arm_nn_mat_mult_kernel_s16.c`, `arm_depthwise_conv_s16.c`.

use super::tflite_16x8::{elements, symmetric};
use super::{Domain, Kernel, Params, cmsis_nn};
use crate::contract;
use crate::conv2d::im2col::{depth, im2col};
use crate::fpm::cmsis_nn::double_rounding;
use crate::kernel::scalar;
use crate::matmul;
use crate::qmatmul::wide::{FAST, HALVES, halved};

const CONVOLVE_C: &str =
    "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_convolve_s16.c, arm_nn_mat_mult_kernel_s16.c";

/// Domain of 64-bit sums, with multipliers of either sign.
const WIDE: Domain =
    symmetric(contract::Domain { multipliers: -i32::MAX..=i32::MAX, ..crate::qmatmul::wide::REDUCED }, true);

/// Domain of convolutions of one group, with the weights that TFLite's specification of 8-bit quantization allows.
pub(crate) const DENSE: Domain =
    Domain { operands: matmul::Domain { rhs_values: -127..=127, ..WIDE.operands }, grouped: false, ..WIDE };

/// `arm_convolve_s16` with a 64-bit bias.
pub(super) const CONVOLVE: Kernel = scalar!(
    "cmsis-nn-convolve-i16", "CMSIS-NN arm_convolve_s16: two patches at a time, 512 products in int32, arm_nn_requantize_s64",
    HALVES on Domain { operands: matmul::Domain { depth: 1..=FAST, ..DENSE.operands }, ..DENSE }, from CONVOLVE_C,
    convolve
);

/// `arm_convolve_s16` with a 32-bit bias.
pub(super) const CONVOLVE_BIAS32: Kernel = scalar!(
    "cmsis-nn-convolve-i16-bias32", "CMSIS-NN arm_convolve_s16 with is_int32_bias: sums of int32, arm_nn_requantize per channel",
    cmsis_nn::DOUBLE on Domain { grouped: false, ..symmetric(cmsis_nn::CHANNELS, false) }, from CONVOLVE_C,
    |params, input, weights, out| {
        // CMSIS-NN adds the bias last, and the shared int8 function adds it first: the wrapped sums are equal.
        cmsis_nn::products(params, &elements(input), weights, out, double_rounding);
    }
);

/// `arm_depthwise_conv_s16`.
pub(super) const DEPTHWISE: Kernel = Kernel::scalar(
    "cmsis-nn-depthwise-i16",
    "CMSIS-NN arm_depthwise_conv_s16: int64 sums from the bias on, arm_nn_requantize_s64",
    HALVES,
    Domain { dense: false, ..WIDE },
    "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_depthwise_conv_s16.c",
    |params, input, weights, out| {
        let Some(layer) = params.layer64() else { return };
        let input = elements(input);
        let add = |acc: i64, at: usize, filter: usize| acc + i64::from(product(input[at], weights[filter]));
        cmsis_nn::each_depthwise(params, out, |o| layer.bias(o), add, |acc, o| halved(&layer, acc, o));
    },
);

/// Convolves pairs of patches, and a single last patch.
#[inline(always)]
pub(crate) fn convolve(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let Some(layer) = params.layer64() else { return };
    let shape = &params.shape;
    let Ok((rows, columns)) = shape.output() else { return };
    let (depth, outputs) = (depth(shape), shape.out_channels);
    let mut patches = vec![0i16; out.len() / outputs * depth];
    im2col(shape, 0, &elements(input), 0, &mut patches);
    let images = patches.chunks_exact(rows * columns * depth).zip(out.chunks_exact_mut(rows * columns * outputs));
    for (patches, out) in images {
        for (pair, out) in patches.chunks(2 * depth).zip(out.chunks_mut(2 * outputs)) {
            // A single last patch has no 64-bit loop.
            let fast = if pair.len() > depth { FAST } else { depth };
            for (patch, out) in pair.chunks_exact(depth).zip(out.chunks_exact_mut(outputs)) {
                for (o, out) in out.iter_mut().enumerate() {
                    *out = halved(&layer, sum(patch, &weights[o..], outputs, fast) + layer.bias(o), o);
                }
            }
        }
    }
}

/// Returns the sum of the products of a patch and a filter, with the first `fast` products summed in 32 bits.
#[inline(always)]
fn sum(patch: &[i16], weights: &[u8], outputs: usize, fast: usize) -> i64 {
    let products = patch.iter().zip(weights.iter().step_by(outputs)).map(|(value, weight)| product(*value, *weight));
    let (mut low, mut rest) = (0i32, 0i64);
    for (at, product) in products.enumerate() {
        if at < fast {
            low = low.wrapping_add(product);
        } else {
            rest += i64::from(product);
        }
    }
    rest + i64::from(low)
}

#[inline(always)]
fn product(value: i16, weight: u8) -> i32 {
    i32::from(value) * i32::from(weight as i8)
}

//! CMSIS-NN: convolutions of int16 by int8 of Cortex-M, whole.
//!
//! `arm_convolve_s16` writes patches of int16, padded by 0, and multiplies two of them by the filters: the first 512 products of a result are summed in 32 bits, and the
//! others in 64, to which the bias of 64 bits is added. If an image has an odd number of results, all products of the last one are summed in 32 bits. Both are exact
//! for 512 products of weights of -127 to 127, and the second one wraps beyond them. A bias of 32 bits takes `arm_nn_requantize`, as int8 does.
//!
//! `arm_depthwise_conv_s16` begins each accumulator of 64 bits at the bias. `arm_nn_requantize_s64` ends both.
//!
//! Source: ARM-software/CMSIS-NN `Source/ConvolutionFunctions/arm_convolve_s16.c`, `arm_nn_mat_mult_kernel_s16.c`, `arm_depthwise_conv_s16.c`.

use super::tflite_16x8::{elements, symmetric};
use super::{Domain, Kernel, Params, cmsis_nn};
use crate::contract;
use crate::conv2d::im2col::{depth, im2col};
use crate::fpm::cmsis_nn::double_rounding;
use crate::matmul;
use crate::qmatmul::wide::{FAST, HALVES, halved};

const CONVOLVE_C: &str =
    "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_convolve_s16.c, arm_nn_mat_mult_kernel_s16.c";

/// Sums of 64 bits, with multipliers of any sign.
const WIDE: Domain =
    symmetric(contract::Domain { multipliers: -i32::MAX..=i32::MAX, ..crate::qmatmul::wide::REDUCED }, true);

/// Convolutions of one group, with weights that TFLite's specification of 8-bit quantization allows.
pub(crate) const DENSE: Domain =
    Domain { operands: matmul::Domain { rhs_values: -127..=127, ..WIDE.operands }, grouped: false, ..WIDE };

/// `arm_convolve_s16` with a bias of 64 bits.
pub(super) const CONVOLVE: Kernel = Kernel::scalar(
    "cmsis-nn-convolve-i16",
    "CMSIS-NN arm_convolve_s16: two patches at a time, 512 products in int32, arm_nn_requantize_s64",
    HALVES,
    Domain { operands: matmul::Domain { depth: 1..=FAST, ..DENSE.operands }, ..DENSE },
    CONVOLVE_C,
    convolve,
);

/// `arm_convolve_s16` with a bias of 32 bits.
pub(super) const CONVOLVE_BIAS32: Kernel = Kernel::scalar(
    "cmsis-nn-convolve-i16-bias32",
    "CMSIS-NN arm_convolve_s16 with is_int32_bias: sums of int32, arm_nn_requantize per channel",
    cmsis_nn::DOUBLE,
    Domain { grouped: false, ..symmetric(cmsis_nn::CHANNELS, false) },
    CONVOLVE_C,
    |params, input, weights, out| {
        // The bias is added last here, and first in the function of int8: the sums wrap to the same.
        cmsis_nn::products(params, &elements(input), weights, out, double_rounding);
    },
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

/// The sums of pairs of patches, and of a last one that has no other.
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
            // The one that is left over has no loop of 64 bits.
            let fast = if pair.len() > depth { FAST } else { depth };
            for (patch, out) in pair.chunks_exact(depth).zip(out.chunks_exact_mut(outputs)) {
                for (o, out) in out.iter_mut().enumerate() {
                    *out = halved(&layer, sum(patch, &weights[o..], outputs, fast) + layer.bias(o), o);
                }
            }
        }
    }
}

/// The sum of the products of a patch and a filter, the first of them in 32 bits.
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

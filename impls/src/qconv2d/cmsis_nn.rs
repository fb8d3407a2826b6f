//! CMSIS-NN: int8 convolution and depthwise convolution for Cortex-M, with requantization.
//!
//! `arm_convolve_s8` writes the patches of two results as int16 with the offset added, so that padding is 0. It multiplies two patches by two filters
//! at a time, and the remaining ones singly. `arm_depthwise_conv_s8` has a generic loop, and a loop over four results at a time for one image without
//! dilation, if the channel multiplier is a multiple of 4. The accumulator starts with the bias; then follow `arm_nn_requantize`, the offset, `MAX`
//! and `MIN`. Sums wrap where C leaves them undefined.
//!
//! Source: ARM-software/CMSIS-NN `Source/ConvolutionFunctions/arm_convolve_s8.c`, `arm_depthwise_conv_s8.c`,
//! `Source/ConvolutionFunctions/arm_nn_mat_mult_kernel_s8_s16.c`.

use super::{Domain, Kernel, Params, tflite};
use crate::contract::{self, Overflow, Promise};
use crate::conv2d::im2col::{depth, im2col};
use crate::fpm::Channel;
use crate::fpm::cmsis_nn::{self, double_rounding, single_rounding};
use crate::kernel::scalar;

pub(super) const CHANNELS: contract::Domain = contract::Domain { per_channel: true, ..cmsis_nn::DOMAIN };
pub(super) const DOUBLE: Promise = Promise { scheme: "cmsis-nn-double", overflow: Overflow::Wrap };
const CONVOLVE: &str = "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_convolve_s8.c";
const DEPTHWISE: &str = "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_depthwise_conv_s8.c";

/// Results that the wide depthwise loop computes at a time.
const TILE: usize = 4;

/// `arm_convolve_s8`.
pub(super) const CONVOLVE_I8: Kernel = scalar!(
    "cmsis-nn-convolve-i8", "CMSIS-NN arm_convolve_s8: two patches of int16 at a time, arm_nn_requantize per channel",
    DOUBLE on tflite::symmetric(CHANNELS), from CONVOLVE,
    |params, input, weights, out| convolve(params, input, weights, out, double_rounding)
);

/// `arm_convolve_s8` built with `CMSIS_NN_USE_SINGLE_ROUNDING`.
pub(super) const CONVOLVE_SINGLE_I8: Kernel = scalar!(
    "cmsis-nn-convolve-single-i8", "CMSIS-NN arm_convolve_s8 built with CMSIS_NN_USE_SINGLE_ROUNDING",
    "cmsis-nn-single" Wrap on tflite::symmetric(CHANNELS), from CONVOLVE,
    |params, input, weights, out| convolve(params, input, weights, out, single_rounding)
);

/// `arm_depthwise_conv_s8`.
pub(super) const DEPTHWISE_I8: Kernel = scalar!(
    "cmsis-nn-depthwise-i8", "CMSIS-NN arm_depthwise_conv_s8: generic, and four results at a time for multiples of 4",
    DOUBLE on Domain { dense: false, ..tflite::symmetric(CHANNELS) }, from DEPTHWISE, depthwise
);

/// Applies `arm_nn_requantize`, the offset, and the bounds of the activation.
#[inline(always)]
pub(super) fn end(params: &Params, sum: i32, o: usize, requantize: fn(i32, i32, i32) -> i32) -> i32 {
    let Channel { multiplier, shift } = params.channel(o);
    params.finish(requantize(sum, multiplier, shift))
}

fn convolve(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32], requantize: fn(i32, i32, i32) -> i32) {
    let offset = params.shape.input_zero_point.wrapping_neg() as i16;
    let wide: Vec<i16> = input.iter().map(|byte| i16::from(*byte as i8).wrapping_add(offset)).collect();
    products(params, &wide, weights, out, requantize);
}

/// Convolves an image whose elements already include the offset.
pub(super) fn products(
    params: &Params,
    wide: &[i16],
    weights: &[u8],
    out: &mut [i32],
    requantize: fn(i32, i32, i32) -> i32,
) {
    let shape = &params.shape;
    let (depth, share) = (depth(shape), shape.out_channels / shape.groups);
    let mut columns = vec![0i16; out.len() / shape.out_channels * depth];
    for group in 0..shape.groups {
        im2col(shape, group, wide, 0, &mut columns);
        let mut pairs = columns.chunks_exact(2 * depth);
        let mut at = 0;
        for pair in pairs.by_ref() {
            let (first, second) = pair.split_at(depth);
            let mut o = group * share;
            // Two filters by two patches, and a single last filter.
            while o < (group + 1) * share {
                let filters = if o + 1 < (group + 1) * share { 2 } else { 1 };
                for o in o..o + filters {
                    for (patch, at) in [(first, at), (second, at + 1)] {
                        let sum = product(params.bias(o), patch, weights, shape.out_channels, o);
                        out[at * shape.out_channels + o] = end(params, sum, o, requantize);
                    }
                }
                o += filters;
            }
            at += 2;
        }
        // Last patch of an odd number of results.
        let patch = pairs.remainder();
        if !patch.is_empty() {
            for o in group * share..(group + 1) * share {
                let sum = product(params.bias(o), patch, weights, shape.out_channels, o);
                out[at * shape.out_channels + o] = end(params, sum, o, requantize);
            }
        }
    }
}

/// Returns the bias plus the products of a patch with the filter of an output channel.
#[inline(always)]
fn product(bias: i32, patch: &[i16], weights: &[u8], outputs: usize, o: usize) -> i32 {
    let filter = weights.chunks_exact(outputs).map(|row| i32::from(row[o] as i8));
    patch.iter().zip(filter).fold(bias, |sum, (value, weight)| sum.wrapping_add(i32::from(*value) * weight))
}

fn depthwise(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let shape = &params.shape;
    let multiplier = shape.out_channels / shape.channels;
    let plain = shape.batches == 1 && shape.dilation_h == 1 && shape.dilation_w == 1;
    if multiplier.is_multiple_of(TILE) && plain {
        return by_tiles(params, input, weights, out);
    }
    let add = |acc: i32, at: usize, weight: usize| {
        let value = i32::from(input[at] as i8).wrapping_sub(shape.input_zero_point);
        acc.wrapping_add(value.wrapping_mul(i32::from(weights[weight] as i8)))
    };
    each_depthwise(params, out, |o| params.bias(o), add, |acc, o| end(params, acc, o, double_rounding));
}

/// Generic loop: `begin(o)`, then `add(acc, input, weight)` for each pair of element indices, then `result_of`.
#[inline(always)]
pub(super) fn each_depthwise<S>(
    params: &Params,
    out: &mut [i32],
    begin: impl Fn(usize) -> S,
    add: impl Fn(S, usize, usize) -> S,
    result_of: impl Fn(S, usize) -> i32,
) {
    let shape = &params.shape;
    let multiplier = shape.out_channels / shape.channels;
    let Ok((rows, columns)) = shape.output() else { return };
    let mut results = out.iter_mut();
    for image in 0..shape.batches {
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let taps_y = Taps::of(y * shape.stride_h, shape.top, shape.height, shape.kernel_h, shape.dilation_h);
            let taps_x = Taps::of(x * shape.stride_w, shape.left, shape.width, shape.kernel_w, shape.dilation_w);
            for (ic, m) in (0..shape.channels).flat_map(|ic| (0..multiplier).map(move |m| (ic, m))) {
                let o = m + ic * multiplier;
                let mut acc = begin(o);
                for i in taps_y.first..taps_y.end {
                    for j in taps_x.first..taps_x.end {
                        let row = image * shape.height + taps_y.place(i);
                        let at = (row * shape.width + taps_x.place(j)) * shape.channels + ic;
                        acc = add(acc, at, (i * shape.kernel_w + j) * shape.out_channels + o);
                    }
                }
                if let Some(result) = results.next() {
                    *result = result_of(acc, o);
                }
            }
        }
    }
}

/// Filter elements that are inside the image, along one axis.
struct Taps {
    base: isize,
    dilation: usize,
    first: usize,
    end: usize,
}

impl Taps {
    fn of(step: usize, padding: usize, size: usize, kernel: usize, dilation: usize) -> Self {
        let base = step as isize - padding as isize;
        let first = base.min(0).unsigned_abs().div_ceil(dilation);
        let beyond = (size as isize - base).max(0) as usize;
        Self { base, dilation, first, end: kernel.min(beyond.div_ceil(dilation)) }
    }

    fn place(&self, tap: usize) -> usize {
        (self.base + (tap * self.dilation) as isize) as usize
    }
}

/// Computes four results of one input channel at a time, for one image.
fn by_tiles(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let shape = &params.shape;
    let multiplier = shape.out_channels / shape.channels;
    let Ok((_, columns)) = shape.output() else { return };
    for (at, out) in out.chunks_exact_mut(shape.out_channels).enumerate() {
        let rows = Taps::of(at / columns * shape.stride_h, shape.top, shape.height, shape.kernel_h, 1);
        let across = Taps::of(at % columns * shape.stride_w, shape.left, shape.width, shape.kernel_w, 1);
        for (tile, out) in out.chunks_exact_mut(TILE).enumerate() {
            let first = tile * TILE;
            let ic = first / multiplier;
            let mut sums: [i32; TILE] = std::array::from_fn(|lane| params.bias(first + lane));
            for i in rows.first..rows.end {
                for j in across.first..across.end {
                    let pixel = rows.place(i) * shape.width + across.place(j);
                    let value =
                        i32::from(input[pixel * shape.channels + ic] as i8).wrapping_sub(shape.input_zero_point);
                    let filter = &weights[(i * shape.kernel_w + j) * shape.out_channels + first..][..TILE];
                    for (sum, weight) in sums.iter_mut().zip(filter) {
                        *sum = sum.wrapping_add(value.wrapping_mul(i32::from(*weight as i8)));
                    }
                }
            }
            for (lane, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
                *out = end(params, sum, first + lane, double_rounding);
            }
        }
    }
}

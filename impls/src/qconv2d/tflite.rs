//! TensorFlow Lite's reference convolutions, from input elements to output elements.
//!
//! `acc += filter_val * (input_val + input_offset)` over the places inside the image; `acc += bias_data[out_channel]`;
//! `MultiplyByQuantizedMultiplier` per channel; `acc += output_offset`; `max` and `min` with the bounds of the activation. Functions of int8 have no
//! filter offset. Functions of uint8 have one multiplier for all channels. Sums wrap where C++ leaves them undefined.
//!
//! A depthwise function loops over input channels and, inside, over the multiplier: output channel `m + in_channel * depth_multiplier`.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/conv.h`, `ConvPerChannel`, and
//! `integer_ops/depthwise_conv.h`, `DepthwiseConvPerChannel`; `reference/conv.h`, `Conv`; `reference/depthwiseconv_uint8.h`, `DepthwiseConv`.

use super::{Domain, Kernel, Params};
use crate::contract::{self, Overflow, Promise};
use crate::conv2d::{self, direct};
use crate::element::Element::{self, I8, U8};
use crate::fpm::Channel;
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::single_rounding;
use crate::kernel::scalar;
use crate::matmul;

pub(super) const DOUBLE: Promise = Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap };

/// Domain of int8 with symmetric filters.
pub(super) const SYMMETRIC: Domain = symmetric(contract::Domain::PER_CHANNEL);

/// Domain of int8 with symmetric filters and these multipliers and shifts.
pub(crate) const fn symmetric(channels: contract::Domain) -> Domain {
    let all = Domain::all([I8; 3], channels);
    Domain { operands: matmul::Domain { rhs_offsets: 0..=0, ..matmul::Domain::all(I8, I8) }, ..all }
}

/// Domain of uint8 with one multiplier.
pub(super) const BYTES: Domain = Domain::all([U8; 3], contract::Domain::ALL);

/// `ConvPerChannel` of int8.
pub(super) const CONV_I8: Kernel = scalar!(
    "tflite-conv-i8", "TFLite reference ConvPerChannel, int8: bias, double rounding per channel, output offset, activation",
    DOUBLE on SYMMETRIC, from "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/conv.h",
    |params, input, weights, out| conv(params, (I8, input), (I8, weights), out, double_rounding)
);

/// `ConvPerChannel` of int8, built with `TFLITE_SINGLE_ROUNDING`.
pub(super) const CONV_SINGLE_I8: Kernel = Kernel::scalar(
    "tflite-conv-single-i8",
    "TFLite reference ConvPerChannel, int8, built with TFLITE_SINGLE_ROUNDING",
    Promise { scheme: "tflite-single", overflow: Overflow::Wrap },
    symmetric(contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=30, ..contract::Domain::PER_CHANNEL }),
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/conv.h, internal/common.cc",
    |params, input, weights, out| conv(params, (I8, input), (I8, weights), out, single_rounding),
);

/// `Conv` of uint8.
pub(super) const CONV_U8: Kernel = scalar!(
    "tflite-conv-u8", "TFLite reference Conv, uint8: bias, double rounding, output offset, activation",
    DOUBLE on BYTES, from "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/conv.h",
    |params, input, weights, out| conv(params, (U8, input), (U8, weights), out, double_rounding)
);

/// `DepthwiseConvPerChannel` of int8.
pub(super) const DEPTHWISE_I8: Kernel = scalar!(
    "tflite-depthwise-i8", "TFLite reference DepthwiseConvPerChannel, int8, any depth multiplier",
    DOUBLE on Domain { dense: false, ..SYMMETRIC },
    from "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/depthwise_conv.h",
    |params, input, weights, out| {
        depthwise(params, (I8, input), (I8, weights), out, channels, |sum, o| tail(params, sum, o))
    }
);

/// `DepthwiseConv` of uint8.
pub(super) const DEPTHWISE_U8: Kernel = scalar!(
    "tflite-depthwise-u8", "TFLite reference DepthwiseConv, uint8, any depth multiplier",
    DOUBLE on Domain { dense: false, ..BYTES },
    from "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/depthwiseconv_uint8.h",
    |params, input, weights, out| {
        depthwise(params, (U8, input), (U8, weights), out, channels, |sum, o| tail(params, sum, o))
    }
);

/// Applies bias, double rounding, output offset and activation.
#[inline(always)]
pub(crate) fn tail(params: &Params, sum: i32, o: usize) -> i32 {
    let Channel { multiplier, shift } = params.channel(o);
    params.finish(double_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift))
}

/// Computes each result from the sum under the filter and its output channel. `padding` is the value outside the image; with `None` such places are
/// skipped.
#[inline(always)]
pub(crate) fn results(
    params: &Params,
    input: (Element, &[u8]),
    weights: (Element, &[u8]),
    out: &mut [i32],
    padding: Option<i32>,
    result: impl Fn(i32, usize) -> i32,
) {
    let input_offset = params.shape.input_zero_point.wrapping_neg();
    let filter_offset = params.shape.weight_zero_point.wrapping_neg();
    direct::each(&params.shape, out, |window| {
        let mut acc = 0i32;
        window.elements(|at, weight| {
            let Some(value) = at.map(|at| input.0.read(&input.1[at..])).or(padding) else { return };
            let filter = weights.0.read(&weights.1[weight..]).wrapping_add(filter_offset);
            acc = acc.wrapping_add(filter.wrapping_mul(value.wrapping_add(input_offset)));
        });
        result(acc, window.out_channel())
    });
}

#[inline(always)]
fn conv(
    params: &Params,
    input: (Element, &[u8]),
    weights: (Element, &[u8]),
    out: &mut [i32],
    multiply: fn(i32, i32, i32) -> i32,
) {
    results(params, input, weights, out, None, |acc, o| {
        let Channel { multiplier, shift } = params.channel(o);
        params.finish(multiply(acc.wrapping_add(params.bias(o)), multiplier, shift))
    });
}

/// Returns the output channel of input channel `ic` with index `m` of `depth_multiplier`.
#[inline(always)]
pub(crate) fn channels(ic: usize, m: usize, depth_multiplier: usize, _input_depth: usize) -> usize {
    m + ic * depth_multiplier
}

/// Computes a depthwise convolution, with `channel(ic, m, depth_multiplier, input_depth)` as output channel.
#[inline(always)]
pub(crate) fn depthwise(
    params: &Params,
    input: (Element, &[u8]),
    weights: (Element, &[u8]),
    out: &mut [i32],
    channel: impl Fn(usize, usize, usize, usize) -> usize,
    result: impl Fn(i32, usize) -> i32,
) {
    let input_offset = params.shape.input_zero_point.wrapping_neg();
    let filter_offset = params.shape.weight_zero_point.wrapping_neg();
    let add = |acc: i32, at: usize, weight: usize| {
        let value = input.0.read(&input.1[at..]).wrapping_add(input_offset);
        let filter = weights.0.read(&weights.1[weight..]).wrapping_add(filter_offset);
        acc.wrapping_add(filter.wrapping_mul(value))
    };
    each_depthwise(&params.shape, out, channel, add, result);
}

/// Computes a depthwise convolution with `add(acc, input, weight)` for each pair of element indices.
#[inline(always)]
pub(crate) fn each_depthwise<S: Copy + Default>(
    shape: &conv2d::Params,
    out: &mut [i32],
    channel: impl Fn(usize, usize, usize, usize) -> usize,
    add: impl Fn(S, usize, usize) -> S,
    result: impl Fn(S, usize) -> i32,
) {
    let Ok((rows, columns)) = shape.output() else { return };
    let depth_multiplier = shape.out_channels / shape.channels;
    for (at, out) in out.chunks_exact_mut(shape.out_channels).enumerate() {
        let (batch, y, x) = (at / (rows * columns), at / columns % rows, at % columns);
        for ic in 0..shape.channels {
            for m in 0..depth_multiplier {
                let o = channel(ic, m, depth_multiplier, shape.channels);
                let mut acc = S::default();
                for i in 0..shape.kernel_h {
                    let row = (y * shape.stride_h + i * shape.dilation_h).wrapping_sub(shape.top);
                    for j in 0..shape.kernel_w {
                        let column = (x * shape.stride_w + j * shape.dilation_w).wrapping_sub(shape.left);
                        // Indices below 0 have wrapped to large values.
                        if row >= shape.height || column >= shape.width {
                            continue;
                        }
                        let pixel = (batch * shape.height + row) * shape.width + column;
                        let filter = (i * shape.kernel_w + j) * shape.out_channels + o;
                        acc = add(acc, pixel * shape.channels + ic, filter);
                    }
                }
                out[o] = result(acc, o);
            }
        }
    }
}

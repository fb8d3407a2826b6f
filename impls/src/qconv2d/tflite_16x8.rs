//! TensorFlow Lite's reference convolutions of int16 by int8, from input elements to output elements.
//!
//! `acc += filter_val * input_val` over the image in a 64-bit accumulator; `acc += bias_data[out_channel]`; `MultiplyByQuantizedMultiplier(int64_t,
//! ..)` per channel, with a multiplier reduced to 16 bits; `max` and `min`. Input, filter and output have no offset. With an int32 bias
//! `ConvPerChannel` has an int32 accumulator, whose sums wrap where C++ leaves them undefined, and the multiplication of int8.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/conv.h`, `depthwise_conv.h`, `transpose_conv.h`, the functions of int16;
//! `tensorflow/lite/kernels/internal/common.cc`.

use super::{Domain, Kernel, Params, loops, tflite};
use crate::contract::{self, Overflow, Promise};
use crate::conv2d::direct;
use crate::conv2d::transposed::scatter::{self, PLAIN};
use crate::element::Element::{I8, I16};
use crate::kernel::scalar;
use crate::matmul;
use crate::qmatmul::wide::{self, rounded};
use crate::requantize;

const REDUCED: Promise = Promise { scheme: "tflite-int16-multiplier", overflow: Overflow::Wrap };
const CONV_H: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/conv.h; common.cc";

/// Domain of int16 by int8 to int16 without zero points, with 64-bit or 32-bit sums.
pub(crate) const fn symmetric(channels: contract::Domain, wide: bool) -> Domain {
    let operands = matmul::Domain { lhs_offsets: 0..=0, rhs_offsets: 0..=0, ..matmul::Domain::all(I16, I8) };
    let requantize = requantize::Domain { output: I16, channels, bias: true, zero_point: false, clamp: true };
    Domain { operands, grouped: true, dense: true, spatial: true, wide, transposed: None, requantize }
}

/// Domain of 64-bit sums, with the multipliers and shifts that TFLite checks.
pub(crate) const WIDE: Domain = symmetric(wide::REDUCED, true);

/// `ConvPerChannel` with a bias of int64.
pub(super) const CONV: Kernel = Kernel::scalar(
    "tflite-conv-16x8",
    "TFLite reference ConvPerChannel, int16 by int8: int64 sums and biases, multipliers reduced to 16 bits",
    REDUCED,
    WIDE,
    CONV_H,
    |params, input, weights, out| {
        let Some(layer) = params.layer64() else { return };
        conv(params, input, weights, out, |sum, o| rounded(&layer, sum + layer.bias(o), o));
    },
);

/// `ConvPerChannel` with a bias of int32.
pub(super) const CONV_BIAS32: Kernel = scalar!(
    "tflite-conv-16x8-bias32", "TFLite reference ConvPerChannel, int16 by int8 with int32 sums and biases: double rounding per channel",
    tflite::DOUBLE on symmetric(contract::Domain::PER_CHANNEL, false), from CONV_H,
    |params, input, weights, out| {
        // The low half of the exact sum is the wrapped sum.
        conv(params, input, weights, out, |sum, o| tflite::tail(params, sum as i32, o));
    }
);

/// `DepthwiseConvPerChannel` of int16.
pub(super) const DEPTHWISE: Kernel = Kernel::scalar(
    "tflite-depthwise-16x8",
    "TFLite reference DepthwiseConvPerChannel, int16 by int8: int64 sums and biases, any depth multiplier",
    REDUCED,
    Domain { dense: false, ..WIDE },
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/depthwise_conv.h; common.cc",
    |params, input, weights, out| {
        let Some(layer) = params.layer64() else { return };
        let input = elements(input);
        let add = |acc: i64, at: usize, filter: usize| acc + product(input[at], weights[filter]);
        let result = |sum: i64, o: usize| rounded(&layer, sum + layer.bias(o), o);
        tflite::each_depthwise(&params.shape, out, tflite::channels, add, result);
    },
);

/// `TransposeConv` of int16 with accumulators of int64.
pub(super) const TRANSPOSE_CONV: Kernel = Kernel::scalar(
    "tflite-transpose-conv-16x8",
    "TFLite reference TransposeConv, int16 by int8: scatter in int64, bias, multipliers reduced to 16 bits",
    REDUCED,
    Domain { grouped: false, transposed: Some(PLAIN), ..WIDE },
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/transpose_conv.h; common.cc",
    |params, input, weights, out| {
        let Some(layer) = params.layer64() else { return };
        let input = elements(input);
        let mut sums = vec![0i64; out.len()];
        scatter::each(&params.shape, |at, row, to| {
            let filters = sums[to].iter_mut().zip(&weights[row]);
            filters.for_each(|(sum, weight)| *sum += product(input[at], *weight));
        });
        loops::each(params, &sums, out, |sum, o| rounded(&layer, sum + layer.bias(o), o));
    },
);

/// Returns the elements of an input.
pub(crate) fn elements(input: &[u8]) -> Vec<i16> {
    input.as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect()
}

#[inline(always)]
fn product(value: i16, weight: u8) -> i64 {
    i64::from(i32::from(value) * i32::from(weight as i8))
}

/// Computes each result from the 64-bit sum under the filter and its output channel.
#[inline(always)]
pub(crate) fn conv(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32], result: impl Fn(i64, usize) -> i32) {
    let input = elements(input);
    direct::each(&params.shape, out, |window| {
        let mut acc = 0i64;
        window.elements(|at, weight| acc += at.map_or(0, |at| product(input[at], weights[weight])));
        result(acc, window.out_channel())
    });
}

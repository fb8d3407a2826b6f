//! TensorFlow Lite's reference fully connected layers, from input elements to output elements.
//!
//! `acc += (filter_val + filter_offset) * (input_val + input_offset)`; `acc += bias_data[out_c]`; `MultiplyByQuantizedMultiplier`, per channel in
//! `FullyConnectedPerChannel`; `acc += output_offset`; `max` and `min` with the bounds of the activation. Sums wrap where C++ leaves them undefined.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h`; `reference/fully_connected.h`.

use super::loops::{Operand, each};
use super::{Domain, Kernel, Layer, Params};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{I8, I16, U8};
use crate::fpm::Channel;
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::single_rounding;
use crate::kernel::scalar;

const DOUBLE: Promise = Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap };
const SOURCE: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h";

/// `FullyConnectedPerChannel` of int8.
pub(super) const DOUBLE_I8: Kernel = scalar!(
    "tflite-fully-connected-i8", "TFLite reference FullyConnectedPerChannel, int8: bias, double rounding, output offset, activation",
    DOUBLE on Domain::layer([I8; 3], contract::Domain::PER_CHANNEL), from SOURCE,
    |params, lhs, rhs, out| layer(params, (I8, lhs), (I8, rhs), out, double_rounding)
);

/// `FullyConnectedPerChannel` of int8, built with `TFLITE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = Kernel::scalar(
    "tflite-fully-connected-single-i8",
    "TFLite reference FullyConnectedPerChannel, int8, built with TFLITE_SINGLE_ROUNDING",
    Promise { scheme: "tflite-single", overflow: Overflow::Wrap },
    Domain::layer(
        [I8; 3],
        contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=30, ..contract::Domain::PER_CHANNEL },
    ),
    SOURCE,
    |params, lhs, rhs, out| layer(params, (I8, lhs), (I8, rhs), out, single_rounding),
);

/// `FullyConnected` of uint8.
pub(super) const DOUBLE_U8: Kernel = scalar!(
    "tflite-fully-connected-u8", "TFLite reference FullyConnected, uint8: bias, double rounding, output offset, activation",
    DOUBLE on Domain::layer([U8; 3], contract::Domain::ALL),
    from "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/fully_connected.h",
    |params, lhs, rhs, out| layer(params, (U8, lhs), (U8, rhs), out, double_rounding)
);

/// `FullyConnectedPerChannel` of int16 by int8 with int32 biases and int32 sums.
pub(super) const DOUBLE_I16: Kernel = scalar!(
    "tflite-fully-connected-16x8-bias32", "TFLite reference FullyConnectedPerChannel, int16 by int8 with int32 sums and biases: double rounding",
    DOUBLE on Domain::layer([I16, I8, I16], contract::Domain::PER_CHANNEL), from SOURCE,
    |params, lhs, rhs, out| layer(params, (I16, lhs), (I8, rhs), out, double_rounding)
);

/// Applies bias, multiplication, output offset and activation to a sum of a column.
#[inline(always)]
pub(crate) fn end(layer: &Layer<'_>, sum: i32, column: usize, multiply: fn(i32, i32, i32) -> i32) -> i32 {
    let Channel { multiplier, shift } = layer.channel(column);
    layer.finish(multiply(sum.wrapping_add(layer.bias(column)), multiplier, shift))
}

#[inline(always)]
pub(super) fn layer(
    params: &Params,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
    out: &mut [i32],
    multiply: fn(i32, i32, i32) -> i32,
) {
    let Some(layer) = params.layer() else { return };
    each(params, lhs, rhs, out, |sum, [_, column]| end(&layer, sum, column, multiply));
}

//! TensorFlow Lite: the end of the integer convolutions and fully connected layers.
//!
//! `acc += bias; acc = MultiplyByQuantizedMultiplier(acc, ..); acc += output_offset;` clamp to the activation's bounds, cast.
//! Each sum is an int32 and wraps where C++ leaves it undefined.
//!
//! Layers with 16-bit activations have an int64 accumulator, no output offset, and the multiplication with the multiplier reduced to 16 bits.
//! Accumulators are int32 here. The int64 bias is left out, because an int64 sum does not wrap and an int32 sum would.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/conv.h` (per channel) and
//! `reference/conv.h` (u8, per tensor).

use super::{Domain, Kernel, Params, clamp, each, layer};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element;
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::{reduced_multiplier, single_rounding};
use crate::kernel::scalar;

const PER_CHANNEL: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/conv.h";
const PER_TENSOR: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/conv.h";
const DOUBLE: Promise = Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap };

const DOMAIN: Domain = Domain::all(Element::I8, contract::Domain::PER_CHANNEL);

/// Double rounding, the default build.
pub(super) const DOUBLE_I8: Kernel = scalar!(
    "tflite-requantize-i8", "TFLite int8 layers: bias, double rounding per channel, output offset, activation",
    DOUBLE on DOMAIN, from PER_CHANNEL, double
);

/// Double rounding per tensor, as in uint8 layers.
pub(super) const DOUBLE_U8: Kernel = scalar!(
    "tflite-requantize-u8", "TFLite uint8 layers: bias, double rounding, output offset, activation",
    DOUBLE on Domain { output: Element::U8, channels: contract::Domain::ALL, ..DOMAIN }, from PER_TENSOR,
    double
);

/// Build with `TFLITE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = Kernel::scalar(
    "tflite-requantize-single-i8",
    "TFLite int8 layers built with TFLITE_SINGLE_ROUNDING",
    Promise { scheme: "tflite-single", overflow: Overflow::Wrap },
    Domain { channels: contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=30, ..DOMAIN.channels }, ..DOMAIN },
    PER_CHANNEL,
    |params, acc, out| layer(params, acc, out, single_rounding),
);

/// Layer of 16-bit activations and 8-bit weights.
pub(super) const REDUCED_I16: Kernel = Kernel::scalar(
    "tflite-requantize-i16",
    "TFLite int16 layers: multiplier reduced to 16 bits per channel, activation",
    Promise { scheme: "tflite-int16-multiplier", overflow: Overflow::Wrap },
    Domain {
        output: Element::I16,
        channels: contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=7, ..DOMAIN.channels },
        bias: false,
        zero_point: false,
        ..DOMAIN
    },
    PER_CHANNEL,
    |params, acc, out| {
        each(params, acc, out, |acc, channel, _| {
            clamp(reduced_multiplier(acc, channel.multiplier, channel.shift), params)
        });
    },
);

fn double(params: &Params, acc: &[i32], out: &mut [i32]) {
    layer(params, acc, out, double_rounding);
}

//! TensorFlow Lite's optimized convolutions: im2col, and ruy's product with its packing, sums and multiplier.
//!
//! ruy packs both sides with the sums of rows and columns, subtracts the zero points by the expansion into four terms, adds the bias, and applies the
//! multiplier: `(x * multiplier + 2^(30 - shift)) >> (31 - shift)`, one rounding, ties up. ruy's comment gives the reason for replacing `SQRDMULH`
//! and a corrected shift: "double rounding and symmetric rounding are removed compared to reference". On NEON `sqdmulh` and `srshl` give the same
//! result, because `sqdmulh` truncates and only `srshl` rounds.
//!
//! Source: google/ruy `ruy/apply_multiplier.cc`, `ruy/kernel_common.h`; tensorflow/tensorflow
//! `tensorflow/lite/kernels/internal/optimized/integer_ops/conv.h`, `ConvPerChannel`.

use super::{Domain, Kernel, Params, loops, tflite};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::fpm::Channel;
use crate::fpm::tflite::single_rounding;
use crate::kernel::scalar;

const SOURCE: &str =
    "google/ruy ruy/apply_multiplier.cc; tensorflow/lite/kernels/internal/optimized/integer_ops/conv.h";

/// One rounding; a result beyond int32 wraps.
const PROMISE: Promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };

/// Preconditions of the function.
const CHANNELS: contract::Domain =
    contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=7, ..contract::Domain::PER_CHANNEL };

/// int8, per channel.
pub(super) const CONV_I8: Kernel = scalar!(
    "ruy-conv-i8", "TFLite optimized ConvPerChannel on ruy, int8: im2col, sums, one rounding per channel",
    PROMISE on tflite::symmetric(CHANNELS), from SOURCE,
    |params, input, weights, out| run(params, (I8, input), (I8, weights), out)
);

/// uint8, with zero points on both sides.
pub(super) const CONV_U8: Kernel = scalar!(
    "ruy-conv-u8", "TFLite optimized Conv on ruy, uint8: im2col, four terms, one rounding",
    PROMISE on Domain::all([U8; 3], contract::Domain { per_channel: false, ..CHANNELS }), from SOURCE,
    |params, input, weights, out| run(params, (U8, input), (U8, weights), out)
);

#[inline(always)]
fn run(params: &Params, input: (Element, &[u8]), weights: (Element, &[u8]), out: &mut [i32]) {
    let sums = loops::expanded(params, input, weights, params.shape.input_zero_point);
    loops::each(params, &sums, out, |sum, o| {
        let Channel { multiplier, shift } = params.channel(o);
        params.finish(single_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift))
    });
}

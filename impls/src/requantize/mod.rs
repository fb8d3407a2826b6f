//! Requantization of int32 accumulators to the 8 or 16 bits of the next layer: bias, fixed point multiply, zero point, clamp. Also the legacy
//! pipeline of gemmlowp, `(acc + result_offset) * result_mult_int / 2^result_shift`.

mod cmsis_nn;
#[cfg(feature = "elements")]
mod elements;
mod gemmlowp;
#[cfg(test)]
pub(crate) mod tests;
mod tflite;
mod tosa;
pub(crate) mod tvm_neon;
mod tvm_relay;
mod xnnpack;

use crate::element::Element;
use crate::fpm::Channel;
use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};

/// Parameters of one batch. Element `i` belongs to channel `i % channels.len()` (channel-last layout).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Elements of the batch.
    pub len: usize,
    /// Multipliers and shifts: one for all channels, or one for each. For the legacy pipeline the multiplier is the integer `result_mult_int`, and
    /// the shift is `-result_shift`.
    pub channels: Vec<Channel>,
    /// Values added to the accumulators first, one for each entry of `channels`: a bias, or `result_offset`.
    pub bias: Vec<i32>,
    /// Zero point of the output, added after the multiplication.
    pub zero_point: i32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

/// Parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Type of the results; clamp bounds and zero point are in its range.
    pub output: Element,
    /// Multipliers and shifts of one channel or several. `q` is 31, or 0 for the legacy pipeline, whose multipliers are integers.
    pub channels: crate::contract::Domain,
    /// True if the kernel adds a bias; otherwise every bias is 0.
    pub bias: bool,
    /// True if the kernel adds a zero point after the multiplication; otherwise the zero point is 0.
    pub zero_point: bool,
    /// True if the kernel clamps to arbitrary bounds; otherwise the bounds of the output type apply.
    pub clamp: bool,
}

impl Domain {
    /// Domain of an output type and channels, with any bias, zero point and clamp.
    pub(crate) const fn all(output: Element, channels: crate::contract::Domain) -> Self {
        Self { output, channels, bias: true, zero_point: true, clamp: true }
    }

    /// Returns the fractional bits of multipliers.
    pub fn fraction(&self) -> u32 {
        *self.channels.q.start()
    }

    /// True if a channel may have this multiplier and shift.
    pub fn takes(&self, channel: Channel) -> bool {
        self.channels.contains(channel.multiplier, channel.shift, self.fraction())
    }

    /// Returns the sizes of the accumulators, of two tensors without elements, and of the results. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let len = shape::elements("len", &[shape::positive("len", params.len)?])?;
        match params.channels.len() {
            0 => return Err(broken("channels", "there must be at least one")),
            n if n > 1 && !self.channels.per_channel => return Err(broken("channels", format!("takes one, not {n}"))),
            n if params.bias.len() != n => {
                return Err(broken("bias", format!("{} values for {n} channels", params.bias.len())));
            }
            _ => {}
        }
        if !self.bias && params.bias.iter().any(|bias| *bias != 0) {
            return Err(broken("bias", "this kernel adds none"));
        }
        self.check_output(params.zero_point, params.min, params.max)?;
        Ok(Sizes { inputs: [len, 0, 0], outputs: len })
    }

    /// Checks that zero point and clamp bounds are accepted values of the output type. An error names the invalid argument.
    pub fn check_output(&self, zero_point: i32, min: i32, max: i32) -> Result<(), ShapeError> {
        let (range, name) = (self.output.range(), self.output.name());
        for (argument, value) in [("zero_point", zero_point), ("min", min), ("max", max)] {
            if !range.contains(&value) {
                return Err(broken(argument, format!("{value} is no {name}")));
            }
        }
        if min > max {
            return Err(broken("min", format!("{min} is above max, {max}")));
        }
        if !self.clamp && (min, max) != (*range.start(), *range.end()) {
            return Err(broken("min", format!("this kernel clamps to all of {name} only")));
        }
        if !self.zero_point && zero_point != 0 {
            return Err(broken("zero_point", "this kernel adds none"));
        }
        Ok(())
    }
}

/// Kernel function `run(params, acc, out)`: accumulators to values of the output type, in int32. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// Requantization under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation of bias, fixed point multiply, zero point and clamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requantize {}

impl TensorOperation for Requantize {
    common_items!(requantize);

    fn takes_ranges(_: &Domain, _: &Params) -> bool {
        true
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        (call.code)(call.params, call.tensors[0], call.output);
        Ok(())
    }
}

lookups! {
    gemmlowp: QUANTIZE_DOWN QUANTIZE_DOWN_SHIPPED EIGHT_BIT_INT FIXED_POINT_U8 FIXED_POINT_I8 FIXED_POINT_I16
        EXPONENT_U8 EXPONENT_I8 EXPONENT_I16 PIPELINE_U8 PIPELINE_I8 PIPELINE_I16;
    tflite: DOUBLE_I8 DOUBLE_U8 SINGLE_I8 REDUCED_I16;
    tvm_relay: UPWARD_I8 TO_NEAREST_I8;
    tvm_neon: RFC_I8 RFC_U8 FIXUP_I8 FIXUP_U8;
    cmsis_nn: DOUBLE_I8 SINGLE_I8;
    xnnpack: RNDNU_I8 RNDNU_U8 RNDNU_SCALAR_I8;
    tosa: DOUBLE_I8 DOUBLE_U8 SINGLE_I8 SINGLE_I16;
}

/// Applies `f(acc, channel, bias)` to every element.
#[inline(always)]
pub(crate) fn each(params: &Params, acc: &[i32], out: &mut [i32], f: impl Fn(i32, Channel, i32) -> i32) {
    let channels = &params.channels;
    if let ([channel], [bias]) = (&channels[..], &params.bias[..]) {
        return acc.iter().zip(out).for_each(|(acc, out)| *out = f(*acc, *channel, *bias));
    }
    for (acc, out) in acc.chunks(channels.len()).zip(out.chunks_mut(channels.len())) {
        for (((acc, out), channel), bias) in acc.iter().zip(out).zip(channels).zip(&params.bias) {
            *out = f(*acc, *channel, *bias);
        }
    }
}

/// Computes the end of a layer: bias, `multiply(x, multiplier, shift)`, zero point, clamp. Both sums are int32 and wrap.
#[inline(always)]
fn layer(params: &Params, acc: &[i32], out: &mut [i32], multiply: impl Fn(i32, i32, i32) -> i32) {
    each(params, acc, out, |acc, Channel { multiplier, shift }, bias| {
        let scaled = multiply(acc.wrapping_add(bias), multiplier, shift);
        clamp(scaled.wrapping_add(params.zero_point), params)
    });
}

/// Returns `min(max(x, params.min), params.max)`, in the order of the sources.
#[inline(always)]
fn clamp(x: i32, params: &Params) -> i32 {
    x.max(params.min).min(params.max)
}

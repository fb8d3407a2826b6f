//! TensorFlow Lite: CONCATENATION, row by row of the output. A uint8 value is rescaled by a scale and a bias, both f32, and rounded half away from
//! zero; then the output's zero point is added, and the result is clamped. An input with the output's scale and zero point is copied, which gives the
//! same results. int8 is copied, because `Prepare` requires one scale and zero point.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/concatenation.cc`, `tensorflow/lite/kernels/internal/reference/concatenation.h`
//! (Concatenation, ConcatenationWithScaling).

use super::loops::{by_rows, clamp, copy, each};
use super::{Domain, INT, Input, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element::{I8, U8};
use crate::kernel::scalar;

const REFERENCE: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/concatenation.h";

/// Domain of `ConcatenationWithScaling`.
pub(crate) const SCALED: Domain = Domain { element: U8, scales: Scales::Quotient, size: INT };

/// Promise of kernels that only copy.
pub(crate) const COPY: Promise = Promise { scheme: "copy", overflow: Overflow::OutOfDomain };

/// Unsigned bytes.
pub(super) const SCALED_U8: Kernel = Kernel::scalar(
    "tflite-concat-u8",
    "TFLite CONCATENATION of uint8: a float times the element plus a bias, ties away, plus the zero point",
    Promise { scheme: "tflite", overflow: Overflow::OutOfDomain },
    SCALED,
    REFERENCE,
    |params, inputs, out| scaled(params, inputs, out, |real, zero_point| real.round() as i32 + zero_point),
);

/// int8.
pub(super) const COPIED_I8: Kernel = scalar!(
    "tflite-concat-i8", "TFLite CONCATENATION of int8: a copy of tensors of one scale and zero point",
    COPY on Domain { element: I8, scales: Scales::Equal, size: INT },
    from "tensorflow/tensorflow tensorflow/lite/kernels/concatenation.cc, tensorflow/lite/kernels/internal/reference/concatenation.h",
    |params, inputs, out| by_rows(params, inputs, out, |_, from, out| copy(I8, from, out))
);

/// Computes `ConcatenationWithScaling`; `place` rounds a value and adds the output's zero point.
#[inline(always)]
pub(crate) fn scaled(params: &Params, inputs: &[u8], out: &mut [i32], place: impl Fn(f32, i32) -> i32) {
    let inverse = 1.0 / params.out.single();
    by_rows(params, inputs, out, |Input { operand, .. }, from, out| {
        if *operand == params.out {
            return copy(U8, from, out);
        }
        let scale = operand.single() * inverse;
        let bias = -operand.zero_point as f32 * scale;
        each(U8, from, out, |stored| clamp(place(stored as f32 * scale + bias, params.out.zero_point), U8));
    });
}

//! TensorFlow Lite: MUL. The int32 product of both operands less their zero points goes through `MultiplyByQuantizedMultiplier`; the output's zero
//! point is added, and the result is clamped to the activation's bounds.
//!
//! TFLite computes the quotient of scales in float and widens it to double, so that the multiplier has 24 bits. TFLite Micro casts the scales to
//! double first. Both check that zero points of 16 bits are 0.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/mul.cc` (Prepare),
//! `tensorflow/lite/kernels/internal/reference/integer_ops/mul.h` (MulElementwise); tensorflow/tflite-micro
//! `tensorflow/lite/micro/kernels/mul_common.cc` (CalculateOpDataMul).

use super::{Domain, Kernel, Params, Scales, product, ratio};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::{quantize_multiplier, single_rounding};
use crate::kernel::{of_elements, scalar};

const SOURCE: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/mul.h, tensorflow/lite/kernels/mul.cc";

pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Rescaled, clamp: true };

// Double rounding, the default.
of_elements! {
    "TFLite MUL: int32 product, rescale, double rounding",
    Promise { scheme: "tflite", overflow: Overflow::Wrap }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| mul(params, ELEMENT, lhs, rhs, out, double_rounding);
    DOUBLE_I8 = "tflite-mul-i8", I8;
    DOUBLE_U8 = "tflite-mul-u8", U8;
    DOUBLE_I16 = "tflite-mul-i16", I16;
}

/// `TFLITE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "tflite-mul-single-i8", "TFLite MUL of int8 built with TFLITE_SINGLE_ROUNDING",
    "tflite-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| mul(params, Element::I8, lhs, rhs, out, single_rounding)
);

/// TFLite Micro's reference kernel.
pub(super) const MICRO_I8: Kernel = scalar!(
    "tflite-micro-mul-i8", "TFLite Micro MUL of int8: the multiplier from doubles, double rounding",
    "tflite-micro" Wrap on DOMAIN, from "tensorflow/tflite-micro tensorflow/lite/micro/kernels/mul_common.cc",
    |params, lhs, rhs, out| rescaled(params, Element::I8, lhs, rhs, out, double_multiplier(params), double_rounding)
);

/// Returns TFLite's multiplier and shift, from a quotient in float.
pub(crate) fn single_multiplier(params: &Params) -> (i32, i32) {
    quantize_multiplier(ratio(params).into())
}

/// Returns TFLite Micro's multiplier and shift, from a quotient in double.
pub(crate) fn double_multiplier(params: &Params) -> (i32, i32) {
    let [lhs, rhs, out] = [params.lhs, params.rhs, params.out].map(|operand| f64::from(operand.single()));
    quantize_multiplier(lhs * rhs / out)
}

/// Computes `MulElementwise` with TFLite's multiplier; `rescale` is any `MultiplyByQuantizedMultiplier`.
#[inline(always)]
pub(crate) fn mul(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    rescale: impl Fn(i32, i32, i32) -> i32,
) {
    rescaled(params, element, lhs, rhs, out, single_multiplier(params), rescale);
}

/// Computes `MulElementwise` with a given multiplier and shift.
#[inline(always)]
pub(crate) fn rescaled(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    (multiplier, shift): (i32, i32),
    rescale: impl Fn(i32, i32, i32) -> i32,
) {
    each(element, lhs, rhs, out, |lhs, rhs| {
        clamp(rescale(product(params, lhs, rhs), multiplier, shift) + params.out.zero_point, params)
    });
}

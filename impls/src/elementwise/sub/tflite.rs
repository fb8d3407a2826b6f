//! TensorFlow Lite: SUB. The zero point is subtracted from each operand; the difference is shifted left by 20 (15 for 16 bits) and rescaled to twice
//! the larger scale. The difference of both operands is rescaled to the output's scale, increased by the output's zero point, and clamped to the
//! activation's bounds. The multipliers are those of ADD.
//!
//! Releases before `SubElementwise` ran the code of ADD with a negated multiplier of the right operand. A high product rounds ties up, so the product
//! by a negated multiplier is not the negated product. Hence two kernels and two schemes.
//!
//! These are the reference kernels. With broadcasting, int8 and uint8 use `BroadcastQuantSubSlow`, which computes each element as `SubElementwise`
//! does. (`Sub16`, for scales that are powers of two in LSTM cells, has no kernel here.)
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/sub.cc` (PrepareGeneralSubOp, EvalQuantized),
//! `tensorflow/lite/kernels/internal/reference/sub.h` (SubElementwise).

use super::{Domain, Kernel, Params};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::add::tflite::{DOMAIN, Multipliers, add_by, left_shift};
use crate::elementwise::loops::{clamp, each};
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::single_rounding;
use crate::kernel::{of_elements, scalar};

const SOURCE: &str =
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/sub.h, tensorflow/lite/kernels/sub.cc";

// Double rounding, the default; int16 has general scales.
of_elements! {
    "TFLite SUB: lift, rescale, subtract, rescale, double rounding",
    Promise { scheme: "tflite", overflow: Overflow::Wrap }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| subtract(params, ELEMENT, lhs, rhs, out, double_rounding);
    DOUBLE_I8 = "tflite-sub-i8", I8;
    DOUBLE_U8 = "tflite-sub-u8", U8;
    DOUBLE_I16 = "tflite-sub-i16", I16;
}

// By the code of ADD.
of_elements! {
    "TFLite SUB by ADD, the right operand's multiplier negated, double rounding",
    Promise { scheme: "tflite-negated", overflow: Overflow::Wrap }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| negated(params, ELEMENT, lhs, rhs, out);
    NEGATED_I8 = "tflite-sub-negated-i8", I8;
    NEGATED_U8 = "tflite-sub-negated-u8", U8;
}

/// `TFLITE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "tflite-sub-single-i8", "TFLite SUB of int8 built with TFLITE_SINGLE_ROUNDING",
    "tflite-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| subtract(params, Element::I8, lhs, rhs, out, single_rounding)
);

/// Computes `SubElementwise`; `rescale` is any `MultiplyByQuantizedMultiplier`.
#[inline(always)]
pub(crate) fn subtract(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    rescale: impl Fn(i32, i32, i32) -> i32,
) {
    let by = Multipliers::new(params, left_shift(element));
    each(element, lhs, rhs, out, |lhs, rhs| clamp(difference(params, &by, (lhs, rhs), &rescale), params));
}

/// Computes one difference with the output's zero point, before the clamp.
#[inline(always)]
pub(crate) fn difference(
    params: &Params,
    by: &Multipliers,
    pair: (i32, i32),
    rescale: impl Fn(i32, i32, i32) -> i32,
) -> i32 {
    let lhs = rescale((pair.0 - params.lhs.zero_point) << by.left_shift, by.lhs.0, by.lhs.1);
    let rhs = rescale((pair.1 - params.rhs.zero_point) << by.left_shift, by.rhs.0, by.rhs.1);
    rescale(lhs - rhs, by.out.0, by.out.1).wrapping_add(params.out.zero_point)
}

/// Computes `AddElementwise` with `input2_multiplier *= -1`.
#[inline(always)]
fn negated(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let by = Multipliers::new(params, left_shift(element));
    let by = Multipliers { rhs: (-by.rhs.0, by.rhs.1), ..by };
    add_by(params, &by, element, lhs, rhs, out, double_rounding);
}

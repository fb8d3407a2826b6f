//! TensorFlow Lite: ADD. The zero point is subtracted from each operand; the difference is shifted left by 20 (15 for 16 bits) and rescaled to twice
//! the larger scale. The sum is rescaled to the output's scale, increased by the output's zero point, and clamped to the activation's bounds.
//!
//! The multipliers are quotients, in double, of scales that are floats. No sum overflows: a difference has one bit more than its type, and a
//! multiplier is at most a half, so that a term is at most half of the shifted difference. A multiplier of 1 or more for the sum aborts in
//! `QuantizeMultiplierSmallerThanOneExp`. The 16-bit kernel is `AddGeneralParamScale`, which accepts any scales and zero points.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/add.cc` (Prepare), `tensorflow/lite/kernels/internal/reference/add.h`
//! (AddElementwise), `tensorflow/lite/kernels/internal/quantization_util.cc`.

use super::{Domain, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::{quantize_multiplier, single_rounding};
use crate::kernel::{of_elements, scalar};

const SOURCE: &str =
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/add.h, tensorflow/lite/kernels/add.cc";
const DOUBLE: Promise = Promise { scheme: "tflite", overflow: Overflow::Wrap };

pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Rescaled, clamp: true };

// Double rounding, the default; int16 has general scales.
of_elements! {
    "TFLite ADD: lift, rescale, add, rescale, double rounding", DOUBLE, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| add(params, ELEMENT, lhs, rhs, out, double_rounding);
    DOUBLE_I8 = "tflite-add-i8", I8;
    DOUBLE_U8 = "tflite-add-u8", U8;
    DOUBLE_I16 = "tflite-add-i16", I16;
}

/// `TFLITE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "tflite-add-single-i8", "TFLite ADD of int8 built with TFLITE_SINGLE_ROUNDING",
    "tflite-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| add(params, Element::I8, lhs, rhs, out, single_rounding)
);

/// Multipliers that `Prepare` derives from the scales, as multiplier and shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multipliers {
    pub(crate) left_shift: u32,
    pub(crate) lhs: (i32, i32),
    pub(crate) rhs: (i32, i32),
    pub(crate) out: (i32, i32),
}

impl Multipliers {
    pub(crate) fn new(params: &Params, left_shift: u32) -> Self {
        let twice = twice_max(params);
        let operand = |scale: f32| quantize_multiplier(f64::from(scale) / twice);
        Self {
            left_shift,
            lhs: operand(params.lhs.single()),
            rhs: operand(params.rhs.single()),
            out: output_multiplier(params, left_shift),
        }
    }
}

/// Left shift of operands, in bits.
pub(crate) fn left_shift(element: Element) -> u32 {
    if element == Element::I16 { 15 } else { 20 }
}

/// Returns twice the larger scale of both operands.
pub(crate) fn twice_max(params: &Params) -> f64 {
    f64::from(2.0 * params.lhs.single().max(params.rhs.single()))
}

/// Returns the multiplier and shift of the sum.
pub(crate) fn output_multiplier(params: &Params, left_shift: u32) -> (i32, i32) {
    let lifted = (1i32 << left_shift) as f32 * params.out.single();
    quantize_multiplier(twice_max(params) / f64::from(lifted))
}

/// Computes `AddElementwise`; `rescale` is any `MultiplyByQuantizedMultiplier`.
#[inline(always)]
pub(crate) fn add(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    rescale: impl Fn(i32, i32, i32) -> i32,
) {
    add_by(params, &Multipliers::new(params, left_shift(element)), element, lhs, rhs, out, rescale);
}

/// As [`add`], with given multipliers of either sign.
#[inline(always)]
pub(crate) fn add_by(
    params: &Params,
    by: &Multipliers,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    rescale: impl Fn(i32, i32, i32) -> i32,
) {
    each(element, lhs, rhs, out, |lhs, rhs| clamp(sum(params, by, (lhs, rhs), &rescale), params));
}

/// Computes one sum with the output's zero point, before the clamp.
#[inline(always)]
pub(crate) fn sum(params: &Params, by: &Multipliers, pair: (i32, i32), rescale: impl Fn(i32, i32, i32) -> i32) -> i32 {
    let lhs = rescale((pair.0 - params.lhs.zero_point) << by.left_shift, by.lhs.0, by.lhs.1);
    let rhs = rescale((pair.1 - params.rhs.zero_point) << by.left_shift, by.rhs.0, by.rhs.1);
    rescale(lhs + rhs, by.out.0, by.out.1).wrapping_add(params.out.zero_point)
}

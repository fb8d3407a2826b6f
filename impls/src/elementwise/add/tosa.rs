//! TOSA: `tfl.add` legalized to `tosa.rescale` of both operands, `tosa.add`, `tosa.rescale`.
//!
//! With double rounding, an operand is rescaled twice: by 2^20, and by its factor. One rescale by their product would shift right by too little to
//! round doubly. If the factor is exactly a half, the source folds 2^20 into the multiplier, which is exact either way. With single rounding, 2^20 is
//! folded into the multiplier of each operand. The output's rescale adds the output's zero point. A `tosa.clamp` follows if the bounds are narrower
//! than the type's.
//!
//! Source: tensorflow/tensorflow `tensorflow/compiler/mlir/tosa/transforms/legalize_tfl.cc`, `matchAndRewriteAddSub`;
//! `legalize_utils.cc`, `buildRescale`; llvm/llvm-project `mlir/lib/Dialect/Tosa/Utils/QuantUtils.cpp`, `computeMultiplierAndShift`.

use super::tflite::{DOMAIN, Multipliers, left_shift, twice_max};
use super::{Domain, Kernel, Params, Run};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::fpm::mlir::apply_scale;
use crate::fpm::tflite::quantize_multiplier;
use crate::fpm::tosa::apply_scale_32;
use crate::kernel::scalar;

const SOURCE: &str =
    "tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_tfl.cc, matchAndRewriteAddSub";

/// int8, `DOUBLE_ROUND`.
pub(super) const DOUBLE_I8: Kernel = double("tosa-add-double-i8", Element::I8, |params, lhs, rhs, out| {
    twice_rescaled(params, Element::I8, lhs, rhs, out, apply_scale_32::<true>, sum);
});

/// Unsigned bytes, `DOUBLE_ROUND`.
pub(super) const DOUBLE_U8: Kernel = double("tosa-add-double-u8", Element::U8, |params, lhs, rhs, out| {
    twice_rescaled(params, Element::U8, lhs, rhs, out, apply_scale_32::<true>, sum);
});

/// int8, `DOUBLE_ROUND`; each `tosa.apply_scale` is computed in two 32-bit halves, as in MLIR's 32-bit lowering.
pub(super) const HALVES_I8: Kernel = double("tosa-add-halves-double-i8", Element::I8, |params, lhs, rhs, out| {
    let rescale = |x, m, s| apply_scale::<true>(x, m, (31 - s) as u32);
    twice_rescaled(params, Element::I8, lhs, rhs, out, rescale, sum);
});

/// int8, `SINGLE_ROUND`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "tosa-add-single-i8", "tfl.add to TOSA built with TFLITE_SINGLE_ROUNDING: operands lifted by their multipliers",
    "tosa-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| once_rescaled(params, lhs, rhs, out, sum)
);

const fn double(name: &'static str, element: Element, run: Run) -> Kernel {
    let promise = Promise { scheme: "tosa-double", overflow: Overflow::Wrap };
    let summary = "tfl.add to TOSA: rescale to lift, rescale, add, rescale, double rounding";
    Kernel::scalar(name, summary, promise, Domain { element, ..DOMAIN }, SOURCE, run)
}

/// Computes `tosa.add`.
#[inline(always)]
fn sum(lhs: i32, rhs: i32) -> i32 {
    lhs + rhs
}

/// Computes int8 results with 2^left_shift folded into each operand's multiplier; each rescale rounds once. `combine` is between the rescales.
#[inline(always)]
pub(crate) fn once_rescaled(
    params: &Params,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    combine: impl Fn(i32, i32) -> i32,
) {
    let by = Multipliers::new(params, 20);
    let lifted = |scale: f32| quantize_multiplier(f64::from(scale) / twice_max(params) * f64::from(1 << by.left_shift));
    let (left, right) = (lifted(params.lhs.single()), lifted(params.rhs.single()));
    let rescale = apply_scale_32::<false>;
    each(Element::I8, lhs, rhs, out, |lhs, rhs| {
        let lhs = rescale(lhs - params.lhs.zero_point, left.0, left.1);
        let rhs = rescale(rhs - params.rhs.zero_point, right.0, right.1);
        clamp(rescale(combine(lhs, rhs), by.out.0, by.out.1) + params.out.zero_point, params)
    });
}

/// Rescales each operand by 2^left_shift, then by its factor. `combine` is the op between the rescales.
#[inline(always)]
pub(crate) fn twice_rescaled(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    rescale: impl Fn(i32, i32, i32) -> i32,
    combine: impl Fn(i32, i32) -> i32,
) {
    let by = Multipliers::new(params, left_shift(element));
    let lift = quantize_multiplier(f64::from(1 << by.left_shift));
    let term = |difference: i32, factor: (i32, i32)| rescale(rescale(difference, lift.0, lift.1), factor.0, factor.1);
    each(element, lhs, rhs, out, |lhs, rhs| {
        let lhs = term(lhs - params.lhs.zero_point, by.lhs);
        let rhs = term(rhs - params.rhs.zero_point, by.rhs);
        clamp(rescale(combine(lhs, rhs), by.out.0, by.out.1) + params.out.zero_point, params)
    });
}

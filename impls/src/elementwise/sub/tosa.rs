//! TOSA: `tfl.sub` legalized to `tosa.rescale` of both operands, `tosa.sub` and `tosa.rescale`, by the pattern of `tfl.add`
//! ([`crate::elementwise::add`]).
//!
//! Source: tensorflow/tensorflow `tensorflow/compiler/mlir/tosa/transforms/legalize_tfl.cc`, `matchAndRewriteAddSub`.

use super::{Domain, Kernel, Params};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::add::tflite::DOMAIN;
use crate::elementwise::add::tosa::{once_rescaled, twice_rescaled};
use crate::fpm::tosa::apply_scale_32;
use crate::kernel::of_elements;

const SOURCE: &str =
    "tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_tfl.cc, matchAndRewriteAddSub";

of_elements! {
    "tfl.sub to TOSA: rescale to lift, rescale, subtract, rescale, double rounding",
    Promise { scheme: "tosa-double", overflow: Overflow::Wrap }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| twice(params, ELEMENT, lhs, rhs, out);
    DOUBLE_I8 = "tosa-sub-double-i8", I8;
    DOUBLE_U8 = "tosa-sub-double-u8", U8;
}

/// int8, `SINGLE_ROUND`.
pub(super) const SINGLE_I8: Kernel = Kernel::scalar(
    "tosa-sub-single-i8",
    "tfl.sub to TOSA built with TFLITE_SINGLE_ROUNDING: operands lifted by their multipliers",
    Promise { scheme: "tosa-single", overflow: Overflow::Wrap },
    DOMAIN,
    SOURCE,
    |params, lhs, rhs, out| once_rescaled(params, lhs, rhs, out, |lhs, rhs| lhs - rhs),
);

#[inline(always)]
fn twice(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    twice_rescaled(params, element, lhs, rhs, out, apply_scale_32::<true>, |lhs, rhs| lhs - rhs);
}

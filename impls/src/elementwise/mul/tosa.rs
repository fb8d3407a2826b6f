//! TOSA: `tfl.mul` legalized to three ops. A `tosa.rescale` of both operands by 1 subtracts their zero points, `tosa.mul` multiplies in int32, and a
//! `tosa.rescale` adds the output's zero point. A `tosa.clamp` follows if the bounds are narrower than the type's.
//!
//! The multiplier is computed in double, from scales that are doubles.
//!
//! Source: tensorflow/tensorflow `tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc`, `convertMultiplyOp`;
//! `legalize_utils.cc`, `buildRescaleToInt32`, `buildRescaleFromInt32`.

use super::Kernel;
use super::tflite::{DOMAIN, double_multiplier, rescaled};
use crate::element::Element;
use crate::fpm::tosa::apply_scale_32;
use crate::kernel::scalar;

const SOURCE: &str =
    "tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc, convertMultiplyOp";

/// int8, `DOUBLE_ROUND`.
pub(super) const DOUBLE_I8: Kernel = scalar!(
    "tosa-mul-double-i8", "tfl.mul to TOSA: tosa.mul, tosa.rescale, double rounding",
    "tosa-double" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| {
        rescaled(params, Element::I8, lhs, rhs, out, double_multiplier(params), apply_scale_32::<true>);
    }
);

/// int8, `SINGLE_ROUND`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "tosa-mul-single-i8", "tfl.mul to TOSA built with TFLITE_SINGLE_ROUNDING: tosa.mul, tosa.rescale, single rounding",
    "tosa-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| {
        rescaled(params, Element::I8, lhs, rhs, out, double_multiplier(params), apply_scale_32::<false>);
    }
);

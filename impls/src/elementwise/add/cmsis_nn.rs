//! CMSIS-NN: `arm_elementwise_add_s8`, in both builds of `arm_nn_requantize`, with multipliers as TFLite Micro prepares them.
//!
//! Source: ARM-software/CMSIS-NN `Source/BasicMathFunctions/arm_elementwise_add_s8.c` (the form without MVE);
//! tensorflow/tflite-micro `tensorflow/lite/micro/kernels/add_common.cc` (CalculateOpDataAdd).

use super::Kernel;
use super::tflite::{DOMAIN, add};
use crate::element::Element;
use crate::fpm::cmsis_nn::{double_rounding, single_rounding};
use crate::kernel::scalar;

const SOURCE: &str = "ARM-software/CMSIS-NN Source/BasicMathFunctions/arm_elementwise_add_s8.c";

/// The default build.
pub(super) const DOUBLE_S8: Kernel = scalar!(
    "arm-elementwise-add-s8", "CMSIS-NN int8 addition: lift, arm_nn_requantize, add, arm_nn_requantize",
    "cmsis-nn" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| add(params, Element::I8, lhs, rhs, out, double_rounding)
);

/// `CMSIS_NN_USE_SINGLE_ROUNDING`.
pub(super) const SINGLE_S8: Kernel = scalar!(
    "arm-elementwise-add-single-s8", "CMSIS-NN int8 addition built with CMSIS_NN_USE_SINGLE_ROUNDING",
    "cmsis-nn-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| add(params, Element::I8, lhs, rhs, out, single_rounding)
);

//! CMSIS-NN: `arm_elementwise_mul_s8`, in both builds of `arm_nn_requantize`, with the multiplier as TFLite Micro prepares it.
//!
//! Source: ARM-software/CMSIS-NN `Source/BasicMathFunctions/arm_elementwise_mul_s8.c` (the form without MVE and DSP);
//! tensorflow/tflite-micro `tensorflow/lite/micro/kernels/mul_common.cc` (CalculateOpDataMul).

use super::Kernel;
use super::tflite::{DOMAIN, double_multiplier, rescaled};
use crate::element::Element;
use crate::fpm::cmsis_nn::{double_rounding, single_rounding};
use crate::kernel::scalar;

const SOURCE: &str = "ARM-software/CMSIS-NN Source/BasicMathFunctions/arm_elementwise_mul_s8.c";

/// The default build.
pub(super) const DOUBLE_S8: Kernel = scalar!(
    "arm-elementwise-mul-s8", "CMSIS-NN int8 multiplication: int32 product, arm_nn_requantize",
    "cmsis-nn" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| rescaled(params, Element::I8, lhs, rhs, out, double_multiplier(params), double_rounding)
);

/// `CMSIS_NN_USE_SINGLE_ROUNDING`.
pub(super) const SINGLE_S8: Kernel = scalar!(
    "arm-elementwise-mul-single-s8", "CMSIS-NN int8 multiplication built with CMSIS_NN_USE_SINGLE_ROUNDING",
    "cmsis-nn-single" Wrap on DOMAIN, from SOURCE,
    |params, lhs, rhs, out| rescaled(params, Element::I8, lhs, rhs, out, double_multiplier(params), single_rounding)
);

//! CMSIS-NN: the end of the int8 matrix products, in both builds of `arm_nn_requantize`.
//!
//! The accumulator starts with the bias; then `arm_nn_requantize`, plus `dst_offset`, and `MAX`, `MIN` with the activation's bounds. Each sum is an
//! int32 and wraps where C leaves it undefined.
//!
//! Source: ARM-software/CMSIS-NN `Source/NNSupportFunctions/arm_nn_mat_mult_nt_t_s8.c`, `Include/arm_nnsupportfunctions.h`.

use super::{Domain, Kernel, layer};
use crate::contract;
use crate::element::Element;
use crate::fpm::cmsis_nn::{self, double_rounding, single_rounding};
use crate::kernel::scalar;

const SOURCE: &str = "ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_mat_mult_nt_t_s8.c";

const DOMAIN: Domain = Domain::all(Element::I8, contract::Domain { per_channel: true, ..cmsis_nn::DOMAIN });

/// Default build, with double rounding.
pub(super) const DOUBLE_I8: Kernel = scalar!(
    "cmsis-nn-requantize-i8", "CMSIS-NN int8 layers: bias, arm_nn_requantize per channel, offset, activation",
    "cmsis-nn-double" Wrap on DOMAIN, from SOURCE,
    |params, acc, out| layer(params, acc, out, double_rounding)
);

/// Build with `CMSIS_NN_USE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "cmsis-nn-requantize-single-i8", "CMSIS-NN int8 layers built with CMSIS_NN_USE_SINGLE_ROUNDING",
    "cmsis-nn-single" Wrap on DOMAIN, from SOURCE,
    |params, acc, out| layer(params, acc, out, single_rounding)
);

//! CMSIS-NN: `arm_concatenation_s8_x`, `_y`, `_z` and `_w` copy the runs of one input to their places in the output; the caller makes one call for
//! each input. The axes are x, y, z and w from the last to the first. The caller must pass tensors of one scale and zero point. Sizes are 16 bits.
//!
//! Source: ARM-software/CMSIS-NN `Source/ConcatenationFunctions/arm_concatenation_s8_x.c`, `arm_concatenation_s8_y.c`, `arm_concatenation_s8_z.c`,
//! `arm_concatenation_s8_w.c`.

use super::loops::{by_inputs, copy};
use super::tflite::COPY;
use super::{Domain, Kernel, Scales};
use crate::element::Element::I8;
use crate::kernel::scalar;

/// Tensors of one scale and zero point.
pub(crate) const DOMAIN: Domain = Domain { element: I8, scales: Scales::Equal, size: u16::MAX as usize };

/// int8.
pub(super) const S8: Kernel = scalar!(
    "arm-concat-s8", "CMSIS-NN arm_concatenation_s8_x, _y, _z, _w: runs copied input by input",
    COPY on DOMAIN, from "ARM-software/CMSIS-NN Source/ConcatenationFunctions/arm_concatenation_s8_x.c, _y.c, _z.c, _w.c",
    |params, inputs, out| by_inputs(params, inputs, out, |_, from, out| copy(I8, from, out))
);

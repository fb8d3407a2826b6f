//! CMSIS-NN: the rounding of TensorFlow Lite. The form for DSP extensions keeps int32 sums of all channels in a buffer and adds pixels by `QADD`. The
//! form for MVE sums sixteen channels at a time in four vectors, with predication for the last channels, and divides lane by lane.
//!
//! Source: ARM-software/CMSIS-NN `Source/PoolingFunctions/arm_avgpool_s8.c`, `arm_avgpool_s16.c`, `arm_max_pool_s8.c`.

use super::tflite::{AVERAGE, DOMAIN, MAX, divided, max, sums};
use super::windows::{clamp, each_place};
use super::{Domain, Kernel};
use crate::element::Element::{I8, I16};
use crate::kernel::scalar;

/// Channels in a block of four vectors.
const VECTOR: usize = 16;

/// Average of int8, with the DSP extension.
pub(super) const AVERAGE_S8: Kernel = Kernel::scalar(
    "arm-avgpool-s8",
    "CMSIS-NN arm_avgpool_s8, DSP form: saturating int32 sums of all channels in a buffer",
    AVERAGE,
    DOMAIN,
    "ARM-software/CMSIS-NN Source/PoolingFunctions/arm_avgpool_s8.c",
    |params, input, out| {
        let mut buffer = vec![0i32; params.channels];
        each_place(params, I8, input, out, |window, out| {
            for (at, pixel) in window.pixels().enumerate() {
                for (sum, byte) in buffer.iter_mut().zip(&input[pixel..]) {
                    let value = i32::from(*byte as i8);
                    *sum = if at == 0 { value } else { value.saturating_add(*sum) };
                }
            }
            let count = window.inside() as i32;
            out.iter_mut().zip(&buffer).for_each(|(out, sum)| *out = clamp(divided(*sum, count), params));
        });
    },
);

/// Average of int8, with MVE.
pub(super) const LANES_S8: Kernel = Kernel::scalar(
    "arm-avgpool-s8-mve",
    "CMSIS-NN arm_avgpool_s8, MVE form: sixteen channels at a time, the last ones predicated",
    AVERAGE,
    DOMAIN,
    "ARM-software/CMSIS-NN Source/PoolingFunctions/arm_avgpool_s8.c, ARM_MATH_MVEI",
    |params, input, out| {
        each_place(params, I8, input, out, |window, out| {
            let half = window.inside() as i32 / 2;
            for (at, out) in out.chunks_mut(VECTOR).enumerate() {
                let mut sums = [0i32; VECTOR];
                for pixel in window.pixels() {
                    // A predicated lane loads nothing.
                    let lanes = input[pixel + at * VECTOR..].iter().take(out.len());
                    sums.iter_mut().zip(lanes).for_each(|(sum, byte)| *sum = sum.wrapping_add((*byte as i8).into()));
                }
                for (out, sum) in out.iter_mut().zip(sums) {
                    let moved = if sum > 0 { sum.wrapping_add(half) } else { sum.wrapping_sub(half) };
                    *out = clamp(moved / window.inside() as i32, params);
                }
            }
        });
    },
);

/// Average of int16.
pub(super) const AVERAGE_S16: Kernel = scalar!(
    "arm-avgpool-s16", "CMSIS-NN arm_avgpool_s16: int32 sums, half the count added by sign",
    AVERAGE on Domain { element: I16, ..DOMAIN }, from "ARM-software/CMSIS-NN Source/PoolingFunctions/arm_avgpool_s16.c",
    |params, input, out| sums(params, I16, input, out, divided)
);

/// Maximum of int8.
pub(super) const MAX_S8: Kernel = Kernel::scalar(
    "arm-max-pool-s8",
    "CMSIS-NN arm_max_pool_s8: the first pixel copied, the others compared, then clamped",
    MAX,
    DOMAIN,
    "ARM-software/CMSIS-NN Source/PoolingFunctions/arm_max_pool_s8.c",
    |params, input, out| {
        if params.channels == 1 {
            return max(params, I8, input, out);
        }
        each_place(params, I8, input, out, |window, out| {
            for (at, pixel) in window.pixels().enumerate() {
                for (out, byte) in out.iter_mut().zip(&input[pixel..]) {
                    let value = i32::from(*byte as i8);
                    *out = if at == 0 { value } else { value.max(*out) };
                }
            }
            out.iter_mut().for_each(|out| *out = clamp(*out, params));
        });
    },
);

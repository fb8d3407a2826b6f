//! gemmlowp: `GemmWithOutputPipeline` as a convolution with filters of one place. The pixels are lhs, the filters rhs, and the pipeline is
//! `BiasAddition`, `ScaleInt32ByFixedPointAndExponent`, `Clamp`, `SaturatingCastToUint8`.
//!
//! The kernel multiplies raw elements, and the unpacking adds the terms of the offsets before the pipeline. Left shifts wrap, as on NEON.
//!
//! Source: google/gemmlowp `public/gemmlowp.h`, `internal/unpack.h`, `public/output_stages.h`, `doc/low-precision.md`.

use super::{Domain, Kernel, loops};
use crate::contract;
use crate::element::Element::U8;
use crate::fpm::Channel;
use crate::fpm::gemmlowp::double_rounding;
use crate::kernel::scalar;

/// Steps 1 to 4 of the low-precision paradigm, to uint8.
pub(super) const PIPELINE_U8: Kernel = scalar!(
    "gemmlowp-pointwise-u8", "gemmlowp GemmWithOutputPipeline: bias, ScaleInt32ByFixedPointAndExponent per channel, Clamp, cast",
    "gemmlowp-double" Wrap on Domain {
        grouped: false,
        spatial: false,
        ..Domain::all([U8; 3], contract::Domain::PER_CHANNEL)
    },
    from "google/gemmlowp public/gemmlowp.h, internal/unpack.h, public/output_stages.h",
    |params, input, weights, out| {
        let sums = loops::expanded(params, (U8, input), (U8, weights), params.shape.input_zero_point);
        loops::each(params, &sums, out, |sum, o| {
            let Channel { multiplier, shift } = params.channel(o);
            let scaled = double_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift);
            params.finish(scaled).clamp(0, 255)
        });
    }
);

//! gemmlowp: output stages, each as a function, and pipelines of them.
//!
//! `QuantizeDownInt32ToUint8Scale` follows the formula in `public/output_stages.h`: the rounding term is added before the shift, which rounds ties
//! up. (Since the generalisation of its rounding shifts, `internal/output.h` divides by `RoundingDivideByPOT`, which rounds ties away from zero: for
//! a product of -1 and a shift of 1 it gives -1, and the printed formula 0.) The product is an int32: "the integer multiplication [...] risks
//! overflowing".
//!
//! `ScaleInt32ByFixedPointAndExponent` shifts left by `ShiftLeft`, here as on NEON, where it is `vshl` and wraps. The scalar `ShiftLeft` saturates,
//! without a guarantee: "we don't care about the results in the overflow case".
//!
//! Addition wraps where C++ leaves it undefined, as the vector code does.
//!
//! Source: google/gemmlowp `public/output_stages.h`, `internal/output.h`, `doc/output.md`, `doc/low-precision.md`.

use super::{Domain, Kernel, Params, clamp, each};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::gemmlowp::{double_rounding, rounding_divide_by_pot, saturating_rounding_doubling_high_mul};
use crate::kernel::{of_elements, scalar};

const SOURCE: &str = "google/gemmlowp public/output_stages.h, internal/output.h, doc/output.md";
const LEGACY: Promise = Promise { scheme: "legacy", overflow: Overflow::Wrap };
const DOUBLE: Promise = Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap };

/// Right shifts of 0 to 31 places.
const RIGHT: contract::Domain = contract::Domain { shifts: -31..=0, ..contract::Domain::ALL };

/// Right shifts with integers as multipliers.
const LEGACY_RIGHT: contract::Domain = contract::Domain { q: 0..=0, ..RIGHT };

/// Returns the domain of a single stage: one channel, the whole output type.
const fn stage(output: Element, channels: contract::Domain) -> Domain {
    Domain { output, channels, bias: false, zero_point: true, clamp: false }
}

/// Quantize down, clamp, saturating cast.
pub(super) const QUANTIZE_DOWN: Kernel = scalar!(
    "gemmlowp-quantize-down", "gemmlowp QuantizeDownInt32ToUint8Scale, Clamp, SaturatingCastToUint8",
    LEGACY on Domain { bias: true, zero_point: false, clamp: true, ..stage(Element::U8, LEGACY_RIGHT) }, from SOURCE,
    |params, acc, out| {
        each(params, acc, out, |acc, channel, result_offset| {
            cast(clamp(quantize_down(acc, channel, result_offset), params), Element::U8)
        });
    }
);

/// Quantize down as in `internal/output.h` since the generalisation of its rounding shifts: ties away from zero.
pub(super) const QUANTIZE_DOWN_SHIPPED: Kernel = scalar!(
    "gemmlowp-quantize-down-shipped", "gemmlowp QuantizeDownInt32ToUint8Scale as its code, not its comment, rounds; Clamp, SaturatingCastToUint8",
    "legacy-ties-away" Wrap on Domain { bias: true, zero_point: false, clamp: true, ..stage(Element::U8, LEGACY_RIGHT) },
    from "google/gemmlowp internal/output.h, OutputStageEvalBufferImpl of OutputStageQuantizeDownInt32ToUint8Scale",
    |params, acc, out| {
        each(params, acc, out, |acc, Channel { multiplier, shift }, result_offset| {
            let product = acc.wrapping_add(result_offset).wrapping_mul(multiplier);
            cast(clamp(rounding_divide_by_pot(product, shift.unsigned_abs()), params), Element::U8)
        });
    }
);

/// Legacy paradigm: the pipeline of `MakeStandardOutputPipeline`, which the entry points `Gemm` and `EightBitIntGemm` use.
pub(super) const EIGHT_BIT_INT: Kernel = scalar!(
    "gemmlowp-eight-bit-int", "gemmlowp legacy paradigm: result_offset, result_mult_int, result_shift, clamp to 0..=255",
    LEGACY on Domain { bias: true, zero_point: false, ..stage(Element::U8, LEGACY_RIGHT) },
    from "google/gemmlowp doc/low-precision.md, the legacy low-precision paradigm; MakeStandardOutputPipeline",
    |params, acc, out| {
        each(params, acc, out, |acc, channel, result_offset| cast(quantize_down(acc, channel, result_offset), Element::U8));
    }
);

of_elements! {
    "gemmlowp QuantizeDownInt32ByFixedPoint, saturating cast", DOUBLE, stage(ELEMENT, RIGHT), SOURCE,
    |params, acc, out| {
        each(params, acc, out, |acc, channel, _| cast(quantize_down_by_fixed_point(acc, channel, params), ELEMENT));
    };
    FIXED_POINT_U8 = "gemmlowp-quantize-down-fixedpoint", U8;
    FIXED_POINT_I8 = "gemmlowp-quantize-down-fixedpoint-i8", I8;
    FIXED_POINT_I16 = "gemmlowp-quantize-down-fixedpoint-i16", I16;
}

of_elements! {
    "gemmlowp ScaleInt32ByFixedPointAndExponent (NEON's left shift), saturating cast",
    DOUBLE, stage(ELEMENT, contract::Domain::ALL), SOURCE,
    |params, acc, out| each(params, acc, out, |acc, channel, _| cast(scale_by_exponent(acc, channel, params), ELEMENT));
    EXPONENT_U8 = "gemmlowp-scale-fixedpoint-exponent", U8;
    EXPONENT_I8 = "gemmlowp-scale-fixedpoint-exponent-i8", I8;
    EXPONENT_I16 = "gemmlowp-scale-fixedpoint-exponent-i16", I16;
}

of_elements! {
    "gemmlowp BiasAddition, ScaleInt32ByFixedPointAndExponent per channel, Clamp, saturating cast",
    DOUBLE, Domain::all(ELEMENT, contract::Domain::PER_CHANNEL), SOURCE,
    |params, acc, out| {
        each(params, acc, out, |acc, channel, bias| cast(pipeline_to_int32(acc, channel, bias, params), ELEMENT));
    };
    PIPELINE_U8 = "gemmlowp-pipeline", U8;
    PIPELINE_I8 = "gemmlowp-pipeline-i8", I8;
    PIPELINE_I16 = "gemmlowp-pipeline-i16", I16;
}

/// Runs `BiasAddition`, `ScaleInt32ByFixedPointAndExponent`, `Clamp`.
#[inline(always)]
fn pipeline_to_int32(acc: i32, channel: Channel, bias: i32, params: &Params) -> i32 {
    clamp(scale_by_exponent(bias_addition(acc, bias), channel, params), params)
}

#[inline(always)]
fn bias_addition(x: i32, bias: i32) -> i32 {
    x.wrapping_add(bias)
}

/// Computes `QuantizeDownInt32ToUint8Scale`: `((x + result_offset) * result_mult_int + rounding) >> result_shift`, in int32.
#[inline(always)]
fn quantize_down(x: i32, Channel { multiplier, shift }: Channel, result_offset: i32) -> i32 {
    let result_shift = shift.unsigned_abs();
    let rounding = if result_shift < 1 { 0 } else { 1 << (result_shift - 1) };
    x.wrapping_add(result_offset).wrapping_mul(multiplier).wrapping_add(rounding) >> result_shift
}

/// Computes `QuantizeDownInt32ByFixedPoint`; the zero point is `result_offset_after_shift`.
#[inline(always)]
fn quantize_down_by_fixed_point(x: i32, Channel { multiplier, shift }: Channel, params: &Params) -> i32 {
    let high = saturating_rounding_doubling_high_mul(x, multiplier);
    rounding_divide_by_pot(high, shift.unsigned_abs()).wrapping_add(params.zero_point)
}

/// Computes `ScaleInt32ByFixedPointAndExponent`; the shift is `result_exponent`.
#[inline(always)]
fn scale_by_exponent(x: i32, Channel { multiplier, shift }: Channel, params: &Params) -> i32 {
    double_rounding(x, multiplier, shift).wrapping_add(params.zero_point)
}

/// Computes `SaturatingCastToUint8`, `SaturatingCastToInt8` or `SaturatingCastToInt16`.
#[inline(always)]
fn cast(x: i32, output: Element) -> i32 {
    match output {
        Element::U8 => x.clamp(0, 255),
        Element::I8 => x.clamp(-128, 127),
        _ => x.clamp(-32768, 32767),
    }
}

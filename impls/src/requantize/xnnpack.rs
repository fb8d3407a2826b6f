//! XNNPACK: `rndnu` requantization with zero point and clamp.
//!
//! No bias is added here, because the accumulators of XNNPACK's matrix products start with it.
//!
//! The promise is `saturate`, because no step after the scaling wraps.
//! NEON narrows the scaled value `v` to 16 bits with saturation, adds the zero point `z` with saturation in 16 bits, narrows to 8 bits with
//! saturation, and clamps to `[min, max]`. If `v` is in int16, the sum is within 255 of int16, and a sum that saturates is beyond 8 bits on the same
//! side. If `v > 32767`, the narrowed sum is at least `32767 - 128` and the wide sum at least `32768 - 128`: both are beyond `max`. If `v < -32768`,
//! the narrowed sum is at most `-32768 + 255` and the wide sum is less: both are below `min`. So the result is the wide `v + z`, clamped.
//! Scalar code first clamps `v` to `[min - z, max - z]`, far from the ends of int32, and then adds `z`: the same result.
//!
//! Source: google/XNNPACK `src/qs8-requantization/qs8-requantization-rndnu-neon-qdmulh.c`,
//! `qs8-requantization-rndnu-scalar.c`; the `qu8` rndnu GEMM kernels.

use super::{Domain, Kernel, Params, Run, clamp, each};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element;
use crate::fpm::xnnpack::{self, rndnu_body, rndnu_constants, rounding_shift};
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector, every_lane};

const SATURATING: Promise = Promise { scheme: "xnnpack-rndnu", overflow: Overflow::Saturate };
const NEON_SOURCE: &str = "google/XNNPACK src/qs8-requantization/qs8-requantization-rndnu-neon-qdmulh.c";

const DOMAIN: Domain =
    Domain { output: Element::I8, channels: xnnpack::DOMAIN, bias: false, zero_point: true, clamp: true };

/// NEON's sequence, to int8. The scaling runs on instructions; the narrowing follows element by element.
pub(super) const RNDNU_I8: Kernel = Kernel {
    native: Some(params_form!("tiebreak_requantize_xnnpack_rndnu_i8", ["sqshl", "sqdmulh", "srshl"], to_i8(acc: i32))),
    ..Kernel::scalar(
        "xnnpack-rndnu-i8",
        "XNNPACK qs8 rndnu: vqshl, vqdmulh, vrshl, narrowed and offset in 16 bits",
        SATURATING,
        DOMAIN,
        NEON_SOURCE,
        to_i8::<Portable>,
    )
};

/// NEON's sequence, to uint8.
pub(super) const RNDNU_U8: Kernel = Kernel {
    native: Some(params_form!("tiebreak_requantize_xnnpack_rndnu_u8", ["sqshl", "sqdmulh", "srshl"], to_u8(acc: i32))),
    ..Kernel::scalar(
        "xnnpack-rndnu-u8",
        "XNNPACK qu8 rndnu: vqshl, vqdmulh, vrshl, narrowed and offset in 16 bits",
        SATURATING,
        Domain { output: Element::U8, ..DOMAIN },
        NEON_SOURCE,
        to_u8::<Portable>,
    )
};

/// Scalar code, which clamps before it adds the zero point. Scales are below 1 in the source, so no shift is to the left and the scaled value fits in
/// int32.
pub(super) const RNDNU_SCALAR_I8: Kernel = Kernel::scalar(
    "xnnpack-rndnu-scalar-i8",
    "XNNPACK qs8 rndnu, scalar: clamped to [min - zero point, max - zero point], then offset",
    Promise { scheme: "ties-up", overflow: Overflow::Saturate },
    Domain { channels: contract::Domain { shifts: -31..=0, ..xnnpack::DOMAIN }, ..DOMAIN },
    "google/XNNPACK src/qs8-requantization/qs8-requantization-rndnu-scalar.c",
    |params, acc, out| {
        let (min, max) = (params.min - params.zero_point, params.max - params.zero_point);
        each(params, acc, out, |acc, channel, _| {
            rounding_shift(acc, channel.multiplier, channel.shift).max(min).min(max) + params.zero_point
        });
    },
);

#[inline(always)]
fn to_i8<V: Vector>(params: &Params, acc: &[i32], out: &mut [i32]) {
    scale::<V>(params, acc, out);
    out.iter_mut().for_each(|v| *v = clamp(narrow_and_offset(*v, params.zero_point).clamp(-128, 127), params));
}

#[inline(always)]
fn to_u8<V: Vector>(params: &Params, acc: &[i32], out: &mut [i32]) {
    scale::<V>(params, acc, out);
    out.iter_mut().for_each(|v| *v = clamp(narrow_and_offset(*v, params.zero_point).clamp(0, 255), params));
}

#[inline(always)]
fn scale<V: Vector>(params: &Params, acc: &[i32], out: &mut [i32]) {
    let channel = params.channels[0];
    let constants = rndnu_constants::<V>(channel.multiplier, channel.shift);
    every_lane(acc, out, constants, rndnu_body::<V>);
}

/// Narrows by `vqmovn` to 16 bits, and adds by `vqadd` in 16 bits.
#[inline(always)]
fn narrow_and_offset(scaled: i32, zero_point: i32) -> i32 {
    let narrowed = scaled.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    narrowed.saturating_add(zero_point as i16).into()
}

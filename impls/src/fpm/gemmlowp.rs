//! gemmlowp: saturating rounding doubling high multiply, then rounding division by a power of two.
//!
//! The library has no operation with a left shift. Its users (see [`super::tflite`]) shift the accumulator left first, with wrapping, and so do these
//! kernels. For `s = 31`, only the lowest bit of the accumulator is left, as the sign bit.
//!
//! Source: google/gemmlowp `fixedpoint/fixedpoint.h` and `fixedpoint/fixedpoint_neon.h`.

use super::{Kernel, Params, each, neon_form};
use crate::contract::{Contract, Domain, Overflow, Promise};
use crate::simd::{Portable, Vector, strip_mine};

const PROMISE: Promise = Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap };

/// Scalar code of `fixedpoint.h`: 64-bit product with a nudge and a truncating division; then mask and threshold.
pub(super) const SCALAR: Kernel = Kernel {
    name: "gemmlowp-scalar",
    summary: "gemmlowp SaturatingRoundingDoublingHighMul and RoundingDivideByPOT",
    contract: Contract {
        promise: PROMISE,
        domain: Domain::ALL,
        deviations: &[],
        source: "google/gemmlowp fixedpoint/fixedpoint.h",
    },
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| double_rounding(x, m, s));
    },
    native: None,
};

/// NEON code of `fixedpoint_neon.h`: `vqrdmulhq`, then the fixup that turns the ties-up of `vrshlq` into ties away from zero.
pub(super) const NEON: Kernel = Kernel {
    name: "gemmlowp-neon",
    summary: "gemmlowp vqrdmulhq, fixup with saturating add, vrshlq",
    contract: Contract {
        promise: PROMISE,
        domain: Domain::ALL,
        deviations: &[],
        source: "google/gemmlowp fixedpoint/fixedpoint_neon.h",
    },
    portable: vector::<Portable>,
    native: Some(neon_form!(
        "tiebreak_fpm_gemmlowp_neon",
        ["sshl", "sqrdmulh", "and", "sshr", "sqadd", "srshl"],
        vector
    )),
};

#[inline(always)]
fn vector<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    let (m, s) = params.first();
    let (multiplier, left, right) = (V::splat(m), V::splat(s.max(0)), V::splat(s.min(0)));
    let body = |x: V| {
        let y = x.sshl(left).sqrdmulh(multiplier);
        let fixup = y.and(right).sshr31();
        y.sqadd(fixup).srshl(right)
    };
    strip_mine::<V>(x, out, body, |x| double_rounding(x, m, s));
}

/// Computes one element of the scalar form.
#[inline(always)]
pub(crate) fn double_rounding(x: i32, m: i32, s: i32) -> i32 {
    let shifted = x.wrapping_shl(s.max(0) as u32);
    rounding_divide_by_pot(saturating_rounding_doubling_high_mul(shifted, m), s.min(0).unsigned_abs())
}

/// Computes `round(a * b / 2^31)`, ties towards +inf. The one product that overflows saturates.
///
/// The nudge has the sign of the product because C++ divides towards zero. Nudge and division together round as `VQRDMULH` does.
#[inline(always)]
pub(crate) fn saturating_rounding_doubling_high_mul(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    let product = i64::from(a) * i64::from(b);
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    ((product + nudge) / (1 << 31)) as i32
}

/// Computes `round(x / 2^exponent)`, ties away from zero; `exponent` is in 0..=31.
#[inline(always)]
pub(crate) fn rounding_divide_by_pot(x: i32, exponent: u32) -> i32 {
    let mask = 1i64.wrapping_shl(exponent).wrapping_sub(1) as i32;
    let remainder = x & mask;
    let threshold = (mask >> 1) + i32::from(x < 0);
    x.wrapping_shr(exponent) + i32::from(remainder > threshold)
}

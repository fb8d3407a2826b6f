//! XNNPACK: the `rndnu` requantization (round to nearest, ties up), without zero point and clamp.
//!
//! XNNPACK derives its parameters from a float scale in `[2^-32, 256)`. The multiplier is the 24-bit significand; the NEON form shifts it left by 7
//! bits, so it is a multiple of 128 in `[2^30, 2^31)`. The right shift is 16..=55 (scalar) or -8..=31 (NEON); both are `s` in -31..=8. The arithmetic
//! below accepts any multiplier that is not negative, so the contracts do too.
//!
//! Source: google/XNNPACK `src/qs8-requantization/qs8-requantization-rndnu-*.c`, `src/microparams-init.c` and the rndnu
//! GEMM kernels.

use super::{Kernel, Params, each, neon_form};
use crate::contract::{Contract, Domain, Overflow};
use crate::simd::{Portable, Vector, every_lane};

pub(crate) const DOMAIN: Domain = Domain { multipliers: 0..=i32::MAX, shifts: -31..=8, ..Domain::ALL };

/// Scalar form: 64-bit product, rounding constant, arithmetic shift.
pub(super) const RNDNU_SCALAR: Kernel = Kernel {
    name: "xnnpack-rndnu-scalar",
    summary: "XNNPACK rndnu requantization, scalar, before clamp and zero point",
    contract: Contract::new(
        "ties-up",
        Overflow::Wrap,
        DOMAIN,
        "google/XNNPACK src/qs8-requantization/qs8-requantization-rndnu-scalar.c",
    ),
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| rounding_shift(x, m, s));
    },
    native: None,
};

/// NEON form: `vqshlq` by the left part of the shift, `vqdmulhq`, and `vrshlq` to the right by at least one bit.
///
/// The GEMM kernels have the saturating left shift. The requantization stubs use `vshlq`, for scales below 1, which need no left shift. Kernels read
/// and compute whole vectors, with padding, so there is no scalar tail.
pub(super) const RNDNU_NEON: Kernel = Kernel {
    name: "xnnpack-rndnu-neon",
    summary: "XNNPACK rndnu requantization, NEON, before narrowing and zero point",
    contract: Contract::new(
        "xnnpack-rndnu",
        Overflow::Wrap,
        DOMAIN,
        "google/XNNPACK src/qs8-requantization/qs8-requantization-rndnu-neon-qdmulh.c and rndnu GEMM kernels",
    ),
    portable: rndnu::<Portable>,
    native: Some(neon_form!("tiebreak_fpm_xnnpack_rndnu_neon", ["sqshl", "sqdmulh", "srshl"], rndnu)),
};

/// Computes one element of [`RNDNU_SCALAR`].
#[inline(always)]
pub(crate) fn rounding_shift(x: i32, m: i32, s: i32) -> i32 {
    let shift = (31 - s) as u32;
    let rounding = 1i64.wrapping_shl(shift.wrapping_sub(1));
    (i64::from(x) * i64::from(m) + rounding).wrapping_shr(shift) as i32
}

/// Returns the constants of [`rndnu_body`]: multiplier, left shift before it, right shift after it (at least one bit).
#[inline(always)]
pub(crate) fn rndnu_constants<V: Vector>(m: i32, s: i32) -> [V; 3] {
    let post = s.min(-1);
    [V::splat(m), V::splat(s.wrapping_sub(post)), V::splat(post)]
}

#[inline(always)]
fn rndnu<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    let (m, s) = params.first();
    every_lane(x, out, rndnu_constants(m, s), rndnu_body::<V>);
}

/// Computes one vector of [`RNDNU_NEON`].
#[inline(always)]
pub(crate) fn rndnu_body<V: Vector>([multiplier, pre, post]: [V; 3], x: V) -> V {
    x.sqshl(pre).sqdmulh(multiplier).srshl(post)
}

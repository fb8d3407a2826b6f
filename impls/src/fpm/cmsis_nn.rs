//! CMSIS-NN: `arm_nn_requantize` in its two builds, and the MVE vector form of the single-rounding build.
//!
//! Source: ARM-software/CMSIS-NN `Include/arm_nnsupportfunctions.h`, after pull request 220.

use super::{Kernel, Params, each, neon_form};
use crate::contract::{Contract, Domain, Overflow};
use crate::simd::{Portable, Vector, every_lane};

const SOURCE: &str = "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h";

/// Documented ranges: multiplier above `NN_Q31_MIN`, shift in -31..=30.
pub(crate) const DOMAIN: Domain = Domain { multipliers: i32::MIN + 1..=i32::MAX, shifts: -31..=30, ..Domain::ALL };

/// Default build: doubling high multiply without saturation, then division by a power of two, ties away from zero.
///
/// The multiplication does not saturate `(MIN, MIN)`; the range of the multiplier excludes that input.
pub(super) const DOUBLE: Kernel = Kernel {
    name: "cmsis-nn-double",
    summary: "CMSIS-NN arm_nn_requantize, default build",
    contract: Contract::new("cmsis-nn-double", Overflow::Wrap, DOMAIN, SOURCE),
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| double_rounding(x, m, s));
    },
    native: None,
};

/// `CMSIS_NN_USE_SINGLE_ROUNDING`: `((x * m >> (30 - s)) + 1) >> 1` in 64 bits, cast to int32.
pub(super) const SINGLE: Kernel = Kernel {
    name: "cmsis-nn-single",
    summary: "CMSIS-NN arm_nn_requantize, CMSIS_NN_USE_SINGLE_ROUNDING",
    contract: Contract::new("cmsis-nn-single", Overflow::Wrap, DOMAIN, SOURCE),
    portable: |params, x, out| {
        let (m, s) = params.first();
        each(x, out, |x| single_rounding(x, m, s));
    },
    native: None,
};

/// `arm_requantize_mve_32x4` of the single-rounding build, on NEON, whose instructions have MVE's semantics.
///
/// The shift is split into `r = min(-1, s)` to the right and `s - r` to the left, so that the truncating multiplication keeps one bit for the
/// rounding shift. The left shift wraps, so for `s >= 0` it can lose bits that ties-up keeps. Loads are predicated, without a scalar tail.
pub(super) const MVE_SINGLE: Kernel = Kernel {
    name: "cmsis-nn-mve-single",
    summary: "CMSIS-NN arm_requantize_mve_32x4, CMSIS_NN_USE_SINGLE_ROUNDING",
    contract: Contract::new("cmsis-nn-mve-single", Overflow::Wrap, DOMAIN, SOURCE),
    portable: mve_single::<Portable>,
    native: Some(neon_form!("tiebreak_fpm_cmsis_nn_mve_single", ["sshl", "sqdmulh", "srshl"], mve_single)),
};

#[inline(always)]
fn mve_single<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    let (m, s) = params.first();
    let r = s.min(-1);
    let constants = [V::splat(m), V::splat(s.wrapping_sub(r)), V::splat(r)];
    every_lane(x, out, constants, mve_single_body::<V>);
}

#[inline(always)]
fn mve_single_body<V: Vector>([multiplier, left, right]: [V; 3], x: V) -> V {
    x.sshl(left).sqdmulh(multiplier).srshl(right)
}

/// Computes one element of [`DOUBLE`].
#[inline(always)]
pub(crate) fn double_rounding(x: i32, m: i32, s: i32) -> i32 {
    let (left, right) = (s.max(0) as u32, s.min(0).unsigned_abs());
    divide_by_power_of_two(doubling_high_mult_no_sat(x.wrapping_shl(left), m), right)
}

/// Computes one element of [`SINGLE`].
#[inline(always)]
pub(crate) fn single_rounding(x: i32, m: i32, s: i32) -> i32 {
    let floor_shift = (30 - s) as u32;
    (((i64::from(x) * i64::from(m)).wrapping_shr(floor_shift) + 1) >> 1) as i32
}

/// `arm_nn_doubling_high_mult_no_sat`: both signs have the same rounding constant, and the shift is a floor.
#[inline(always)]
fn doubling_high_mult_no_sat(a: i32, b: i32) -> i32 {
    (((1i64 << 30) + i64::from(a) * i64::from(b)) >> 31) as i32
}

/// `arm_nn_divide_by_power_of_two`: rounds ties away from zero; `exponent` is in 0..=31.
#[inline(always)]
fn divide_by_power_of_two(dividend: i32, exponent: u32) -> i32 {
    let mask = 1i32.wrapping_shl(exponent).wrapping_sub(1);
    let quotient = dividend.wrapping_shr(exponent);
    let threshold = (mask >> 1) + i32::from(quotient < 0);
    quotient + i32::from(mask & dividend > threshold)
}

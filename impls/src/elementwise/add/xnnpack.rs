//! XNNPACK: each operand is multiplied by an integer multiplier over one power of two, chosen so that the larger multiplier has 21 bits. The sum with
//! the rounding term is shifted right once, ties up.
//!
//! The scalar form folds the rounding term and the zero points into a bias. The NEON form subtracts zero points first, rounds by `srshl`, and
//! saturates to 16 bits before and after it adds the output's zero point. The saturations change no result: ratios of scales below 2^8 keep sums
//! below 2^17, and a value that saturates at 16 bits stays outside 8 bits with any zero point of 8 bits.
//!
//! Source: google/XNNPACK `src/qs8-vadd/scalar.c.in`, `src/qs8-vadd/neon.c.in`; `src/microparams-init.c`,
//! `xnn_init_qs8_add_minmax_scalar_params`.

use super::{Domain, Kernel, Params, Run, Scales};
use crate::contract::{Contract, Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each, in_lanes};
use crate::kernel::of_elements;
use crate::simd::form::params_form;
use crate::simd::{LANES, Portable, Vector};

const PROMISE: Promise = Promise { scheme: "xnnpack", overflow: Overflow::Wrap };
/// Number of bits of the larger multiplier after the leading bit.
pub(crate) const BITS: i32 = 20;
pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Ratios, clamp: false };

of_elements! {
    "XNNPACK scalar: bias + lhs * multiplier + rhs * multiplier, one arithmetic shift",
    PROMISE, Domain { element: ELEMENT, ..DOMAIN }, "google/XNNPACK src/qs8-vadd/scalar.c.in",
    |params, lhs, rhs, out| biased(params, fixed(params, BITS), ELEMENT, lhs, rhs, out);
    QS8 = "xnnpack-qs8-vadd", I8;
    QU8 = "xnnpack-qu8-vadd", U8;
}

/// int8 on NEON. The tail goes through whole vectors.
pub(super) const NEON_QS8: Kernel = Kernel {
    name: "xnnpack-qs8-vadd-neon",
    summary: "XNNPACK qs8-vadd on NEON: mul, mla, srshl, before narrowing",
    contract: Contract::new("xnnpack", Overflow::Wrap, DOMAIN, "google/XNNPACK src/qs8-vadd/neon.c.in"),
    portable: in_vectors::<Portable>,
    native: Some(params_form!("tiebreak_add_xnnpack_qs8_vadd", ["mul", "srshl"], in_vectors(lhs, rhs: u8))),
};

#[inline(always)]
fn in_vectors<V: Vector>(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    vectors::<V>(params, fixed(params, BITS), lhs, rhs, out);
}

/// Multipliers of both operands, and their common right shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    pub(crate) lhs: i32,
    pub(crate) rhs: i32,
    pub(crate) shift: u32,
}

/// Computes `lrintf(ratio * 2^shift)` for both operands. The larger multiplier has `bits` bits after the leading bit.
pub(crate) fn fixed(params: &Params, bits: i32) -> Fixed {
    let ratio = |scale: f32| scale / params.out.single();
    let (lhs, rhs) = (ratio(params.lhs.single()), ratio(params.rhs.single()));
    let exponent = (lhs.max(rhs).to_bits() >> 23) as i32 - 127;
    let shift = bits - exponent;
    let power = f32::from_bits(((shift + 127) as u32) << 23);
    let multiplier = |ratio: f32| (ratio * power).round_ties_even() as i32;
    Fixed { lhs: multiplier(lhs), rhs: multiplier(rhs), shift: shift as u32 }
}

/// Runs the scalar form with multipliers of either sign.
#[inline(always)]
pub(crate) fn biased(params: &Params, by: Fixed, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let bias = (1 << (by.shift - 1)) - by.lhs * params.lhs.zero_point - by.rhs * params.rhs.zero_point;
    each(element, lhs, rhs, out, |lhs, rhs| {
        let sum = bias + lhs * by.lhs + rhs * by.rhs;
        clamp((sum >> by.shift) + params.out.zero_point, params)
    });
}

/// Runs the NEON form with multipliers of either sign.
#[inline(always)]
pub(crate) fn vectors<V: Vector>(params: &Params, by: Fixed, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let constants = [V::splat(by.lhs), V::splat(by.rhs), V::splat(-(by.shift as i32))];
    in_lanes(params, lhs, rhs, out, |lhs, rhs| four(constants, lhs, rhs));
}

#[inline(always)]
fn four<V: Vector>([left, right, shift]: [V; 3], lhs: [i32; LANES], rhs: [i32; LANES]) -> [i32; LANES] {
    let sum = V::load(&lhs).mul(left).add(V::load(&rhs).mul(right));
    let mut lanes = [0; LANES];
    sum.srshl(shift).store(&mut lanes);
    lanes
}

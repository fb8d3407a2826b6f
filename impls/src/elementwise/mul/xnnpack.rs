//! XNNPACK: the int32 product times a quotient of scales in float. The scalar form scales in f32, clamps, and rounds by a magic bias: the low bits of
//! the sum are the integer. The NEON form is `rndnu`; its multiplier is the significand of the quotient.
//!
//! The NEON form saturates to 16 bits before and after it adds the output's zero point. The saturations change no result: a value that saturates at
//! 16 bits stays outside 8 bits with any zero point of 8 bits.
//!
//! Source: google/XNNPACK `src/qs8-vmul/scalar.c.in`, `src/qs8-vmul/neon.c.in` (RNDNU); `src/microparams-init.c`,
//! `xnn_init_qs8_mul_minmax_scalar_params`, `xnn_init_qs8_mul_minmax_rndnu_neon_params`.

use super::{Domain, Kernel, Params, Run, Scales, product, ratio};
use crate::contract::{Contract, Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{each, in_lanes};
use crate::fpm::xnnpack::{rndnu_body, rndnu_constants};
use crate::kernel::of_elements;
use crate::simd::form::params_form;
use crate::simd::{LANES, Portable, Vector};

const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Ratio, clamp: false };

of_elements! {
    "XNNPACK scalar: float product times scale, clamp, magic bias",
    Promise { scheme: "xnnpack-fp32", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..DOMAIN },
    "google/XNNPACK src/qs8-vmul/scalar.c.in", |params, lhs, rhs, out| magic(params, ELEMENT, lhs, rhs, out);
    QS8 = "xnnpack-qs8-vmul", I8;
    QU8 = "xnnpack-qu8-vmul", U8;
}

/// int8 on NEON. The tail goes through whole vectors.
pub(super) const NEON_QS8: Kernel = Kernel {
    name: "xnnpack-qs8-vmul-neon",
    summary: "XNNPACK qs8-vmul on NEON: sqshl, sqdmulh, srshl, before narrowing",
    contract: Contract::new("xnnpack-rndnu", Overflow::Wrap, DOMAIN, "google/XNNPACK src/qs8-vmul/neon.c.in"),
    portable: vectors::<Portable>,
    native: Some(
        params_form!("tiebreak_mul_xnnpack_qs8_vmul", ["mul", "sqshl", "sqdmulh", "srshl"], vectors(lhs, rhs: u8)),
    ),
};

/// `1.5 * 2^23`: sums with this addend have steps of 1, which rounds them to integers.
const MAGIC: f32 = 12_582_912.0;

#[inline(always)]
fn magic(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let scale = ratio(params);
    let [least, most] = [params.min, params.max].map(|end| (end - params.out.zero_point) as f32);
    let bias = MAGIC.to_bits() as i32 - params.out.zero_point;
    each(element, lhs, rhs, out, |lhs, rhs| {
        let scaled = (product(params, lhs, rhs) as f32 * scale).max(least).min(most);
        (scaled + MAGIC).to_bits() as i32 - bias
    });
}

/// Returns the significand of a float as a Q0.31 multiplier, and its shift.
pub(crate) fn significand(scale: f32) -> (i32, i32) {
    let bits = scale.to_bits();
    let multiplier = (bits & 0x007f_ffff | 0x0080_0000) << 7;
    (multiplier as i32, (bits >> 23) as i32 - 126)
}

#[inline(always)]
fn vectors<V: Vector>(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let (multiplier, shift) = significand(ratio(params));
    let constants = rndnu_constants::<V>(multiplier, shift);
    in_lanes(params, lhs, rhs, out, |lhs, rhs| four(constants, lhs, rhs));
}

#[inline(always)]
fn four<V: Vector>(constants: [V; 3], lhs: [i32; LANES], rhs: [i32; LANES]) -> [i32; LANES] {
    let mut lanes = [0; LANES];
    rndnu_body(constants, V::load(&lhs).mul(V::load(&rhs))).store(&mut lanes);
    lanes
}

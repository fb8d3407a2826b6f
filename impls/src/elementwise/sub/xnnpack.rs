//! XNNPACK: a subtraction is `vadd` with a negated right multiplier. The larger multiplier has 21 bits. Negation commutes with the rounding of a
//! multiplier to nearest even.
//!
//! Source: google/XNNPACK `src/operators/binary-elementwise-nd.c` (the quantized forms of `xnn_binary_subtract`), `src/qs8-vadd/scalar.c.in`,
//! `src/qs8-vadd/neon.c.in`.

use super::{Domain, Kernel, Params, Run};
use crate::contract::{Contract, Overflow, Promise};
use crate::elementwise::add::xnnpack::{BITS, DOMAIN, Fixed, biased, fixed, vectors};
use crate::kernel::of_elements;
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector};

const PROMISE: Promise = Promise { scheme: "xnnpack", overflow: Overflow::Wrap };

of_elements! {
    "XNNPACK scalar: bias + lhs * multiplier - rhs * multiplier, one arithmetic shift",
    PROMISE, Domain { element: ELEMENT, ..DOMAIN }, "google/XNNPACK src/qs8-vadd/scalar.c.in",
    |params, lhs, rhs, out| biased(params, subtracting(params), ELEMENT, lhs, rhs, out);
    QS8 = "xnnpack-qs8-vsub", I8;
    QU8 = "xnnpack-qu8-vsub", U8;
}

/// int8 on NEON. The tail goes through whole vectors.
pub(super) const NEON_QS8: Kernel = Kernel {
    name: "xnnpack-qs8-vsub-neon",
    summary: "XNNPACK qs8-vadd on NEON with a negated multiplier: mul, mla, srshl, before narrowing",
    contract: Contract::new("xnnpack", Overflow::Wrap, DOMAIN, "google/XNNPACK src/qs8-vadd/neon.c.in"),
    portable: in_vectors::<Portable>,
    native: Some(params_form!("tiebreak_sub_xnnpack_qs8_vsub", ["mul", "srshl"], in_vectors(lhs, rhs: u8))),
};

#[inline(always)]
fn in_vectors<V: Vector>(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    vectors::<V>(params, subtracting(params), lhs, rhs, out);
}

/// Returns the multipliers of a subtraction: the right multiplier is negated.
fn subtracting(params: &Params) -> Fixed {
    let by = fixed(params, BITS);
    Fixed { rhs: -by.rhs, ..by }
}

//! Arm, the fast variant: the products of both halves are added in 16 bits before they are widened, which saves one `uadalp`. Two products of 255 *
//! 255 do not fit in unsigned 16 bits, and two of -128 * -128 do not fit in signed 16 bits: these sums wrap.
//!
//! Source: RFC on int8 convolution for Arm, the `fastmath` option of section Convolution core algorithm.

use super::{Domain, register_kernels, register_steps};
use crate::element::Element;
use crate::simd::Register;

const SOURCE: &str = "RFC on int8 convolution for Arm, core algorithm, fastmath option (umull, umlal2, uadalp)";

/// Returns the domain. 16-bit lane `i` adds the products of elements `i` and `8 + i`, and each result adds two adjacent lanes.
const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[[0, 8], [2, 10], [4, 12], [6, 14]] }
}

register_kernels! {
    UMLAL by umlal: "arm-umlal-fast", "Arm, fast: umull, umlal2 wrapping at 16 bits, uadalp",
        "products-4-halves-u16-wrap" on domain(Element::U8), SOURCE,
        NEON "tiebreak_dot_arm_umlal_fast" ["umull", "umlal2", "uadalp"];
    SMLAL by smlal: "arm-smlal-fast", "Arm, fast: smull, smlal2 wrapping at 16 bits, sadalp",
        "products-4-halves-s16-wrap" on domain(Element::I8), SOURCE,
        NEON "tiebreak_dot_arm_smlal_fast" ["smull", "smlal2", "sadalp"];
}

register_steps!(umlal: unsigned::<R>, smlal: signed::<R>);

/// Computes one step on unsigned elements.
#[inline(always)]
pub(crate) fn unsigned<R: Register>(acc: R, a: R, b: R) -> R {
    acc.uadalp_4s(a.umull(b).umlal2_8h(a, b))
}

/// Computes one step on signed elements.
#[inline(always)]
pub(crate) fn signed<R: Register>(acc: R, a: R, b: R) -> R {
    acc.sadalp_4s(a.smull(b).smlal2_8h(a, b))
}

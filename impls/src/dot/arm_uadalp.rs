//! Arm without the dot-product extension: 16 products in two halves of eight; each half is added in pairs to four int32 accumulators.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm; apache/tvm
//! python/tvm/topi/arm_cpu/tensor_intrin.py, gemm_4x4_int8_int8_int32.

use super::{Domain, Kernel, contract, form, register_steps};
use crate::contract::Overflow;
use crate::element::Element;
use crate::simd::{Portable, Register};

const SOURCE: &str =
    "RFC on int8 convolution for Arm, core algorithm; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py";

/// Returns the domain of both kernels: four accumulators, 16 elements.
const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[] }
}

pub(super) const UADALP: Kernel = Kernel {
    name: "arm-uadalp",
    summary: "Arm: umull, uadalp, umull2, uadalp",
    contract: contract("products-4-halves", Overflow::Wrap, domain(Element::U8), SOURCE),
    portable: uadalp::<Portable>,
    native: Some(form!(NEON, "tiebreak_dot_arm_uadalp", ["umull", "umull2", "uadalp"], uadalp)),
};

pub(super) const SADALP: Kernel = Kernel {
    name: "arm-sadalp",
    summary: "Arm: smull, sadalp, smull2, sadalp",
    contract: contract("products-4-halves", Overflow::Wrap, domain(Element::I8), SOURCE),
    portable: sadalp::<Portable>,
    native: Some(form!(NEON, "tiebreak_dot_arm_sadalp", ["smull", "smull2", "sadalp"], sadalp)),
};

register_steps!(uadalp: unsigned::<R>, sadalp: signed::<R>);

/// Computes one step on unsigned elements.
#[inline(always)]
pub(crate) fn unsigned<R: Register>(acc: R, a: R, b: R) -> R {
    acc.uadalp_4s(a.umull(b)).uadalp_4s(a.umull2(b))
}

/// Computes one step on signed elements.
#[inline(always)]
pub(crate) fn signed<R: Register>(acc: R, a: R, b: R) -> R {
    acc.sadalp_4s(a.smull(b)).sadalp_4s(a.smull2(b))
}

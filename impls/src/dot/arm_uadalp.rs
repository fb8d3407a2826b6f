//! Arm without the dot-product extension: 16 products in two halves of eight; each half is added in pairs to four int32 accumulators.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm; apache/tvm
//! python/tvm/topi/arm_cpu/tensor_intrin.py, gemm_4x4_int8_int8_int32.

use super::{Domain, register_kernels, register_steps};
use crate::element::Element;
use crate::simd::Register;

const SOURCE: &str =
    "RFC on int8 convolution for Arm, core algorithm; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py";

/// Returns the domain of both kernels: four accumulators, 16 elements.
const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[] }
}

register_kernels! {
    UADALP by uadalp: "arm-uadalp", "Arm: umull, uadalp, umull2, uadalp",
        "products-4-halves" on domain(Element::U8), SOURCE,
        NEON "tiebreak_dot_arm_uadalp" ["umull", "umull2", "uadalp"];
    SADALP by sadalp: "arm-sadalp", "Arm: smull, sadalp, smull2, sadalp",
        "products-4-halves" on domain(Element::I8), SOURCE,
        NEON "tiebreak_dot_arm_sadalp" ["smull", "smull2", "sadalp"];
}

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

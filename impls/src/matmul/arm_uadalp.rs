//! Arm without the dot-product extension: `umull`, `uadalp`, `umull2`, `uadalp` make four partial sums for each result, which `addp` adds. A product
//! of two bytes fits in 16 bits, and every sum has 32 bits.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm; apache/tvm
//! python/tvm/topi/arm_cpu/tensor_intrin.py, gemm_4x4_int8_int8_int32.

use super::{Domain, Kernel, contract, form, micro::row_kernels, portable};
use crate::dot::arm_uadalp::{signed, unsigned};
use crate::element::Element;
use crate::simd::{Portable, Register};

const SOURCE: &str =
    "RFC on int8 convolution for Arm, core algorithm; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py";

/// Unsigned elements.
pub(crate) const UADALP: Kernel = Kernel {
    name: "arm-uadalp",
    summary: "Arm GEMM of the RFC, unsigned: umull, uadalp, umull2, uadalp, addp",
    contract: contract("exact", Domain::all(Element::U8, Element::U8), SOURCE),
    portable: portable!(U8, U8, uadalp::<Portable>),
    native: Some(form!(NEON, "tiebreak_matmul_arm_uadalp", ["umull", "umull2", "uadalp", "addp"], U8, U8, uadalp)),
};

/// Signed elements.
pub(crate) const SADALP: Kernel = Kernel {
    name: "arm-sadalp",
    summary: "Arm GEMM of the RFC, signed: smull, sadalp, smull2, sadalp, addp",
    contract: contract("exact", Domain::all(Element::I8, Element::I8), SOURCE),
    portable: portable!(I8, I8, sadalp::<Portable>),
    native: Some(form!(NEON, "tiebreak_matmul_arm_sadalp", ["smull", "smull2", "sadalp", "addp"], I8, I8, sadalp)),
};

row_kernels!(pub(crate) uadalp: unsigned::<R>, pub(crate) sadalp: signed::<R>);

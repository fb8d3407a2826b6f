//! Arm with the dot-product extension: `udot` or `sdot` into four partial sums for each result, which `addp` adds.
//!
//! Source: RFC on int8 convolution for Arm, end of section Convolution core algorithm; apache/tvm
//! python/tvm/topi/arm_cpu/tensor_intrin.py, dot_int8_int8_int32_neon_82. Semantics: Arm ARM (DDI 0487), C7.2.

use super::{Domain, Kernel, contract, form, micro::row_kernels, portable};
use crate::element::Element;
use crate::simd::{Portable, Register};

const SOURCE: &str =
    "apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py; Arm ARM DDI 0487, C7.2, UDOT and SDOT (vector)";

/// Unsigned elements.
pub(crate) const UDOT: Kernel = Kernel {
    name: "arm-udot",
    summary: "Arm GEMM with the dot-product extension, unsigned: udot, addp",
    contract: contract("exact", Domain::all(Element::U8, Element::U8), SOURCE),
    portable: portable!(U8, U8, udot::<Portable>),
    native: Some(form!(DOTPROD, "tiebreak_matmul_arm_udot", ["udot", "addp"], U8, U8, udot)),
};

/// Signed elements.
pub(crate) const SDOT: Kernel = Kernel {
    name: "arm-sdot",
    summary: "Arm GEMM with the dot-product extension, signed: sdot, addp",
    contract: contract("exact", Domain::all(Element::I8, Element::I8), SOURCE),
    portable: portable!(I8, I8, sdot::<Portable>),
    native: Some(form!(DOTPROD, "tiebreak_matmul_arm_sdot", ["sdot", "addp"], I8, I8, sdot)),
};

row_kernels!(udot: R::udot, sdot: R::sdot);

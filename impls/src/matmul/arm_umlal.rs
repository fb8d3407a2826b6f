//! Arm, the fast variant of [`super::arm_uadalp`]: products `k` and `k + 8` of a block of 16 are added in 16 bits before they are widened. The scheme
//! of the contract defines the wrapped results, too.
//!
//! The signed kernel is exact unless all four factors are -128. For the unsigned kernel, the RFC requires that 255 * 255 is not added to 255 * 255
//! (weights in 0..=254). This is not enough: 2 * 255 * 254 = 129540 does not fit in 16 bits. Weights in 0..=128 are enough: 2 * 255 * 128 = 65280.
//!
//! Source: RFC on int8 convolution for Arm, the `fastmath` option of section Convolution core algorithm.

use super::{Domain, Kernel, contract, form, micro::row_kernels, portable};
use crate::dot::arm_umlal::{signed, unsigned};
use crate::element::Element;
use crate::simd::{Portable, Register};

const SOURCE: &str = "RFC on int8 convolution for Arm, core algorithm, fastmath option (umull, umlal2, uadalp)";

/// Unsigned elements.
pub(crate) const UMLAL: Kernel = Kernel {
    name: "arm-umlal-fast",
    summary: "Arm GEMM of the RFC, unsigned fastmath: umull, umlal2 wrapping at 16 bits, uadalp, addp",
    contract: contract("pairs-u16-wrap", Domain::all(Element::U8, Element::U8), SOURCE),
    portable: portable!(U8, U8, umlal::<Portable>),
    native: Some(form!(NEON, "tiebreak_matmul_arm_umlal_fast", ["umull", "umlal2", "uadalp", "addp"], U8, U8, umlal)),
};

/// Signed elements.
pub(crate) const SMLAL: Kernel = Kernel {
    name: "arm-smlal-fast",
    summary: "Arm GEMM of the RFC, signed fastmath: smull, smlal2 wrapping at 16 bits, sadalp, addp",
    contract: contract("pairs-s16-wrap", Domain::all(Element::I8, Element::I8), SOURCE),
    portable: portable!(I8, I8, smlal::<Portable>),
    native: Some(form!(NEON, "tiebreak_matmul_arm_smlal_fast", ["smull", "smlal2", "sadalp", "addp"], I8, I8, smlal)),
};

row_kernels!(umlal: unsigned::<R>, smlal: signed::<R>);

//! Arm, the fast variant of [`super::arm_uadalp`]: products `k` and `k + 8` of a block of 16 are added in 16 bits before they are widened. The scheme
//! of the contract defines the wrapped results, too.
//!
//! The signed kernel is exact unless all four factors are -128. For the unsigned kernel, the RFC requires that 255 * 255 is not added to 255 * 255
//! (weights in 0..=254). This is not enough: 2 * 255 * 254 = 129540 does not fit in 16 bits. Weights in 0..=128 are enough: 2 * 255 * 128 = 65280.
//!
//! Source: RFC on int8 convolution for Arm, the `fastmath` option of section Convolution core algorithm.

use super::{micro::row_kernels, register_kernels};
use crate::dot::arm_umlal::{signed, unsigned};
use crate::simd::Register;

const SOURCE: &str = "RFC on int8 convolution for Arm, core algorithm, fastmath option (umull, umlal2, uadalp)";

register_kernels! {
    UMLAL by umlal: "arm-umlal-fast", "Arm GEMM of the RFC, unsigned fastmath: umull, umlal2 wrapping at 16 bits, uadalp, addp",
        U8 "pairs-u16-wrap", SOURCE, NEON "tiebreak_matmul_arm_umlal_fast" ["umull", "umlal2", "uadalp", "addp"];
    SMLAL by smlal: "arm-smlal-fast", "Arm GEMM of the RFC, signed fastmath: smull, smlal2 wrapping at 16 bits, sadalp, addp",
        I8 "pairs-s16-wrap", SOURCE, NEON "tiebreak_matmul_arm_smlal_fast" ["smull", "smlal2", "sadalp", "addp"];
}

row_kernels!(umlal: unsigned::<R>, smlal: signed::<R>);

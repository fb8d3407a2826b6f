//! Arm without the dot-product extension: `umull`, `uadalp`, `umull2`, `uadalp` make four partial sums for each result, which `addp` adds. A product
//! of two bytes fits in 16 bits, and every sum has 32 bits.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm; apache/tvm
//! python/tvm/topi/arm_cpu/tensor_intrin.py, gemm_4x4_int8_int8_int32.

use super::{micro::row_kernels, register_kernels};
use crate::dot::arm_uadalp::{signed, unsigned};
use crate::simd::Register;

const SOURCE: &str =
    "RFC on int8 convolution for Arm, core algorithm; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py";

register_kernels! {
    UADALP by uadalp: "arm-uadalp", "Arm GEMM of the RFC, unsigned: umull, uadalp, umull2, uadalp, addp",
        U8 "exact", SOURCE, NEON "tiebreak_matmul_arm_uadalp" ["umull", "umull2", "uadalp", "addp"];
    SADALP by sadalp: "arm-sadalp", "Arm GEMM of the RFC, signed: smull, sadalp, smull2, sadalp, addp",
        I8 "exact", SOURCE, NEON "tiebreak_matmul_arm_sadalp" ["smull", "smull2", "sadalp", "addp"];
}

row_kernels!(pub(crate) uadalp: unsigned::<R>, pub(crate) sadalp: signed::<R>);

//! Arm with the dot-product extension: `udot` or `sdot` into four partial sums for each result, which `addp` adds.
//!
//! Source: RFC on int8 convolution for Arm, end of section Convolution core algorithm; apache/tvm
//! python/tvm/topi/arm_cpu/tensor_intrin.py, dot_int8_int8_int32_neon_82. Semantics: Arm ARM (DDI 0487), C7.2.

use super::{micro::row_kernels, register_kernels};
use crate::simd::Register;

const SOURCE: &str =
    "apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py; Arm ARM DDI 0487, C7.2, UDOT and SDOT (vector)";

register_kernels! {
    UDOT by udot: "arm-udot", "Arm GEMM with the dot-product extension, unsigned: udot, addp",
        U8 "exact", SOURCE, DOTPROD "tiebreak_matmul_arm_udot" ["udot", "addp"];
    SDOT by sdot: "arm-sdot", "Arm GEMM with the dot-product extension, signed: sdot, addp",
        I8 "exact", SOURCE, DOTPROD "tiebreak_matmul_arm_sdot" ["sdot", "addp"];
}

row_kernels!(udot: R::udot, sdot: R::sdot);

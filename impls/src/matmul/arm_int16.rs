//! Arm, bytes widened to 16 bits before multiplication: `smlal` and `smlal2`, or `umlal` and `umlal2`, add whole products to int32 accumulators.
//!
//! Source: RFC on int8 convolution for Arm, section Background: the schedule that preceded the one of the RFC.

use super::{micro, register_kernels};
use crate::simd::Register;

register_kernels! {
    // `sxtl` and `sxtl2` are not listed, because some disassemblers print them as `sshll` by 0.
    SMLAL by smlal: "arm-smlal-int16", "Arm GEMM on int8 widened to int16: sxtl, sxtl2, smlal, smlal2, addp",
        I8 "exact", "RFC on int8 convolution for Arm, Background; apache/tvm python/tvm/topi/arm_cpu/conv2d_spatial_pack.py",
        NEON "tiebreak_matmul_arm_smlal_int16" ["smlal", "smlal2", "addp"];
    // `uxtl` and `uxtl2` are not listed, because some disassemblers print them as `ushll` by 0.
    UMLAL by umlal: "arm-umlal-int16", "Arm GEMM on uint8 widened to int16: uxtl, uxtl2, umlal, umlal2, addp",
        U8 "exact", "RFC on int8 convolution for Arm, Background; apache/tvm python/tvm/topi/arm_cpu/conv2d_spatial_pack.py",
        NEON "tiebreak_matmul_arm_umlal_int16" ["umlal", "umlal2", "addp"];
}

#[inline(always)]
fn umlal<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    micro::by_rows(depth_blocks, a, b, c, |acc: R, a, b| {
        let (low_a, low_b, high_a, high_b) = (a.uxtl(), b.uxtl(), a.uxtl2(), b.uxtl2());
        acc.umlal_4s(low_a, low_b).umlal2_4s(low_a, low_b).umlal_4s(high_a, high_b).umlal2_4s(high_a, high_b)
    });
}

#[inline(always)]
fn smlal<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    micro::by_rows(depth_blocks, a, b, c, |acc: R, a, b| {
        let (low_a, low_b, high_a, high_b) = (a.sxtl(), b.sxtl(), a.sxtl2(), b.sxtl2());
        acc.smlal_4s(low_a, low_b).smlal2_4s(low_a, low_b).smlal_4s(high_a, high_b).smlal2_4s(high_a, high_b)
    });
}

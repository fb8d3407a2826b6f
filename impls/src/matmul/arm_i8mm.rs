//! Arm with the matrix-multiply extension: four accumulators of 2 by 2 results. Rows of a block have a depth of 16 and the instruction takes 8, so
//! two rows are zipped into the operands of two instructions.
//!
//! Source: Arm Architecture Reference Manual (DDI 0487), section C7.2; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py,
//! gemm_acc_2x2_int8_int8_int32.

use super::micro::{BLOCK, rows};
use super::register_kernels;
use crate::simd::{LANES, Register};

const SOURCE: &str =
    "apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py; Arm ARM DDI 0487, C7.2, UMMLA and SMMLA (vector)";

register_kernels! {
    UMMLA by ummla: "arm-ummla", "Arm GEMM with the matrix-multiply extension, unsigned: zip1, zip2, ummla",
        U8 "exact", SOURCE, I8MM "tiebreak_matmul_arm_ummla" ["zip1", "zip2", "ummla"];
    SMMLA by smmla: "arm-smmla", "Arm GEMM with the matrix-multiply extension, signed: zip1, zip2, smmla",
        I8 "exact", SOURCE, I8MM "tiebreak_matmul_arm_smmla" ["zip1", "zip2", "smmla"];
}

#[inline(always)]
fn ummla<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    by_pairs(depth_blocks, a, b, c, R::ummla);
}

#[inline(always)]
fn smmla<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    by_pairs(depth_blocks, a, b, c, R::smmla);
}

/// Returns, for both pairs of rows of a block, the first eight elements of both rows, and the last eight elements of both rows.
#[inline(always)]
fn pairs<R: Register>(block: &[u8; BLOCK]) -> [[R; 2]; 2] {
    let [a, b, c, d] = rows::<R>(block);
    [[a.zip1_2d(b), a.zip2_2d(b)], [c.zip1_2d(d), c.zip2_2d(d)]]
}

/// Computes a block; `step` adds the products of two rows of `a` and two rows of `b` to their four results.
#[inline(always)]
fn by_pairs<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16], step: impl Fn(R, R, R) -> R) {
    let mut acc = [[R::splat(0); 2]; 2];
    let panels = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0);
    for (a, b) in panels.take(depth_blocks) {
        let (a, b) = (pairs::<R>(a), pairs::<R>(b));
        for (acc, a) in acc.iter_mut().zip(a) {
            for (acc, b) in acc.iter_mut().zip(b) {
                *acc = step(step(*acc, a[0], b[0]), a[1], b[1]);
            }
        }
    }
    // Each accumulator holds two results of one row, then two of the next.
    for ([left, right], c) in acc.into_iter().zip(c.as_chunks_mut::<{ 2 * LANES }>().0) {
        let [upper, lower] = c.as_chunks_mut::<LANES>().0 else { continue };
        left.zip1_2d(right).store(upper);
        left.zip2_2d(right).store(lower);
    }
}

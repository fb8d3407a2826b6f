//! Micro-kernels on 128-bit registers: a block of 4 by 4 results, each with an accumulator of four lanes.

use super::blocks::{DEPTH, ROWS};
use crate::simd::{BYTES, LANES, Register};

/// Bytes of a block of a panel, at one byte for each element.
pub(super) const BLOCK: usize = ROWS * DEPTH;

/// Loads the four rows of a block, one row in each register.
#[inline(always)]
pub(super) fn rows<R: Register>(block: &[u8; BLOCK]) -> [R; ROWS] {
    let rows = block.as_chunks::<BYTES>().0;
    [R::load_bytes(&rows[0]), R::load_bytes(&rows[1]), R::load_bytes(&rows[2]), R::load_bytes(&rows[3])]
}

/// Applies `step(accumulator, row of a, row of b)` along the depth, then adds up the lanes of each accumulator by `addp`.
#[inline(always)]
pub(super) fn by_rows<R: Register>(
    depth_blocks: usize,
    a: &[u8],
    b: &[u8],
    c: &mut [i32; ROWS * ROWS],
    step: impl Fn(R, R, R) -> R,
) {
    let mut acc = [[R::splat(0); ROWS]; ROWS];
    let panels = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0);
    for (a, b) in panels.take(depth_blocks) {
        let (a, b) = (rows::<R>(a), rows::<R>(b));
        for (acc, a) in acc.iter_mut().zip(a) {
            for (acc, b) in acc.iter_mut().zip(b) {
                *acc = step(*acc, a, b);
            }
        }
    }
    for (acc, c) in acc.iter().zip(c.as_chunks_mut::<LANES>().0) {
        let (low, high) = (acc[0].addp(acc[1]), acc[2].addp(acc[3]));
        low.addp(high).store(c);
    }
}

/// Defines micro-kernels that apply a step along the depth, by the name of each micro-kernel.
macro_rules! row_kernels {
    ($($visibility:vis $name:ident: $step:expr),+) => {$(
        #[inline(always)]
        $visibility fn $name<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
            $crate::matmul::micro::by_rows(depth_blocks, a, b, c, $step);
        }
    )+};
}
pub(super) use row_kernels;

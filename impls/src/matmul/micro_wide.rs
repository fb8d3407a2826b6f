//! Micro-kernels on 256-bit registers. A row of 16 bytes fills half a register, so a row of `a` is in both halves, for two rows of `b`. A row of 16
//! int16 fills a register.

use super::blocks::ROWS;
use super::micro::BLOCK;
use crate::simd::{WIDE_BYTES, WIDE_LANES, Wide};

/// Bytes of a block of int16.
const WIDE_BLOCK: usize = 2 * BLOCK;

/// Applies `step(accumulator, a, b)` along the depth, on elements of one byte. The four lanes of a result are added with wrapping.
#[inline(always)]
pub(super) fn by_halves<W: Wide>(
    depth_blocks: usize,
    a: &[u8],
    b: &[u8],
    c: &mut [i32; ROWS * ROWS],
    step: impl Fn(W, W, W) -> W,
) {
    let mut acc = [[W::splat_halves(0); 2]; ROWS];
    let panels = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0);
    for (a, b) in panels.take(depth_blocks) {
        let b = b.as_chunks::<WIDE_BYTES>().0;
        for (acc, a) in acc.iter_mut().zip(a.as_chunks::<16>().0) {
            let a = W::broadcast(a);
            for (acc, b) in acc.iter_mut().zip(b) {
                *acc = step(*acc, a, W::load_bytes(b));
            }
        }
    }
    for (acc, c) in acc.as_flattened().iter().zip(c.as_chunks_mut::<2>().0) {
        let mut lanes = [0; WIDE_LANES];
        acc.store(&mut lanes);
        let (first, second) = lanes.split_at(WIDE_LANES / 2);
        *c = [sum(first), sum(second)];
    }
}

/// Applies `step(accumulator, a, b)` along the depth, on int16. Each result has a register.
#[inline(always)]
pub(super) fn by_registers<W: Wide>(
    depth_blocks: usize,
    a: &[u8],
    b: &[u8],
    c: &mut [i32; ROWS * ROWS],
    step: impl Fn(W, W, W) -> W,
) {
    let mut acc = [[W::splat_halves(0); ROWS]; ROWS];
    let panels = a.as_chunks::<WIDE_BLOCK>().0.iter().zip(b.as_chunks::<WIDE_BLOCK>().0);
    for (a, b) in panels.take(depth_blocks) {
        for (acc, a) in acc.iter_mut().zip(a.as_chunks::<WIDE_BYTES>().0) {
            let a = W::load_bytes(a);
            for (acc, b) in acc.iter_mut().zip(b.as_chunks::<WIDE_BYTES>().0) {
                *acc = step(*acc, a, W::load_bytes(b));
            }
        }
    }
    for (acc, c) in acc.as_flattened().iter().zip(c) {
        let mut lanes = [0; WIDE_LANES];
        acc.store(&mut lanes);
        *c = sum(&lanes);
    }
}

#[inline(always)]
fn sum(lanes: &[i32]) -> i32 {
    lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}

//! NVIDIA: `dp4a` along the depth, four elements in each step, into one accumulator. This models the documented behaviour of the instruction; it does
//! not run on a GPU.
//!
//! Source: PTX ISA, Integer Arithmetic Instructions: dp4a; apache/tvm python/tvm/topi/cuda/tensor_intrin.py, dp4a.

use super::blocks::{DEPTH, ROWS};
use super::micro::BLOCK;
use super::{Domain, Kernel, portable};
use crate::dot::nvidia_dp4a::{dp4a_mixed, dp4a_s8, dp4a_u8};
use crate::element::Element;
use crate::kernel::scalar;

const SOURCE: &str = "PTX ISA, Integer Arithmetic Instructions, dp4a; apache/tvm python/tvm/topi/cuda/tensor_intrin.py";

/// Both operands signed.
pub(crate) const S8: Kernel = scalar!(
    "nvidia-dp4a-s8", "NVIDIA GEMM by dp4a.s32.s32, model", "exact" Wrap on Domain::all(Element::I8, Element::I8), from SOURCE,
    portable!(I8, I8, |depth_blocks, a, b, c| by_quads(depth_blocks, a, b, c, dp4a_s8))
);

/// Both operands unsigned.
pub(crate) const U8: Kernel = scalar!(
    "nvidia-dp4a-u8", "NVIDIA GEMM by dp4a.u32.u32, model", "exact" Wrap on Domain::all(Element::U8, Element::U8), from SOURCE,
    portable!(U8, U8, |depth_blocks, a, b, c| by_quads(depth_blocks, a, b, c, dp4a_u8))
);

/// Unsigned lhs, signed rhs.
pub(crate) const MIXED: Kernel = scalar!(
    "nvidia-dp4a-mixed", "NVIDIA GEMM by dp4a.u32.s32, model", "exact" Wrap on Domain::all(Element::U8, Element::I8), from SOURCE,
    portable!(U8, I8, |depth_blocks, a, b, c| by_quads(depth_blocks, a, b, c, dp4a_mixed))
);

#[inline(always)]
fn by_quads(
    depth_blocks: usize,
    a: &[u8],
    b: &[u8],
    c: &mut [i32; ROWS * ROWS],
    dp4a: impl Fn(i32, &[u8; 4], &[u8; 4]) -> i32,
) {
    c.fill(0);
    let panels = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0);
    for (a, b) in panels.take(depth_blocks) {
        for (a, c) in a.chunks_exact(DEPTH).zip(c.chunks_exact_mut(ROWS)) {
            for (b, c) in b.chunks_exact(DEPTH).zip(c) {
                let quads = a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0);
                *c = quads.fold(*c, |acc, (a, b)| dp4a(acc, a, b));
            }
        }
    }
}

//! NVIDIA: `dp4a` along the depth, four elements in each step, into one accumulator. This models the documented behaviour of the instruction; it does
//! not run on a GPU.
//!
//! Source: PTX ISA, Integer Arithmetic Instructions: dp4a; apache/tvm python/tvm/topi/cuda/tensor_intrin.py, dp4a.

use super::blocks::{DEPTH, ROWS};
use super::micro::BLOCK;
use super::{Domain, Kernel, contract, portable};
use crate::dot::nvidia_dp4a::{dp4a_mixed, dp4a_s8, dp4a_u8};
use crate::element::Element;

const SOURCE: &str = "PTX ISA, Integer Arithmetic Instructions, dp4a; apache/tvm python/tvm/topi/cuda/tensor_intrin.py";

/// Both operands signed.
pub(crate) const S8: Kernel = Kernel {
    name: "nvidia-dp4a-s8",
    summary: "NVIDIA GEMM by dp4a.s32.s32, model",
    contract: contract("exact", Domain::all(Element::I8, Element::I8), SOURCE),
    portable: portable!(I8, I8, |depth_blocks, a, b, c| by_quads(depth_blocks, a, b, c, dp4a_s8)),
    native: None,
};

/// Both operands unsigned.
pub(crate) const U8: Kernel = Kernel {
    name: "nvidia-dp4a-u8",
    summary: "NVIDIA GEMM by dp4a.u32.u32, model",
    contract: contract("exact", Domain::all(Element::U8, Element::U8), SOURCE),
    portable: portable!(U8, U8, |depth_blocks, a, b, c| by_quads(depth_blocks, a, b, c, dp4a_u8)),
    native: None,
};

/// Unsigned lhs, signed rhs.
pub(crate) const MIXED: Kernel = Kernel {
    name: "nvidia-dp4a-mixed",
    summary: "NVIDIA GEMM by dp4a.u32.s32, model",
    contract: contract("exact", Domain::all(Element::U8, Element::I8), SOURCE),
    portable: portable!(U8, I8, |depth_blocks, a, b, c| by_quads(depth_blocks, a, b, c, dp4a_mixed)),
    native: None,
};

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

//! Arm, bit-serial: bytes are cut into bit planes; for each pair of planes the bits that both have are counted (`and`,
//! `cnt`), counts are added in unsigned 16-bit lanes (`uadalp`), and the sum is weighted by `2^(i + j)` in int32:
//! `sum a*b = sum over i, j of 2^(i+j) * popcount(plane i of a & plane j of b)`.
//!
//! How deep: a register holds one plane of 128 elements. From each register a lane takes two bytes of at most eight set bits,
//! 16; after 4095 registers it is at most 65520. Of the next register the lane that holds the first 16 elements takes one more
//! for each, and the sixteenth makes 65536, which has wrapped. So the depth is at most 4095 * 128 + 15 = 524175.
//!
//! Source: apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount (later aprofile/asimd/popcount.py). There
//! the counts are weighted before they are added up, in the narrow lanes, and planes are few.

use super::blocks::{DEPTH, ROWS};
use super::{Domain, Kernel, contract, form, portable};
use crate::dot::arm_bitserial::count;
use crate::element::Element;
use crate::simd::{BYTES, LANES, Portable, Register};

/// Planes of a byte.
const PLANES: usize = 8;

/// The deepest product in which no 16-bit lane wraps.
pub(crate) const DEEPEST: usize = (u16::MAX as usize / 16) * 8 * BYTES + u16::MAX as usize % 16;

/// Unsigned elements.
pub(crate) const BITSERIAL: Kernel = Kernel {
    name: "arm-bitserial",
    summary: "Arm GEMM, bit-serial: bytes cut into planes; and, cnt, uadalp in 16-bit lanes, weighted in int32",
    contract: contract(
        "exact",
        Domain { depth: 1..=DEEPEST, ..Domain::all(Element::U8, Element::U8) },
        "apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount; int8 code generation for backends",
    ),
    portable: portable!(U8, U8, bitserial::<Portable>),
    native: Some(form!(
        NEON,
        "tiebreak_matmul_arm_bitserial",
        ["and", "cnt", "uadalp", "mul", "add", "addp"],
        U8,
        U8,
        bitserial
    )),
};

/// Up to 128 elements of a row, a register a plane.
type Planes = [[u8; BYTES]; PLANES];

#[inline(always)]
fn bitserial<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    let rows = |panel| -> [Vec<Planes>; ROWS] { std::array::from_fn(|row| planes(depth_blocks, panel, row)) };
    let (a, b) = (rows(a), rows(b));
    for (a, c) in a.iter().zip(c.as_chunks_mut::<LANES>().0) {
        // Loops and no closures: what a closure holds may be compiled as a function of its own, under another symbol.
        let mut sums = [R::splat(0); ROWS];
        for (sum, b) in sums.iter_mut().zip(&b) {
            *sum = weighted(a, b);
        }
        sums[0].addp(sums[1]).addp(sums[2].addp(sums[3])).store(c);
    }
}

/// The sum of products of two rows, in four parts.
#[inline(always)]
fn weighted<R: Register>(a: &[Planes], b: &[Planes]) -> R {
    let zero = R::splat(0);
    let mut sum = zero;
    for i in 0..PLANES {
        for j in 0..PLANES {
            let mut counts = zero;
            for (a, b) in a.iter().zip(b) {
                counts = count(counts, R::load_bytes(&a[i]), R::load_bytes(&b[j]));
            }
            sum = sum.add(zero.uadalp_4s(counts).mul(R::splat(1 << (i + j))));
        }
    }
    sum
}

/// One row of a panel `[depth_blocks, 4, 16]`, cut into planes; bit `k` of byte `n` of a plane is element `8 * n + k`.
fn planes(depth_blocks: usize, panel: &[u8], row: usize) -> Vec<Planes> {
    // A block gives a plane two bytes.
    let blocks_per_register = BYTES / (DEPTH / 8);
    let mut registers = vec![[[0; BYTES]; PLANES]; depth_blocks.div_ceil(blocks_per_register)];
    for (at, block) in panel.as_chunks::<{ ROWS * DEPTH }>().0.iter().enumerate().take(depth_blocks) {
        let planes = &mut registers[at / blocks_per_register];
        let elements = &block[row * DEPTH..][..DEPTH];
        for (half, eight) in elements.chunks_exact(8).enumerate() {
            let byte = at % blocks_per_register * 2 + half;
            for (plane, bits) in planes.iter_mut().enumerate() {
                bits[byte] = eight.iter().rev().fold(0, |bits, element| bits << 1 | (element >> plane & 1));
            }
        }
    }
    registers
}

//! Arm, bit-serial: bytes are cut into bit planes. For each pair of planes, the bits set in both are counted (`and`, `cnt`), counts are added in
//! unsigned 16-bit lanes (`uadalp`), and the sum is weighted by `2^(i + j)` in int32: `sum a*b = sum over i, j of 2^(i+j) * popcount(plane i of a &
//! plane j of b)`.
//!
//! For 128 elements or more, a register holds one plane of 128 elements. For fewer elements, it holds four planes of 32, which are counted at once; a
//! register of one plane would be mostly empty.
//!
//! Largest depth: a register holds one plane of 128 elements. From each register, a lane adds the set bits of two bytes, at most 16. After 4095
//! registers, a lane is at most 65520. Of the next register, each of the first 16 elements adds at most 1 to one lane; the sixteenth makes 65536,
//! which wraps. So the depth is at most 4095 * 128 + 15 = 524175.
//!
//! Source: apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount (later aprofile/asimd/popcount.py). The source weights the counts
//! before it adds them, in the narrow lanes, and has few planes.

use super::blocks::{DEPTH, ROWS};
use super::{Domain, Kernel, contract, form, portable};
use crate::dot::arm_bitserial::count;
use crate::element::Element;
use crate::simd::{BYTES, LANES, Portable, Register};

/// Number of planes of a byte.
const PLANES: usize = 8;

/// Largest depth for which no 16-bit lane wraps.
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

/// Planes of `8 * WIDTH` elements of a row; bit `k` of byte `n` of a plane is element `8 * n + k`.
type Planes<const WIDTH: usize> = [[u8; WIDTH]; PLANES];

#[inline(always)]
fn bitserial<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    if depth_blocks * DEPTH < 8 * BYTES {
        tile::<R, { BYTES / 4 }>(depth_blocks, a, b, c);
    } else {
        tile::<R, BYTES>(depth_blocks, a, b, c);
    }
}

/// Computes a block with planes of `WIDTH` bytes.
#[inline(always)]
fn tile<R: Register, const WIDTH: usize>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    let a: [_; ROWS] = std::array::from_fn(|row| repeated(&planes::<WIDTH>(depth_blocks, a, row)));
    let b: [_; ROWS] = std::array::from_fn(|row| planes::<WIDTH>(depth_blocks, b, row));
    for (a, c) in a.iter().zip(c.as_chunks_mut::<LANES>().0) {
        // Loops instead of closures: the body of a closure may become a function of its own, under another symbol.
        let mut sums = [R::splat(0); ROWS];
        for (sum, b) in sums.iter_mut().zip(&b) {
            *sum = weighted(a, b);
        }
        sums[0].addp(sums[1]).addp(sums[2].addp(sums[3])).store(c);
    }
}

/// Computes the sum of products of two rows, in four parts. A plane of `a` fills a register; a register of `b` may hold several planes.
#[inline(always)]
fn weighted<R: Register, const WIDTH: usize>(a: &[Planes<BYTES>], b: &[Planes<WIDTH>]) -> R {
    let zero = R::splat(0);
    let mut sum = zero;
    for i in 0..PLANES {
        for register in 0..PLANES * WIDTH / BYTES {
            let mut counts = zero;
            for (a, b) in a.iter().zip(b) {
                let b = &b.as_flattened().as_chunks::<BYTES>().0[register];
                counts = count(counts, R::load_bytes(&a[i]), R::load_bytes(b));
            }
            // One lane counts four bytes of the register.
            let mut weights = [0; LANES];
            for (lane, weight) in weights.iter_mut().enumerate() {
                *weight = 1 << (i + (register * BYTES + lane * (BYTES / LANES)) / WIDTH);
            }
            sum = sum.add(zero.uadalp_4s(counts).mul(R::load(&weights)));
        }
    }
    sum
}

/// Repeats each plane until it fills a register.
fn repeated<const WIDTH: usize>(planes: &[Planes<WIDTH>]) -> Vec<Planes<BYTES>> {
    planes.iter().map(|planes| planes.map(|plane| std::array::from_fn(|byte| plane[byte % WIDTH]))).collect()
}

/// Cuts one row of a panel `[depth_blocks, 4, 16]` into planes.
fn planes<const WIDTH: usize>(depth_blocks: usize, panel: &[u8], row: usize) -> Vec<Planes<WIDTH>> {
    // A block has two bytes of each plane.
    let blocks = WIDTH / (DEPTH / 8);
    let mut all = vec![[[0; WIDTH]; PLANES]; depth_blocks.div_ceil(blocks)];
    for (at, block) in panel.as_chunks::<{ ROWS * DEPTH }>().0.iter().enumerate().take(depth_blocks) {
        let elements = &block[row * DEPTH..][..DEPTH];
        for (half, eight) in elements.as_chunks::<8>().0.iter().enumerate() {
            let byte = at % blocks * 2 + half;
            for (plane, bits) in all[at / blocks].iter_mut().enumerate() {
                bits[byte] = cut(*eight, plane);
            }
        }
    }
    all
}

/// Extracts one bit of each of eight elements; the bit of the first element is the lowest.
fn cut(eight: [u8; 8], plane: usize) -> u8 {
    // Bit 7 * (8 - k) of the factor moves the bit of byte k to bit 56 + k. No two products overlap, so nothing is carried.
    let bits = u64::from_le_bytes(eight) >> plane & 0x0101_0101_0101_0101;
    (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

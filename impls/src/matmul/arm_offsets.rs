//! Arm, offsets added to the elements instead of the four-term expansion: in the inner loop, after each element is widened, or while operands are
//! packed, into blocks of 16 bits. The expansion avoids both costs; `cargo xtask bench tables` counts the instructions and the loaded bytes of all
//! three forms.
//!
//! Offsets are negated zero points of uint8, so an element plus its offset is at most 255 in magnitude and fits in 16 bits.
//!
//! Source: The low-precision paradigm in gemmlowp, section Efficient handling of offsets (which avoids this cost); tensorflow/tensorflow
//! tensorflow/lite/kernels/internal/optimized/depthwiseconv_uint8.h (`vaddq_s16` of the offset after `vmovl_u8`).

use super::blocks::{self, DEPTH, ROWS, padded};
use super::driver::{self, Bytes, MicroKernel};
use super::micro::{self, BLOCK};
use super::{Domain, Kernel, Params, Run, contract};
use crate::element::Element;
use crate::simd::form::neon_form;
use crate::simd::{BYTES, LANES, Portable, Register};
use std::ops::RangeInclusive;

/// Negated zero points of uint8.
const OFFSETS: RangeInclusive<i32> = -255..=0;

pub(crate) const DOMAIN: Domain =
    Domain { lhs_offsets: OFFSETS, rhs_offsets: OFFSETS, ..Domain::all(Element::U8, Element::U8) };

/// Kernel that adds offsets in the loop.
pub(crate) const IN_LOOP: Kernel = Kernel {
    name: "arm-smlal-offsets",
    summary: "Arm GEMM that adds offsets in its loop: uxtl, uxtl2, add, smlal, smlal2, addp",
    contract: contract("exact", DOMAIN, "The low-precision paradigm in gemmlowp, Efficient handling of offsets"),
    portable: |params, lhs, rhs, out| in_loop(micro_kernel::<Portable>, params, lhs, rhs, out),
    native: Some(neon_form!(
        NEON,
        "tiebreak_matmul_arm_smlal_offsets",
        ["add", "smlal", "smlal2", "addp"],
        Run,
        fn micro(offsets: [i32; 2], depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
            micro_kernel::<crate::simd::Neon>(offsets, depth_blocks, a, b, c);
        },
        |params, lhs, rhs, out| in_loop(micro, params, lhs, rhs, out)
    )),
};

/// Kernel that adds offsets to packed blocks.
pub(crate) const IN_BLOCKS: Kernel = Kernel {
    name: "arm-smlal-blocks-int16",
    summary: "Arm GEMM on blocks of int16 that have the offsets: smlal, smlal2, addp",
    contract: contract("exact", DOMAIN, "The low-precision paradigm in gemmlowp, Efficient handling of offsets"),
    portable: |params, lhs, rhs, out| in_blocks(wide_kernel::<Portable>, params, lhs, rhs, out),
    native: Some(neon_form!(
        NEON,
        "tiebreak_matmul_arm_smlal_blocks_int16",
        ["smlal", "smlal2", "addp"],
        Run,
        fn micro(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
            wide_kernel::<crate::simd::Neon>(depth_blocks, a, b, c);
        },
        |params, lhs, rhs, out| in_blocks(micro, params, lhs, rhs, out)
    )),
};

/// Micro-kernel of [`driver`] with the offsets of lhs and rhs as first argument.
pub(crate) type OffsetKernel = fn([i32; 2], usize, &[u8], &[u8], &mut [i32; ROWS * ROWS]);

#[inline(always)]
pub(crate) fn micro_kernel<R: Register>(offsets: [i32; 2], depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    let [lhs, rhs] = offsets.map(|offset| R::splat(offset << 16 | (offset & 0xffff)));
    micro::by_rows(depth_blocks, a, b, c, |acc: R, a, b| {
        let (low_a, low_b) = (a.uxtl().add_8h(lhs), b.uxtl().add_8h(rhs));
        let (high_a, high_b) = (a.uxtl2().add_8h(lhs), b.uxtl2().add_8h(rhs));
        acc.smlal_4s(low_a, low_b).smlal2_4s(low_a, low_b).smlal_4s(high_a, high_b).smlal2_4s(high_a, high_b)
    });
}

/// Returns the padding of the depth for an operand with this offset: its zero point, so that padding plus offset is 0.
fn zero_point(offset: i32) -> u8 {
    offset.wrapping_neg() as u8
}

fn in_loop(micro: OffsetKernel, params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    padded_in_loop(micro, zero_point, (params, lhs, rhs), out);
}

/// Runs the kernel with offsets in the loop, with a padding given by `pad`.
pub(crate) fn padded_in_loop(
    micro: OffsetKernel,
    pad: fn(i32) -> u8,
    (params, lhs, rhs): (&Params, &[u8], &[u8]),
    out: &mut [i32],
) {
    let offsets = [params.lhs_offset, params.rhs_offset];
    let operands = Operands { lhs, rhs, pads: offsets.map(pad) };
    operands.product(params, |depth_blocks, a, b, c| micro(offsets, depth_blocks, a, b, c), out);
}

/// Bytes of a block of a panel, at two bytes for each element.
const WIDE_BLOCK: usize = 2 * BLOCK;
/// Bytes of a row of a block.
const WIDE_ROW: usize = 2 * DEPTH;

#[inline(always)]
fn wide_kernel<R: Register>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    let mut acc = [[R::splat(0); ROWS]; ROWS];
    let panels = a.as_chunks::<WIDE_BLOCK>().0.iter().zip(b.as_chunks::<WIDE_BLOCK>().0);
    for (a, b) in panels.take(depth_blocks) {
        for half in 0..2 {
            let (a, b) = (halves::<R>(a, half), halves::<R>(b, half));
            for (acc, a) in acc.iter_mut().zip(a) {
                for (acc, b) in acc.iter_mut().zip(b) {
                    *acc = acc.smlal_4s(a, b).smlal2_4s(a, b);
                }
            }
        }
    }
    for (acc, c) in acc.iter().zip(c.as_chunks_mut::<LANES>().0) {
        acc[0].addp(acc[1]).addp(acc[2].addp(acc[3])).store(c);
    }
}

/// Returns the lower or the upper eight elements of each of the four rows of a block.
#[inline(always)]
fn halves<R: Register>(block: &[u8; WIDE_BLOCK], half: usize) -> [R; ROWS] {
    let registers = block.as_chunks::<BYTES>().0;
    let each = WIDE_ROW / BYTES;
    std::array::from_fn(|row| R::load_bytes(&registers[each * row + half]))
}

/// Adds the offsets and packs blocks of int16, with a padding of 0.
fn in_blocks(micro: MicroKernel, params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let widened = |elements: &[u8], offset: i32| -> Vec<[u8; 2]> {
        elements.iter().map(|element| (i32::from(*element).wrapping_add(offset) as i16).to_le_bytes()).collect()
    };
    let (lhs, rhs) = (widened(lhs, params.lhs_offset), widened(rhs, params.rhs_offset));
    Operands { lhs: &lhs, rhs: &rhs, pads: [[0; 2]; 2] }.product(params, micro, out);
}

/// Both operands, with the padding of each operand.
struct Operands<'a, T> {
    lhs: &'a [T],
    rhs: &'a [T],
    pads: [T; 2],
}

impl<T: Bytes> Operands<'_, T> {
    /// Packs, multiplies and unpacks. The elements contain the offsets, so the results need no further terms.
    fn product(&self, params: &Params, micro: impl Fn(usize, &[u8], &[u8], &mut [i32; 16]), out: &mut [i32]) {
        let Params { m, n, k, .. } = *params;
        let depth = padded(k, DEPTH);
        let [mut a, mut b] = [m, n].map(|count| vec![T::default(); padded(count, ROWS) * depth]);
        blocks::interleave_padded(m, k, self.pads[0], self.lhs, &mut a);
        blocks::block_transpose_padded(k, n, self.pads[1], self.rhs, &mut b);
        let mut c = vec![0; padded(m, ROWS) * padded(n, ROWS)];
        let panel = (depth / DEPTH, depth * ROWS * size_of::<T>());
        driver::blocks(micro, panel, bytemuck::cast_slice(&a), bytemuck::cast_slice(&b), &mut c);
        blocks::unpack(m, n, &c, out);
    }
}

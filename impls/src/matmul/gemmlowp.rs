//! gemmlowp without SIMD: both sides are packed cell by cell (4 wide, 16 deep) with the sums of their slices; the reference kernel multiplies cells;
//! unpacking adds the rank-one updates.
//!
//! Sides are addressed by (width, depth), so that one routine packs both sides. An incomplete cell is padded with zeros, which change neither
//! products nor sums. Sums wrap here; signed overflow is undefined in the source.
//!
//! Source: google/gemmlowp internal/pack.h (PackingRegisterBlockBase), internal/kernel_reference.h, internal/kernel_default.h,
//! internal/unpack.h (UnpackResultImplGeneric); The low-precision paradigm in gemmlowp, Efficient handling of offsets.

use super::{Domain, Kernel, Params, contract};
use crate::element::Element;

/// Width of a cell.
const WIDTH: usize = 4;
/// Depth of a cell.
const DEPTH: usize = 16;

/// Unsigned elements.
pub(crate) const REFERENCE: Kernel = Kernel {
    name: "gemmlowp-reference",
    summary: "gemmlowp reference kernel: cells of 4 by 16, sums of slices, rank-one updates at unpacking",
    contract: contract(
        "exact",
        Domain::all(Element::U8, Element::U8),
        "google/gemmlowp internal/pack.h, kernel_reference.h, unpack.h; The low-precision paradigm in gemmlowp",
    ),
    portable: run,
    native: None,
};

/// Matrix by (width, depth). Its slices are rows of lhs or columns of rhs.
#[derive(Clone, Copy)]
struct Side<'a> {
    data: &'a [u8],
    width: usize,
    depth: usize,
    width_stride: usize,
    depth_stride: usize,
}

/// Packed side. The cells of one slice of width are consecutive, and each cell is width-major.
struct Packed {
    cells: Vec<[u8; WIDTH * DEPTH]>,
    sums: Vec<i32>,
    /// Number of cells from one slice of width to the next.
    run: usize,
}

fn run(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Params { m, n, k, .. } = *params;
    let lhs = pack(Side { data: lhs, width: m, depth: k, width_stride: k, depth_stride: 1 });
    let rhs = pack(Side { data: rhs, width: n, depth: k, width_stride: 1, depth_stride: n });
    for (r, left) in lhs.cells.chunks_exact(lhs.run).enumerate() {
        for (c, right) in rhs.cells.chunks_exact(rhs.run).enumerate() {
            let block = kernel(left, right);
            unpack(params, &block, (r * WIDTH, c * WIDTH), (&lhs.sums, &rhs.sums), out);
        }
    }
}

fn pack(side: Side<'_>) -> Packed {
    let run = side.depth.div_ceil(DEPTH);
    let mut cells = vec![[0; WIDTH * DEPTH]; side.width.div_ceil(WIDTH) * run];
    let mut sums = vec![0i32; side.width];
    for (at, cell) in cells.iter_mut().enumerate() {
        let (start_width, start_depth) = (at / run * WIDTH, at % run * DEPTH);
        let widths = start_width..side.width.min(start_width + WIDTH);
        for (slice, w) in cell.chunks_exact_mut(DEPTH).zip(widths) {
            let depths = start_depth..side.depth.min(start_depth + DEPTH);
            let mut sum = 0i32;
            for (place, d) in slice.iter_mut().zip(depths) {
                *place = side.data[w * side.width_stride + d * side.depth_stride];
                sum += i32::from(*place);
            }
            sums[w] = sums[w].wrapping_add(sum);
        }
    }
    Packed { cells, sums, run }
}

/// Computes one block as the reference kernel does: for each cell, the three plain loops of a matrix product, with the depth outermost.
fn kernel(lhs: &[[u8; WIDTH * DEPTH]], rhs: &[[u8; WIDTH * DEPTH]]) -> [[i32; WIDTH]; WIDTH] {
    let mut acc = [[0i32; WIDTH]; WIDTH];
    for (lhs, rhs) in lhs.iter().zip(rhs) {
        for d in 0..DEPTH {
            for (r, acc) in acc.iter_mut().enumerate() {
                for (c, acc) in acc.iter_mut().enumerate() {
                    let product = i32::from(lhs[r * DEPTH + d]) * i32::from(rhs[c * DEPTH + d]);
                    *acc = acc.wrapping_add(product);
                }
            }
        }
    }
    acc
}

/// Writes one block with its upper left corner at `(row, column)`: the sum of the four terms of each result.
fn unpack(
    params: &Params,
    block: &[[i32; WIDTH]; WIDTH],
    (row, column): (usize, usize),
    (lhs_sums, rhs_sums): (&[i32], &[i32]),
    out: &mut [i32],
) {
    let term_11 = params.lhs_offset.wrapping_mul(params.rhs_offset).wrapping_mul(params.k as i32);
    let rows = out.chunks_exact_mut(params.n).zip(lhs_sums).skip(row);
    for ((out, lhs_sum), block) in rows.zip(block) {
        let term_x1 = lhs_sum.wrapping_mul(params.rhs_offset);
        for ((out, rhs_sum), term_xx) in out.iter_mut().zip(rhs_sums).skip(column).zip(block) {
            let term_1x = rhs_sum.wrapping_mul(params.lhs_offset);
            *out = term_xx.wrapping_add(term_x1).wrapping_add(term_1x).wrapping_add(term_11);
        }
    }
}

//! Blocked product, all modulo 2^32: both operands are packed into blocks of 4 by 16, a micro-kernel computes blocks of 4 by 4, the blocks are
//! unpacked, and the four-term expansion adds the offsets.
//!
//! Sources: RFC on int8 convolution for Arm (packing, micro-kernel, unpacking); The low-precision paradigm in gemmlowp, section Efficient handling of
//! offsets. Each step is a function pointer: a mutant can replace one step and keep the others.

use super::Params;
use super::blocks::{self, DEPTH, ROWS, padded};
use crate::element::Element;
use bytemuck::Pod;

/// `micro_kernel(depth_blocks, a, b, c)`: `c[4*i + j] = sum over k of a[i,k] * b[j,k]`, raw elements, modulo 2^32. `a` and `b`
/// are panels `[depth_blocks, 4, 16]` of packed elements; `c` is overwritten.
pub(crate) type MicroKernel = fn(usize, &[u8], &[u8], &mut [i32; ROWS * ROWS]);

/// `layout(rows, columns, plain, packed)`: packs a row-major matrix into blocks; all other elements are 0.
pub(crate) type Layout<T> = fn(usize, usize, &[T], &mut [T]);

/// Terms of the expansion of one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Sum of the products of raw elements.
    pub(crate) product: i32,
    /// Sum of the raw row of lhs.
    pub(crate) lhs_sum: i32,
    /// Sum of the raw column of rhs.
    pub(crate) rhs_sum: i32,
}

/// Bytes of one element, at any alignment: `u8`, or `[u8; 2]` for 16 bits.
pub(crate) trait Bytes: Pod + Default {}
impl<T: Pod + Default> Bytes for T {}

/// Steps of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps<T: 'static = u8> {
    /// Type of lhs.
    pub(crate) lhs: Element,
    /// Type of rhs.
    pub(crate) rhs: Element,
    /// Packs `[M,K]` into panels of lhs.
    pub(crate) interleave: Layout<T>,
    /// Packs `[K,N]` into panels of rhs.
    pub(crate) block_transpose: Layout<T>,
    /// Multiplies a panel of lhs by a panel of rhs.
    pub(crate) micro_kernel: MicroKernel,
    /// Unpacks `[M'/4, N'/4, 4, 4]` to `[M,N]`.
    pub(crate) unpack: fn(usize, usize, &[i32], &mut [i32]),
    /// Computes one result from its terms.
    pub(crate) expand: fn(&Params, Terms) -> i32,
}

impl<T: Bytes> Steps<T> {
    /// Returns the correct steps around a micro-kernel.
    pub(crate) const fn new(lhs: Element, rhs: Element, micro_kernel: MicroKernel) -> Self {
        Self {
            lhs,
            rhs,
            interleave: blocks::interleave,
            block_transpose: blocks::block_transpose,
            micro_kernel,
            unpack: blocks::unpack,
            expand,
        }
    }
}

/// Computes `product + lhs_offset * (sum of rhs) + rhs_offset * (sum of lhs) + lhs_offset * rhs_offset * depth`, with the unpadded depth.
pub(crate) fn expand(params: &Params, terms: Terms) -> i32 {
    let constant = params.lhs_offset.wrapping_mul(params.rhs_offset).wrapping_mul(params.k as i32);
    terms
        .product
        .wrapping_add(params.lhs_offset.wrapping_mul(terms.rhs_sum))
        .wrapping_add(params.rhs_offset.wrapping_mul(terms.lhs_sum))
        .wrapping_add(constant)
}

/// Runs the steps, as the [`super::Run`] of a kernel that consists of them.
pub(crate) fn product<T: Bytes>(steps: &Steps<T>, params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Params { m, n, k, .. } = *params;
    let (lhs, rhs) = (bytemuck::cast_slice::<u8, T>(lhs), bytemuck::cast_slice::<u8, T>(rhs));
    let depth = padded(k, DEPTH);

    let mut a = vec![T::default(); padded(m, ROWS) * depth];
    (steps.interleave)(m, k, lhs, &mut a);
    let lhs_sums: Vec<i32> = lhs.chunks_exact(k).map(|row| sum(steps.lhs, row)).collect();

    let mut b = vec![T::default(); depth * padded(n, ROWS)];
    (steps.block_transpose)(k, n, rhs, &mut b);
    let rhs_sums = column_sums(steps.rhs, n, rhs);

    let mut c = vec![0; padded(m, ROWS) * padded(n, ROWS)];
    let panel = (depth / DEPTH, depth * ROWS * size_of::<T>());
    blocks(steps.micro_kernel, panel, bytemuck::cast_slice(&a), bytemuck::cast_slice(&b), &mut c);
    (steps.unpack)(m, n, &c, out);
    for (row, lhs_sum) in out.chunks_exact_mut(n).zip(lhs_sums) {
        for (value, rhs_sum) in row.iter_mut().zip(&rhs_sums) {
            *value = (steps.expand)(params, Terms { product: *value, lhs_sum, rhs_sum: *rhs_sum });
        }
    }
}

/// Computes every block of the result: each panel of lhs with each panel of rhs, `panel` bytes long.
pub(super) fn blocks(
    micro_kernel: impl Fn(usize, &[u8], &[u8], &mut [i32; ROWS * ROWS]),
    (depth_blocks, panel): (usize, usize),
    a: &[u8],
    b: &[u8],
    c: &mut [i32],
) {
    let mut c = c.as_chunks_mut::<{ ROWS * ROWS }>().0.iter_mut();
    for a in a.chunks_exact(panel) {
        // `c` is the second operand of `zip`: as the first operand, it would lose a block at the end of each row.
        for (b, c) in b.chunks_exact(panel).zip(c.by_ref()) {
            micro_kernel(depth_blocks, a, b, c);
        }
    }
}

/// Returns the sum of raw elements, modulo 2^32.
fn sum<T: Bytes>(element: Element, row: &[T]) -> i32 {
    row.iter().fold(0, |sum, value| sum.wrapping_add(element.read(bytemuck::bytes_of(value))))
}

/// Returns the sum of each of the `n` columns of raw elements, modulo 2^32.
fn column_sums<T: Bytes>(element: Element, n: usize, matrix: &[T]) -> Vec<i32> {
    let mut sums = vec![0i32; n];
    for row in matrix.chunks_exact(n) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(element.read(bytemuck::bytes_of(value)));
        }
    }
    sums
}

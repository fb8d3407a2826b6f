//! Arm with the dot-product extension, 12 rows by 4 columns: a lane is a column, so that each row of the block has one accumulator, and twelve of
//! them, a register of `b` and one of `a` leave registers free. The block of 4 by 4 without the extension needs intermediate registers.
//!
//! A register of `b` has four elements of the depth of each of four columns; four elements of a row of `a` are repeated through a register.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm, on the dot-product extension. Semantics: Arm ARM (DDI 0487), C7.2.

use super::driver::{Terms, expand};
use super::{Domain, Kernel, Params, Run, contract};
use crate::element::Element;
use crate::simd::form::neon_form;
use crate::simd::{BYTES, LANES, Portable, Register};

/// Rows of a block.
const ROWS: usize = 12;
/// Columns of a block: the lanes of a register.
const COLUMNS: usize = LANES;
/// Elements of the depth that one instruction takes.
const DEPTH: usize = 4;
/// Results of a block.
const BLOCK: usize = ROWS * COLUMNS;

/// `micro(steps, a, b, c)`: `c[4*i + j]` is the product of row i of `a` `[steps, 12, 4]` and column j of `b` `[steps, 4, 4]`.
type Micro = fn(&[u8], &[u8], &mut [i32; BLOCK]);

/// Unsigned elements.
pub(crate) const UDOT: Kernel = Kernel {
    name: "arm-udot-12x4",
    summary: "Arm GEMM with the dot-product extension, unsigned, blocks of 12 by 4: udot",
    contract: contract(
        "exact",
        Domain::all(Element::U8, Element::U8),
        "RFC on int8 convolution for Arm, core algorithm; Arm ARM DDI 0487, C7.2, UDOT (vector)",
    ),
    portable: |params, lhs, rhs, out| product(block::<Portable>, params, lhs, rhs, out),
    native: Some(neon_form!(
        DOTPROD,
        "tiebreak_matmul_arm_udot_12x4",
        ["udot"],
        Run,
        fn micro(a: &[u8], b: &[u8], c: &mut [i32; BLOCK]) {
            block::<crate::simd::Neon>(a, b, c);
        },
        |params, lhs, rhs, out| product(micro, params, lhs, rhs, out)
    )),
};

#[inline(always)]
fn block<R: Register>(a: &[u8], b: &[u8], c: &mut [i32; BLOCK]) {
    let mut acc = [R::splat(0); ROWS];
    for (a, b) in a.as_chunks::<{ ROWS * DEPTH }>().0.iter().zip(b.as_chunks::<BYTES>().0) {
        let b = R::load_bytes(b);
        for (acc, a) in acc.iter_mut().zip(a.as_chunks::<DEPTH>().0) {
            *acc = acc.udot(R::splat(i32::from_le_bytes(*a)), b);
        }
    }
    for (acc, c) in acc.iter().zip(c.as_chunks_mut::<LANES>().0) {
        acc.store(c);
    }
}

/// Packs both operands, runs each block, and adds the offsets by the four-term expansion.
fn product(micro: Micro, params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Params { m, n, k, .. } = *params;
    let a = panels::<ROWS>(m, k, |row, depth| lhs[row * k + depth]);
    let b = panels::<COLUMNS>(n, k, |column, depth| rhs[depth * n + column]);
    let total = |values: &mut dyn Iterator<Item = u8>| values.fold(0i32, |sum, v| sum.wrapping_add(v.into()));
    let lhs_sums: Vec<i32> = lhs.chunks_exact(k).map(|row| total(&mut row.iter().copied())).collect();
    let rhs_sums: Vec<i32> = (0..n).map(|j| total(&mut rhs.iter().skip(j).step_by(n).copied())).collect();
    let mut c = [0; BLOCK];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            micro(a, b, &mut c);
            for (row, c) in c.as_chunks::<COLUMNS>().0.iter().enumerate().take(m - i * ROWS) {
                for (column, product) in c.iter().enumerate().take(n - j * COLUMNS) {
                    let (row, column) = (i * ROWS + row, j * COLUMNS + column);
                    let terms = Terms { product: *product, lhs_sum: lhs_sums[row], rhs_sum: rhs_sums[column] };
                    out[row * n + column] = expand(params, terms);
                }
            }
        }
    }
}

/// Panels of `SIDE` rows or columns, `[depth/4, SIDE, 4]` each, padded by 0.
fn panels<const SIDE: usize>(count: usize, depth: usize, element: impl Fn(usize, usize) -> u8) -> Vec<Vec<u8>> {
    let panel = |first: usize| {
        let mut out = vec![0; depth.next_multiple_of(DEPTH) * SIDE];
        for line in first..count.min(first + SIDE) {
            for at in 0..depth {
                out[at / DEPTH * (SIDE * DEPTH) + (line - first) * DEPTH + at % DEPTH] = element(line, at);
            }
        }
        out
    };
    (0..count).step_by(SIDE).map(panel).collect()
}

//! Arm with the dot-product extension, 12 rows by 4 columns: a lane is a column, so each row of the block has one accumulator. Twelve accumulators, a
//! register of `b` and a register of `a` leave registers free. The block of 4 by 4 without the extension needs intermediate registers.
//!
//! A register of `b` has four elements of the depth for each of four columns. Four elements of a row of `a` are repeated in a register.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm, on the dot-product extension. Semantics: Arm ARM (DDI 0487), C7.2.

use super::tiles::product;
use super::{Domain, Kernel, Run, contract};
use crate::element::Element;
use crate::simd::form::neon_form;
use crate::simd::{BYTES, LANES, Portable, Register};

/// Rows of a block.
const ROWS: usize = 12;
/// Columns of a block: as many as the lanes of a register.
const COLUMNS: usize = LANES;
/// Elements of the depth that one instruction takes.
const DEPTH: usize = 4;
/// Number of results of a block.
const BLOCK: usize = ROWS * COLUMNS;

/// Unsigned elements.
pub(crate) const UDOT: Kernel = Kernel {
    name: "arm-udot-12x4",
    summary: "Arm GEMM with the dot-product extension, unsigned, blocks of 12 by 4: udot",
    contract: contract(
        "exact",
        Domain::all(Element::U8, Element::U8),
        "RFC on int8 convolution for Arm, core algorithm; Arm ARM DDI 0487, C7.2, UDOT (vector)",
    ),
    portable: |params, lhs, rhs, out| product::<ROWS, COLUMNS, DEPTH, BLOCK>(block::<Portable>, params, lhs, rhs, out),
    native: Some(neon_form!(
        DOTPROD,
        "tiebreak_matmul_arm_udot_12x4",
        ["udot"],
        Run,
        fn micro(a: &[u8], b: &[u8], c: &mut [i32; BLOCK]) {
            block::<crate::simd::Neon>(a, b, c);
        },
        |params, lhs, rhs, out| product::<ROWS, COLUMNS, DEPTH, BLOCK>(micro, params, lhs, rhs, out)
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

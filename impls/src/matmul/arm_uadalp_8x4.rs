//! Arm without the dot-product extension, 8 rows by 4 columns: the tile that the RFC rejects. Each of its 32 results has a register of four partial
//! sums. These are all registers of the machine, so sums are spilled to the stack in each step. `cargo xtask bench tables` counts the bytes.
//!
//! Source: RFC on int8 convolution for Arm, section Convolution core algorithm, on the choice of 4 by 4. The instructions are those of
//! [`super::arm_uadalp`].

use super::tiles::product;
use super::{Domain, Kernel, Run, contract};
use crate::dot::arm_uadalp::unsigned;
use crate::element::Element;
use crate::simd::form::neon_form;
use crate::simd::{BYTES, LANES, Portable, Register};

/// Rows of a block.
const ROWS: usize = 8;
/// Columns of a block: as many as the lanes of a register.
const COLUMNS: usize = LANES;
/// Number of results of a block.
const BLOCK: usize = ROWS * COLUMNS;

/// Unsigned elements.
pub(crate) const UADALP: Kernel = Kernel {
    name: "arm-uadalp-8x4",
    summary: "Arm GEMM, unsigned, blocks of 8 by 4, whose sums exceed the registers: umull, uadalp, umull2, uadalp, addp",
    contract: contract(
        "exact",
        Domain::all(Element::U8, Element::U8),
        "RFC on int8 convolution for Arm, core algorithm: the tile that it turns down",
    ),
    portable: |params, lhs, rhs, out| product::<ROWS, COLUMNS, BYTES, BLOCK>(block::<Portable>, params, lhs, rhs, out),
    native: Some(neon_form!(
        NEON,
        "tiebreak_matmul_arm_uadalp_8x4",
        ["umull", "umull2", "uadalp", "addp"],
        Run,
        fn micro(a: &[u8], b: &[u8], c: &mut [i32; BLOCK]) {
            block::<crate::simd::Neon>(a, b, c);
        },
        |params, lhs, rhs, out| product::<ROWS, COLUMNS, BYTES, BLOCK>(micro, params, lhs, rhs, out)
    )),
};

#[inline(always)]
fn block<R: Register>(a: &[u8], b: &[u8], c: &mut [i32; BLOCK]) {
    let mut acc = [[R::splat(0); COLUMNS]; ROWS];
    for (a, b) in a.as_chunks::<{ ROWS * BYTES }>().0.iter().zip(b.as_chunks::<{ COLUMNS * BYTES }>().0) {
        for (acc, a) in acc.iter_mut().zip(a.as_chunks::<BYTES>().0) {
            for (acc, b) in acc.iter_mut().zip(b.as_chunks::<BYTES>().0) {
                *acc = unsigned(*acc, R::load_bytes(a), R::load_bytes(b));
            }
        }
    }
    for (acc, c) in acc.iter().zip(c.as_chunks_mut::<LANES>().0) {
        let (low, high) = (acc[0].addp(acc[1]), acc[2].addp(acc[3]));
        low.addp(high).store(c);
    }
}

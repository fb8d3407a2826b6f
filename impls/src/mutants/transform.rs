//! Transforms that put an element in the wrong place, or leave one out.

use super::matmul::interleave_tail;
use super::tensor::{Mutant, mutant};
use crate::conv2d::{self, im2col::im2col};
use crate::matmul::blocks::{DEPTH, ROWS, block_transpose};
use crate::transform::{Domain, Kind, Params, Run};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = &[
    mutant!(
        "mutant-block-transpose-rows", "layout", "rows 1 and 2 of each block change places",
        claims "block-transpose" Wrap on Domain { kind: Kind::BlockTranspose },
        from "of our own: a transposed index in the block",
        |params, input, out| {
            let Params::Matrix { rows, columns } = *params else { return };
            block_transpose_rows(rows, columns, input, out);
        }
    ),
    mutant!(
        "mutant-im2col-pad-zero", "padding", "padded by 0 and not by the zero point",
        claims "im2col" Wrap on Domain { kind: Kind::Im2col },
        from "apache/tvm pull request 4807",
        |params, input, out| {
            let Params::Conv2d(params) = params else { return };
            im2col(&conv2d::Params { groups: 1, ..*params }, 0, input, 0, out);
        }
    ),
    mutant!(
        "mutant-interleave-tail", "truncated-tail", "columns after the last whole block are left 0",
        claims "interleave" Wrap on Domain { kind: Kind::Interleave },
        from "of our own: K / 16 blocks for ceil(K / 16)",
        |params, input, out| {
            let Params::Matrix { rows, columns } = *params else { return };
            interleave_tail(rows, columns, input, out);
        }
    ),
];

/// `block_transpose` with rows 1 and 2 of each block of 4 by 16 exchanged: columns 1 and 2 of each four.
fn block_transpose_rows(rows: usize, columns: usize, input: &[i32], out: &mut [i32]) {
    block_transpose(rows, columns, input, out);
    for block in out.chunks_exact_mut(ROWS * DEPTH) {
        let (first, second) = block.split_at_mut(2 * DEPTH);
        first[DEPTH..].swap_with_slice(&mut second[..DEPTH]);
    }
}

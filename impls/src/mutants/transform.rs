//! Transforms that put an element in the wrong place, or leave one out.

use super::matmul::interleave_tail;
use super::tensor::{Mutant, mutant};
use crate::conv2d::{self, im2col::im2col};
use crate::matmul::blocks::{DEPTH, ROWS, block_transpose};
use crate::transform::spatial::{data_pack, kernel_pack, unpack};
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
    mutant!(
        "mutant-data-pack-pad-zero", "padding", "padded by 0 and not by the zero point",
        claims "data-pack" Wrap on Domain { kind: Kind::DataPack },
        from "apache/tvm pull request 4807",
        |params, input, out| {
            let Params::Conv2d(params) = params else { return };
            data_pack(&conv2d::Params { groups: 1, ..*params }, input, 0, out);
        }
    ),
    mutant!(
        "mutant-kernel-pack-transposed", "layout", "weights are read as if their output channels came last",
        claims "kernel-pack" Wrap on Domain { kind: Kind::KernelPack },
        from "of our own: HWIO weights for OIHW",
        |params, input, out| {
            let Params::Conv2d(params) = params else { return };
            let (outputs, depth) = (params.out_channels, input.len() / params.out_channels);
            let read: Vec<i32> = (0..input.len()).map(|at| input[at % depth * outputs + at / depth]).collect();
            kernel_pack(&conv2d::Params { groups: 1, ..*params }, &read, out);
        }
    ),
    mutant!(
        "mutant-spatial-unpack-nhwc", "layout", "results are unpacked to NHWC",
        claims "spatial-unpack" Wrap on Domain { kind: Kind::SpatialUnpack },
        from "of our own: the layout of the network for that of the schedule",
        |params, input, out| {
            let Params::Conv2d(params) = params else { return };
            let mut plain = vec![0; out.len()];
            unpack(&conv2d::Params { groups: 1, ..*params }, input, &mut plain);
            let pixels = params.output().map_or(1, |(rows, columns)| rows * columns);
            for (at, value) in out.iter_mut().enumerate() {
                let (o, pixel, batch) =
                    (at % params.out_channels, at / params.out_channels % pixels, at / params.out_channels / pixels);
                *value = plain[(batch * params.out_channels + o) * pixels + pixel];
            }
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

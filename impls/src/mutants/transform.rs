//! Transforms that put an element in the wrong place, or omit an element.

use super::matmul::interleave_tail;
use super::tensor::{Mutant, mutants};
use crate::conv2d::{self, im2col::im2col};
use crate::matmul::blocks::{DEPTH, ROWS, block_transpose, interleave};
use crate::transform::map::read;
use crate::transform::packing::{bit_pack, extended, nibble_pack, nibble_unpack};
use crate::transform::pad::{self, image, reference};
use crate::transform::spatial::{data_pack, kernel_pack, unpack};
use crate::transform::{Domain, Kind, Params, Run};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-block-transpose-rows", "layout", "rows 1 and 2 of each block change places",
        claims "block-transpose" Wrap on Domain { kind: Kind::BlockTranspose }, from "of our own: a transposed index in the block",
        |params, input, out| {
            let Params::Matrix { rows, columns, .. } = *params else { return };
            block_transpose_rows(rows, columns, input, out);
        };
    "mutant-im2col-pad-zero", "padding", "padded by 0 and not by the zero point",
        claims "im2col" Wrap on Domain { kind: Kind::Im2col }, from "apache/tvm pull request 4807",
        |params, input, out| params.conv2d(|p| im2col(p, 0, input, 0, out));
    "mutant-interleave-tail", "truncated-tail", "columns after the last whole block are left 0",
        claims "interleave" Wrap on Domain { kind: Kind::Interleave }, from "of our own: K / 16 blocks for ceil(K / 16)",
        |params, input, out| {
            let Params::Matrix { batches, rows, columns } = *params else { return };
            let blocks = out.len() / batches;
            for (matrix, blocks) in input.chunks_exact(rows * columns).zip(out.chunks_exact_mut(blocks)) {
                interleave_tail(rows, columns, matrix, blocks);
            }
        };
    "mutant-data-pack-pad-zero", "padding", "padded by 0 and not by the zero point",
        claims "data-pack" Wrap on Domain { kind: Kind::DataPack }, from "apache/tvm pull request 4807",
        |params, input, out| params.conv2d(|p| data_pack(p, input, 0, out));
    "mutant-kernel-pack-transposed", "layout", "weights are read as if their output channels came last",
        claims "kernel-pack" Wrap on Domain { kind: Kind::KernelPack }, from "of our own: HWIO weights for OIHW",
        |params, input, out| {
            let Params::Conv2d(params) = params else { return };
            let (outputs, depth) = (params.out_channels, input.len() / params.out_channels);
            let read: Vec<i32> = (0..input.len()).map(|at| input[at % depth * outputs + at / depth]).collect();
            kernel_pack(&conv2d::Params { groups: 1, ..*params }, &read, out);
        };
    "mutant-weight-prepack-channels-first", "layout", "the depth is flattened channel by channel, not place by place of the filter",
        claims "weight-prepack" Wrap on Domain { kind: Kind::WeightPrepack },
        from "of our own: the depth of IHWO weights for that of HWIO, which im2col has",
        |params, input, out| {
            let Params::Conv2d(params) = params else { return };
            let (taps, outputs) = (params.kernel_h * params.kernel_w, params.out_channels);
            let mut flat = Vec::with_capacity(input.len());
            for channel in 0..params.channels {
                for tap in 0..taps {
                    flat.extend_from_slice(&input[(tap * params.channels + channel) * outputs..][..outputs]);
                }
            }
            block_transpose(taps * params.channels, outputs, &flat, out);
        };
    "mutant-spatial-unpack-nhwc", "layout", "results are unpacked to NHWC",
        claims "spatial-unpack" Wrap on Domain { kind: Kind::SpatialUnpack }, from "of our own: the layout of the network for that of the schedule",
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
        };
    "mutant-interleave-batch-stride", "layout", "the blocks of a batch lie as far apart as the plain matrices",
        claims "interleave" Wrap on Domain { kind: Kind::Interleave }, from "of our own: the stride of M by K for that of M' by K'",
        |params, input, out| {
            let Params::Matrix { batches, rows, columns } = *params else { return };
            let blocks = out.len() / batches;
            out.fill(0);
            for (b, matrix) in input.chunks_exact(rows * columns).enumerate() {
                interleave(rows, columns, matrix, &mut out[b * rows * columns..][..blocks]);
            }
        };
    "mutant-map-stride-ignored", "layout", "the runs of a matrix in memory are taken for adjacent",
        claims "matrix-map" Wrap on Domain { kind: Kind::MatrixMap },
        from "of our own: a matrix of the whole of a larger one, read as if it were the larger one",
        |params, input, out| {
            let Params::Map(p) = params else { return };
            read(p, if p.column_major { [1, p.rows] } else { [p.columns, 1] }, input, out);
        };
    "mutant-map-order-ignored", "layout", "a matrix by columns is read as one by rows",
        claims "matrix-map" Wrap on Domain { kind: Kind::MatrixMap }, from "of our own: MapOrder::ColMajor taken for MapOrder::RowMajor",
        |params, input, out| {
            let Params::Map(p) = params else { return };
            read(p, [p.stride, 1], input, out);
        };
    "mutant-pad-zero", "padding", "padded by 0 and not by the zero point",
        claims "pad" Wrap on Domain { kind: Kind::Pad },
        from "llvm/llvm-project discussion of the quant dialect: tfl.pad with the constant 0, whose zero point is not 0",
        |params, input, out| params.pad(|p| reference(p, input, 0, out));
    "mutant-pad-sides-exchanged", "layout", "padding before and after an axis change places",
        claims "pad" Wrap on Domain { kind: Kind::Pad }, from "of our own: the paddings of an axis are read last first",
        |params, input, out| {
            let Params::Pad(p) = params else { return };
            let exchanged = pad::Params {
                batches_before: p.batches_after,
                batches_after: p.batches_before,
                top: p.bottom,
                bottom: p.top,
                left: p.right,
                right: p.left,
                channels_before: p.channels_after,
                channels_after: p.channels_before,
                ..*p
            };
            reference(&exchanged, input, p.zero_point, out);
        };
    "mutant-pad-other-axis", "layout", "an image is moved down by the columns on its left, and right by the rows above it",
        claims "pad" Wrap on Domain { kind: Kind::Pad }, from "of our own: the paddings of height and width are read in the order of another layout",
        |params, input, out| {
            let Params::Pad(p) = params else { return };
            // Limited by the sizes of the output.
            let (rows, columns) = (p.top + p.bottom, p.left + p.right);
            let (top, left) = (p.left.min(rows), p.top.min(columns));
            let moved = pad::Params { top, bottom: rows - top, left, right: columns - left, ..*p };
            image(&moved, input, p.zero_point, out);
        };
    "mutant-int4-pack-order", "layout", "the first nibble lies in the high bits",
        claims "nibble-pack-low" Wrap on Domain { kind: Kind::NibblePackLow }, from "of our own: weights packed for torchao, read by ONNX Runtime",
        |params, input, out| params.packed(|p| nibble_pack(p, input, out, |first, second| first << 4 | second));
    "mutant-int4-pack-odd", "truncated-tail", "the last element of an odd number is lost",
        claims "nibble-pack-low" Wrap on Domain { kind: Kind::NibblePackLow }, from "of our own: columns / 2 bytes for ceil(columns / 2)",
        |params, input, out| {
            let Params::Packed(p) = params else { return };
            nibble_pack(p, input, out, |first, second| first | second << 4);
            if p.columns % 2 == 1 {
                out.chunks_exact_mut(p.columns.div_ceil(2)).for_each(|row| row[p.columns / 2] = 0);
            }
        };
    "mutant-int4-unpack-unsigned", "signedness", "signed nibbles are zero extended",
        claims "nibble-unpack-low" Wrap on Domain { kind: Kind::NibbleUnpackLow }, from "of our own: a mask where the sign has to be extended",
        |params, input, out| params.packed(|p| nibble_unpack(p, input, out, |byte| [byte, byte >> 4].map(|nibble| extended(nibble, false))));
    "mutant-bitpack-reversed", "layout", "the first element lies in the lowest bit of a word",
        claims "bit-pack" Wrap on Domain { kind: Kind::BitPack }, from "of our own: the order of another packing, such as LSB first",
        |params, input, out| {
            let Params::Packed(p) = params else { return };
            // The elements of each word in reverse order.
            let reversed: Vec<i32> = input.chunks_exact(p.word).flat_map(|run| run.iter().rev().copied()).collect();
            bit_pack(p, &reversed, out, |word, bit| word << 1 | bit);
        };
];

/// Runs `block_transpose`, and exchanges rows 1 and 2 of each block of 4 by 16, which are columns 1 and 2 of each four.
fn block_transpose_rows(rows: usize, columns: usize, input: &[i32], out: &mut [i32]) {
    block_transpose(rows, columns, input, out);
    for block in out.chunks_exact_mut(ROWS * DEPTH) {
        let (first, second) = block.split_at_mut(2 * DEPTH);
        first[DEPTH..].swap_with_slice(&mut second[..DEPTH]);
    }
}

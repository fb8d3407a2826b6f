//! Packing of a matrix product, as kernels.

use super::{Kernel, Kind, Params, kernel};
use crate::matmul::blocks::{block_transpose, interleave, unpack};

pub(super) const INTERLEAVE: Kernel = kernel(
    "tvm-interleave",
    "TVM interleave: blocks of 4 rows by 16 columns",
    Kind::Interleave,
    |params, input, out| {
        let Params::Matrix { batches, rows, columns } = *params else { return };
        let blocks = out.len() / batches;
        for (matrix, blocks) in input.chunks_exact(rows * columns).zip(out.chunks_exact_mut(blocks)) {
            interleave(rows, columns, matrix, blocks);
        }
    },
);

pub(super) const BLOCK_TRANSPOSE: Kernel = kernel(
    "tvm-block-transpose",
    "TVM interleave and block-transpose: blocks of 16 rows by 4 columns, each transposed",
    Kind::BlockTranspose,
    |params, input, out| {
        let Params::Matrix { rows, columns, .. } = *params else { return };
        block_transpose(rows, columns, input, out);
    },
);

pub(super) const WEIGHT_PREPACK: Kernel = kernel(
    "tvm-weight-prepack",
    "TVM weights HWIO, flattened and packed ahead of time: blocks of 16 rows by 4 columns, each transposed",
    Kind::WeightPrepack,
    |params, input, out| {
        let Params::Conv2d(params) = params else { return };
        // Flattening HWIO weights moves no element.
        block_transpose(input.len() / params.out_channels, params.out_channels, input, out);
    },
);

pub(super) const UNPACK: Kernel =
    kernel("tvm-unpack", "TVM unpack: blocks of 4 by 4 to a plain matrix", Kind::Unpack, |params, input, out| {
        let Params::Matrix { batches, rows, columns } = *params else { return };
        for (blocks, matrix) in input.chunks_exact(input.len() / batches).zip(out.chunks_exact_mut(rows * columns)) {
            unpack(rows, columns, blocks, matrix);
        }
    });

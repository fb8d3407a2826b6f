//! The packing of a matrix product as kernels.

use super::{Kernel, Kind, Params, kernel};
use crate::matmul::blocks::{block_transpose, interleave, unpack};

pub(super) const INTERLEAVE: Kernel = kernel(
    "tvm-interleave",
    "TVM interleave: blocks of 4 rows by 16 columns",
    Kind::Interleave,
    |params, input, out| {
        let Params::Matrix { rows, columns } = *params else { return };
        interleave(rows, columns, input, out);
    },
);

pub(super) const BLOCK_TRANSPOSE: Kernel = kernel(
    "tvm-block-transpose",
    "TVM interleave and block-transpose: blocks of 16 rows by 4 columns, each transposed",
    Kind::BlockTranspose,
    |params, input, out| {
        let Params::Matrix { rows, columns } = *params else { return };
        block_transpose(rows, columns, input, out);
    },
);

pub(super) const UNPACK: Kernel =
    kernel("tvm-unpack", "TVM unpack: blocks of 4 by 4 to a plain matrix", Kind::Unpack, |params, input, out| {
        let Params::Matrix { rows, columns } = *params else { return };
        unpack(rows, columns, input, out);
    });

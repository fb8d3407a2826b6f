//! Layout transforms around a convolution by matrix product: they move elements and pad, and compute nothing.
//!
//! Source: RFC on int8 convolution for Arm, sections Input, Weight and Output transform. Blocks there are 4 rows by 16 columns.

mod blocks;
mod im2col;
pub(crate) mod spatial;
#[cfg(test)]
mod tests;
mod unflatten;

use crate::contract::{Contract, Overflow, Promise};
use crate::conv2d;
use crate::job_error::JobError;
use crate::kernel;
use crate::matmul::blocks::{DEPTH, ROWS, padded};
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, positive};
use serde::{Deserialize, Serialize};
use spatial::TILE;

/// Which transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `[B,H,W,C]` to `[B, OH*OW, KH*KW*C]`, padded by the zero point.
    Im2col,
    /// `[M,K]` to `[M'/4, K'/16, 4, 16]`, M and K padded to M' and K' by 0.
    Interleave,
    /// `[K,N]` to `[N'/4, K'/16, 4, 16]`, each block transposed.
    BlockTranspose,
    /// `[M'/4, N'/4, 4, 4]` to `[M,N]`.
    Unpack,
    /// `[B, OH*OW, OC]` to `[B,OH,OW,OC]`; with weights, `[KH,KW,KI,KO]` to `[KH*KW*KI,KO]`, the same bytes.
    Unflatten,
    /// `[B,C,H,W]` to `[B, OH, OW'/16, C, KH, KW, 16]`, padded by the zero point, and by 0 beyond a row.
    DataPack,
    /// `[O,C,KH,KW]` to `[O'/16, C, KH, KW, 16]`, padded by 0.
    KernelPack,
    /// `[B, OH, OW'/16, O'/16, 16, 16]` to `[B,O,OH,OW]`.
    SpatialUnpack,
}

/// Parameters of one transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Params {
    /// Of [`Kind::Im2col`], [`Kind::Unflatten`] and the spatial pack.
    Conv2d(conv2d::Params),
    /// Of the others: rows and columns of the plain matrix.
    Matrix {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
}

/// The parameters of a transform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Which transform.
    pub kind: Kind,
}

impl Domain {
    /// Sizes of the input (and nothing) and of the output; or the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let sizes = |input, outputs| Sizes { inputs: [input, 0, 0], outputs };
        match (self.kind, params) {
            (Kind::Im2col, Params::Conv2d(conv)) => {
                let (rows, columns) = conv.output()?;
                let depth = [conv.batches, rows, columns, conv.kernel_h, conv.kernel_w, conv.channels];
                Ok(sizes(conv.sizes()?.inputs[0], shape::elements("im2col", &depth)?))
            }
            (Kind::Unflatten, Params::Conv2d(conv)) => {
                let out = conv.sizes()?.outputs;
                Ok(sizes(out, out))
            }
            (kind @ (Kind::DataPack | Kind::KernelPack | Kind::SpatialUnpack), Params::Conv2d(conv)) => {
                // All channels, whatever the groups.
                let conv = &conv2d::Params { groups: 1, ..*conv };
                let ([image, weights, _], outputs) = (conv.sizes()?.inputs, conv.sizes()?.outputs);
                let (rows, columns) = conv.output()?;
                let (tiles, blocks) = (padded(columns, TILE), padded(conv.out_channels, TILE));
                Ok(match kind {
                    Kind::DataPack => {
                        let depth = weights / conv.out_channels;
                        sizes(image, shape::elements("data-pack", &[conv.batches, rows, tiles, depth])?)
                    }
                    Kind::KernelPack => {
                        let depth = weights / conv.out_channels;
                        sizes(weights, shape::elements("kernel-pack", &[blocks, depth])?)
                    }
                    _ => sizes(shape::elements("blocks", &[conv.batches, rows, tiles, blocks])?, outputs),
                })
            }
            (kind @ (Kind::Interleave | Kind::BlockTranspose | Kind::Unpack), Params::Matrix { rows, columns }) => {
                let (rows, columns) = (positive("rows", *rows)?, positive("columns", *columns)?);
                shape::elements("matrix", &[rows, columns])?;
                let plain = rows * columns;
                let blocks = |rows: usize, row_block, columns: usize, column_block| {
                    shape::elements("blocks", &[padded(rows, row_block), padded(columns, column_block)])
                };
                Ok(match kind {
                    Kind::Interleave => sizes(plain, blocks(rows, ROWS, columns, DEPTH)?),
                    Kind::BlockTranspose => sizes(plain, blocks(rows, DEPTH, columns, ROWS)?),
                    _ => sizes(blocks(rows, ROWS, columns, ROWS)?, plain),
                })
            }
            (_, Params::Conv2d(_)) => Err(shape::broken("params", "this transform takes rows and columns")),
            (_, Params::Matrix { .. }) => {
                Err(shape::broken("params", "this transform takes the shape of a convolution"))
            }
        }
    }
}

/// `run(params, input, out)` on int32 elements. `params` and lengths have been checked.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// A transform under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

lookups!();

/// Layout transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {}

impl TensorOperation for Transform {
    common_items!(transform, Transform);

    fn sizes(domain: &Domain, params: &Params) -> Result<Sizes, ShapeError> {
        domain.sizes(params)
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        (call.code)(call.params, call.tensors[0], call.output);
        Ok(())
    }
}

static KERNELS: &[Kernel] = &[
    im2col::IM2COL,
    blocks::INTERLEAVE,
    blocks::BLOCK_TRANSPOSE,
    blocks::UNPACK,
    unflatten::UNFLATTEN,
    spatial::DATA_PACK,
    spatial::KERNEL_PACK,
    spatial::UNPACK,
];

/// A transform, all of which come from one source. Nothing is computed, so nothing overflows.
const fn kernel(name: &'static str, summary: &'static str, kind: Kind, run: Run) -> Kernel {
    let scheme = match kind {
        Kind::Im2col => "im2col",
        Kind::Interleave => "interleave",
        Kind::BlockTranspose => "block-transpose",
        Kind::Unpack => "unpack",
        Kind::Unflatten => "unflatten",
        Kind::DataPack => "data-pack",
        Kind::KernelPack => "kernel-pack",
        Kind::SpatialUnpack => "spatial-unpack",
    };
    Kernel {
        name,
        summary,
        contract: Contract {
            promise: Promise { scheme, overflow: Overflow::Wrap },
            domain: Domain { kind },
            deviations: &[],
            source: "RFC on int8 convolution for Arm; apache/tvm python/tvm/topi/arm_cpu/conv2d_gemm.py",
        },
        portable: run,
        native: None,
    }
}

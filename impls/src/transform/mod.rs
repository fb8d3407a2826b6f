//! Layout transforms around a convolution by matrix product, padding, and packing of few bits. They move elements or bits and pad, without any
//! arithmetic.
//!
//! Source: RFC on int8 convolution for Arm, sections Input, Weight and Output transform, with blocks of 4 rows by 16 columns.

mod blocks;
mod im2col;
pub mod map;
pub mod packing;
pub mod pad;
pub(crate) mod spatial;
#[cfg(test)]
mod tests;
mod unflatten;

use crate::contract::{Overflow, Promise};
use crate::conv2d;
use crate::job_error::JobError;
use crate::kernel;
use crate::matmul::blocks::{DEPTH, ROWS, padded};
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, positive};
use serde::{Deserialize, Serialize};
use spatial::TILE;

/// Kind of transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `[B,H,W,C]` to `[B, OH*OW, KH*KW*C]`, padded by the zero point.
    Im2col,
    /// `[batches,M,K]` to `[batches, M'/4, K'/16, 4, 16]`, M and K padded to M' and K' by 0.
    Interleave,
    /// `[K,N]` to `[N'/4, K'/16, 4, 16]`, each block transposed.
    BlockTranspose,
    /// `[batches, M'/4, N'/4, 4, 4]` to `[batches,M,N]`.
    Unpack,
    /// `[B, OH*OW, OC]` to `[B,OH,OW,OC]`; for weights, `[KH,KW,KI,KO]` to `[KH*KW*KI,KO]`. The bytes are the same.
    Unflatten,
    /// `[B,C,H,W]` to `[B, OH, OW'/16, C, KH, KW, 16]`, padded by the zero point, and by 0 beyond a row.
    DataPack,
    /// `[O,C,KH,KW]` to `[O'/16, C, KH, KW, 16]`, padded by 0.
    KernelPack,
    /// `[KH,KW,C,O]` to `[O'/4, (KH*KW*C)'/16, 4, 16]`, padded by 0.
    WeightPrepack,
    /// `[B, OH, OW'/16, O'/16, 16, 16]` to `[B,O,OH,OW]`.
    SpatialUnpack,
    /// `[B,H,W,C]` with the zero point before and after each axis.
    Pad,
    /// Matrix in memory by rows or columns, with a stride, to `[rows, columns]`.
    MatrixMap,
    /// `[rows, columns]` to bit planes `[rows, bits, columns/word]`, the first element of a word in its highest bit.
    BitPack,
    /// Bit planes `[rows, bits, columns/word]` to `[rows, columns]`.
    BitUnpack,
    /// `[rows, columns]` to bytes of two nibbles, the first nibble in the low bits.
    NibblePackLow,
    /// `[rows, columns]` to bytes of two nibbles, the first nibble in the high bits.
    NibblePackHigh,
    /// Bytes of two nibbles to `[rows, columns]`, the low nibble first.
    NibbleUnpackLow,
    /// Bytes of two nibbles to `[rows, columns]`, the high nibble first.
    NibbleUnpackHigh,
}

/// Parameters of one transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Params {
    /// Parameters of [`Kind::Im2col`], [`Kind::Unflatten`], [`Kind::WeightPrepack`] and the spatial pack.
    Conv2d(conv2d::Params),
    /// Parameters of the transforms of a matrix: number of matrices, and rows and columns of each.
    Matrix {
        /// Number of consecutive matrices; 1 for weights.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        batches: usize,
        /// Rows of a matrix.
        rows: usize,
        /// Columns of a matrix.
        columns: usize,
    },
    /// Parameters of [`Kind::Pad`].
    Pad(pad::Params),
    /// Parameters of [`Kind::MatrixMap`].
    Map(map::Params),
    /// Parameters of bit planes and nibbles.
    Packed(packing::Params),
}

impl Params {
    /// Calls `run` with the shape of a convolution, as one group of all channels. Callers have checked that a kernel gets parameters of its kind.
    pub(crate) fn conv2d(&self, run: impl FnOnce(&conv2d::Params)) {
        if let Self::Conv2d(params) = self {
            run(&conv2d::Params { groups: 1, ..*params });
        }
    }

    /// Calls `run` with the padding of a tensor.
    pub(crate) fn pad(&self, run: impl FnOnce(&pad::Params)) {
        if let Self::Pad(params) = self {
            run(params);
        }
    }

    /// Calls `run` with the elements and words of a packing.
    pub(crate) fn packed(&self, run: impl FnOnce(&packing::Params)) {
        if let Self::Packed(params) = self {
            run(params);
        }
    }
}

fn one() -> usize {
    1
}

fn is_one(batches: &usize) -> bool {
    *batches == 1
}

/// Parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Kind of transform.
    pub kind: Kind,
}

impl Domain {
    /// Returns the sizes of the input, of two tensors without elements, and of the output. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let sizes = |input, outputs| Sizes { inputs: [input, 0, 0], outputs };
        let takes = |what: &str| Err(shape::broken("params", format!("this transform takes {what}")));
        match (self.kind, params) {
            (_, Params::Conv2d(conv)) if conv.transposed => {
                Err(shape::broken("transposed", "no transform has the layouts of a transposed convolution"))
            }
            (Kind::Im2col, Params::Conv2d(conv)) => {
                let (rows, columns) = conv.output()?;
                let depth = [conv.batches, rows, columns, conv.kernel_h, conv.kernel_w, conv.channels];
                Ok(sizes(conv.sizes()?.inputs[0], shape::elements("im2col", &depth)?))
            }
            (Kind::Unflatten, Params::Conv2d(conv)) => {
                let out = conv.sizes()?.outputs;
                Ok(sizes(out, out))
            }
            (Kind::WeightPrepack, Params::Conv2d(conv)) => {
                let weights = conv2d::Params { groups: 1, ..*conv }.sizes()?.inputs[1];
                let (depth, columns) = (weights / conv.out_channels, conv.out_channels);
                Ok(sizes(weights, shape::elements("blocks", &[padded(depth, DEPTH), padded(columns, ROWS)])?))
            }
            (kind @ (Kind::DataPack | Kind::KernelPack | Kind::SpatialUnpack), Params::Conv2d(conv)) => {
                // All channels, for any number of groups.
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
            (Kind::Pad, Params::Pad(pad)) => pad.sizes(),
            (Kind::MatrixMap, Params::Map(map)) => map.sizes(),
            (kind @ (Kind::BitPack | Kind::BitUnpack), Params::Packed(packed)) => packed.sizes(kind),
            (
                kind @ (Kind::NibblePackLow | Kind::NibblePackHigh | Kind::NibbleUnpackLow | Kind::NibbleUnpackHigh),
                Params::Packed(packed),
            ) => packed.sizes(kind),
            (
                kind @ (Kind::Interleave | Kind::BlockTranspose | Kind::Unpack),
                Params::Matrix { batches, rows, columns },
            ) => {
                if kind == Kind::BlockTranspose && *batches != 1 {
                    return Err(shape::broken("batches", "the weights are one matrix"));
                }
                let batches = positive("batches", *batches)?;
                let (rows, columns) = (positive("rows", *rows)?, positive("columns", *columns)?);
                shape::elements("matrix", &[rows, columns])?;
                let plain = shape::elements("matrix", &[batches, rows, columns])?;
                let blocks = |rows: usize, row_block, columns: usize, column_block| {
                    shape::elements("blocks", &[batches, padded(rows, row_block), padded(columns, column_block)])
                };
                Ok(match kind {
                    Kind::Interleave => sizes(plain, blocks(rows, ROWS, columns, DEPTH)?),
                    Kind::BlockTranspose => sizes(plain, blocks(rows, DEPTH, columns, ROWS)?),
                    _ => sizes(blocks(rows, ROWS, columns, ROWS)?, plain),
                })
            }
            (Kind::Interleave | Kind::BlockTranspose | Kind::Unpack, _) => takes("rows and columns"),
            (Kind::Pad, _) => takes("a tensor and its padding"),
            (Kind::MatrixMap, _) => takes("rows, columns, stride and column_major"),
            (
                Kind::Im2col
                | Kind::Unflatten
                | Kind::DataPack
                | Kind::KernelPack
                | Kind::WeightPrepack
                | Kind::SpatialUnpack,
                _,
            ) => takes("the shape of a convolution"),
            _ => takes("rows, columns, bits and word"),
        }
    }
}

/// Kernel function `run(params, input, out)` on int32 elements. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// Transform under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation of layout transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {}

impl TensorOperation for Transform {
    common_items!(transform);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        (call.code)(call.params, call.tensors[0], call.output);
        Ok(())
    }
}

lookups! {
    im2col: IM2COL;
    blocks: INTERLEAVE BLOCK_TRANSPOSE UNPACK WEIGHT_PREPACK;
    unflatten: UNFLATTEN;
    spatial: DATA_PACK KERNEL_PACK UNPACK;
    pad: REFERENCE IMAGE ONNX CMSIS_NN;
    map: MAP;
    packing: BIT_PACK BIT_UNPACK PACK_LOW PACK_HIGH UNPACK_LOW UNPACK_LOW_NEON UNPACK_HIGH;
}

/// Makes a transform of TVM's convolutions, which all have one source.
const fn kernel(name: &'static str, summary: &'static str, kind: Kind, run: Run) -> Kernel {
    const SOURCE: &str = "RFC on int8 convolution for Arm; apache/tvm python/tvm/topi/arm_cpu/conv2d_gemm.py";
    from(name, summary, kind, SOURCE, run)
}

/// Makes a transform from a source. Without arithmetic no result overflows.
const fn from(name: &'static str, summary: &'static str, kind: Kind, source: &'static str, run: Run) -> Kernel {
    let scheme = match kind {
        Kind::Im2col => "im2col",
        Kind::Interleave => "interleave",
        Kind::BlockTranspose => "block-transpose",
        Kind::Unpack => "unpack",
        Kind::Unflatten => "unflatten",
        Kind::DataPack => "data-pack",
        Kind::KernelPack => "kernel-pack",
        Kind::WeightPrepack => "weight-prepack",
        Kind::SpatialUnpack => "spatial-unpack",
        Kind::Pad => "pad",
        Kind::MatrixMap => "matrix-map",
        Kind::BitPack => "bit-pack",
        Kind::BitUnpack => "bit-unpack",
        Kind::NibblePackLow => "nibble-pack-low",
        Kind::NibblePackHigh => "nibble-pack-high",
        Kind::NibbleUnpackLow => "nibble-unpack-low",
        Kind::NibbleUnpackHigh => "nibble-unpack-high",
    };
    Kernel::scalar(name, summary, Promise { scheme, overflow: Overflow::Wrap }, Domain { kind }, source, run)
}

//! Layout transforms around a convolution by matrix product, padding, and packing of few bits. Except for [`packing`], each output element is an
//! input element or padding. There are two forms: the source of each output element, and, in [`placed`], the destinations of each input element.
//!
//! Source: TVM RFC quantized convolution for armv8, input, weight and output transform. Blocks are 4 rows by 16 elements of
//! the depth.

pub mod map;
pub mod packing;
pub mod pad;
mod placed;

use crate::conv2d::Convolution;
use crate::shape::{self, ShapeError, broken};
use map::Map;
use packing::Packing;
use pad::Pad;

const ROWS: usize = 4;
const DEPTH: usize = 16;
/// Pixels, or output channels, in a tile of the spatial pack.
const TILE: usize = 16;

/// Transform with its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// `[B,H,W,C]` to `[B, OH*OW, KH*KW*C]`, all channels for any number of groups; the zero point outside the image.
    Im2col(Convolution),
    /// `A [batches, rows, columns]` to `[batches, rows'/4, columns'/16, 4, 16]`, padded by 0: `[b,x,y,z,w] = A[b, z+4x, w+16y]`.
    Interleave {
        /// Number of consecutive matrices.
        batches: usize,
        /// Rows, M.
        rows: usize,
        /// Columns, K.
        columns: usize,
    },
    /// `kernel_flat [rows, columns]` to `[columns'/4, rows'/16, 4, 16]`, padded by 0: `[x,y,z,w] = kernel_flat[w+16y, z+4x]`.
    BlockTranspose {
        /// Rows, K.
        rows: usize,
        /// Columns, N.
        columns: usize,
    },
    /// `C_interleaved [batches, rows'/4, columns'/4, 4, 4]` to `[batches, rows, columns]`: `[b,x,y] = C_interleaved[b, x/4, y/4, x%4, y%4]`.
    Unpack {
        /// Number of consecutive matrices.
        batches: usize,
        /// Rows, M.
        rows: usize,
        /// Columns, N.
        columns: usize,
    },
    /// `[B, OH*OW, O]` to `[B,OH,OW,O]`: the same elements in the same order.
    Unflatten(Convolution),
    /// `data [B,C,H,W]` to `[B, OH, OW'/16, C, KH, KW, 16]`: `[b,y,t,c,i,j,v] = data[b, c, y*stride + i*dilation - top, (16t+v)*stride + j*dilation - left]`,
    /// the zero point outside the image, and 0 beyond a row.
    DataPack(Convolution),
    /// `weights [O,C,KH,KW]` to `[O'/16, C, KH, KW, 16]`, padded by 0: `[t,c,i,j,v] = weights[16t+v, c, i, j]`.
    KernelPack(Convolution),
    /// `[KH,KW,C,O]` to `[O'/4, K'/16, 4, 16]`, K = KH*KW*C: `[x,y,z,w] = weights[i, j, c, z + 4x]`, `(i*KW + j)*C + c = w + 16y`.
    WeightPrepack(Convolution),
    /// `tiles [B, OH, OW'/16, O'/16, 16, 16]` to `[B,O,OH,OW]`: `[b,o,y,x] = tiles[b, y, x/16, o/16, x%16, o%16]`.
    SpatialUnpack(Convolution),
    /// `[B,H,W,C]` with padding before and after each axis.
    Pad(Pad),
    /// A matrix in memory by rows or columns, to `[rows, columns]`.
    Map(Map),
    /// Elements of few bits to words, or words to elements.
    Packing(Packing),
}

/// Source of an output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Input element at this index.
    Element(usize),
    /// Padding by 0.
    Zero,
    /// Padding by the input zero point.
    ZeroPoint,
}

impl Source {
    /// Returns the source in a matrix that begins this many elements later.
    fn after(self, elements: usize) -> Self {
        match self {
            Self::Element(at) => Self::Element(elements + at),
            padding => padding,
        }
    }
}

/// Returns the sizes of this many matrices of these sizes.
fn batched(batches: usize, [input, output]: [usize; 2]) -> Result<[usize; 2], ShapeError> {
    shape::positive(&[("batches", batches)])?;
    Ok([shape::elements("matrices", &[batches, input])?, shape::elements("matrices", &[batches, output])?])
}

/// Row-major matrix; elements outside are 0.
struct Matrix {
    rows: usize,
    columns: usize,
}

impl Matrix {
    fn at(&self, row: usize, column: usize) -> Source {
        if row < self.rows && column < self.columns {
            Source::Element(row * self.columns + column)
        } else {
            Source::Zero
        }
    }
}

/// Applies `f` to every index of a tensor of four sizes, in row-major order.
fn tensor(sizes: [usize; 4], f: impl Fn([usize; 4]) -> Source) -> Vec<Source> {
    let [a, b, c, d] = sizes;
    let mut all = Vec::with_capacity(a * b * c * d);
    for i in 0..a {
        for j in 0..b {
            for k in 0..c {
                all.extend((0..d).map(|l| f([i, j, k, l])));
            }
        }
    }
    all
}

impl Transform {
    /// Returns the number of elements of input and output; the error is the invalid argument.
    pub fn check(&self) -> Result<[usize; 2], ShapeError> {
        let matrix = |rows: usize, columns: usize, [row_block, column_block]: [usize; 2]| {
            shape::positive(&[("rows", rows), ("columns", columns)])?;
            let plain = shape::elements("matrix", &[rows, columns])?;
            // Both are at most MAX_ELEMENTS, so rounding up cannot overflow.
            let padded = [rows.next_multiple_of(row_block), columns.next_multiple_of(column_block)];
            Ok([plain, shape::elements("blocks", &padded)?])
        };
        match *self {
            Self::Im2col(p)
            | Self::Unflatten(p)
            | Self::DataPack(p)
            | Self::KernelPack(p)
            | Self::WeightPrepack(p)
            | Self::SpatialUnpack(p)
                if p.transposed =>
            {
                Err(broken("transposed", "no transform has the layouts of a transposed convolution"))
            }
            Self::Im2col(p) => {
                let ([input, ..], (rows, columns)) = (p.check()?, p.output()?);
                let sizes = [p.batches, rows, columns, p.kernel_h, p.kernel_w, p.channels];
                Ok([input, shape::elements("im2col", &sizes)?])
            }
            Self::Unflatten(p) => p.check().map(|[_, _, outputs]| [outputs; 2]),
            Self::DataPack(p) | Self::KernelPack(p) | Self::SpatialUnpack(p) => {
                let p = Convolution { groups: 1, ..p };
                let ([image, weights, outputs], (rows, columns)) = (p.check()?, p.output()?);
                let (depth, tiles) = (weights / p.out_channels, columns.next_multiple_of(TILE));
                let channels = p.out_channels.next_multiple_of(TILE);
                Ok(match self {
                    Self::DataPack(_) => [image, shape::elements("data-pack", &[p.batches, rows, tiles, depth])?],
                    Self::KernelPack(_) => [weights, shape::elements("kernel-pack", &[channels, depth])?],
                    _ => [shape::elements("blocks", &[p.batches, rows, tiles, channels])?, outputs],
                })
            }
            Self::WeightPrepack(p) => {
                let [_, weights, _] = Convolution { groups: 1, ..p }.check()?;
                matrix(weights / p.out_channels, p.out_channels, [DEPTH, ROWS])
            }
            Self::Pad(p) => p.check(),
            Self::Map(p) => p.check(),
            Self::Packing(p) => p.check(),
            Self::Interleave { batches, rows, columns } => batched(batches, matrix(rows, columns, [ROWS, DEPTH])?),
            Self::BlockTranspose { rows, columns } => matrix(rows, columns, [DEPTH, ROWS]),
            Self::Unpack { batches, rows, columns } => {
                let [plain, blocks] = batched(batches, matrix(rows, columns, [ROWS, ROWS])?)?;
                Ok([blocks, plain])
            }
        }
    }

    /// Returns the source of each output element, in order.
    pub fn sources(&self) -> Result<Vec<Source>, ShapeError> {
        let [_, outputs] = self.check()?;
        Ok(match *self {
            Self::Im2col(p) => im2col(&p, p.output()?),
            Self::Unflatten(_) => (0..outputs).map(Source::Element).collect(),
            Self::DataPack(p) => data_pack(&p, p.output()?),
            Self::KernelPack(p) => {
                let depth = p.channels * p.kernel_h * p.kernel_w;
                let filters = Matrix { rows: p.out_channels, columns: depth };
                let blocks = [p.out_channels.div_ceil(TILE), 1, depth, TILE];
                tensor(blocks, |[t, _, d, v]| filters.at(TILE * t + v, d))
            }
            Self::WeightPrepack(p) => {
                let (taps, inputs, outputs) = (p.kernel_h * p.kernel_w, p.channels, p.out_channels);
                let blocks = [outputs.div_ceil(ROWS), (taps * inputs).div_ceil(DEPTH), ROWS, DEPTH];
                tensor(blocks, |[x, y, z, w]| {
                    let (tap, c, o) = ((w + DEPTH * y) / inputs, (w + DEPTH * y) % inputs, z + ROWS * x);
                    if tap < taps && o < outputs {
                        Source::Element((tap * inputs + c) * outputs + o)
                    } else {
                        Source::Zero
                    }
                })
            }
            Self::SpatialUnpack(p) => {
                let (rows, columns) = p.output()?;
                let (tiles, blocks) = (columns.div_ceil(TILE), p.out_channels.div_ceil(TILE));
                tensor([p.batches, p.out_channels, rows, columns], |[b, o, y, x]| {
                    let block = ((b * rows + y) * tiles + x / TILE) * blocks + o / TILE;
                    Source::Element((block * TILE + x % TILE) * TILE + o % TILE)
                })
            }
            Self::Pad(p) => p.sources(),
            Self::Map(p) => p.sources(),
            Self::Packing(_) => return Err(broken("form", "a word holds parts of several elements")),
            Self::Interleave { batches, rows, columns } => {
                let a = Matrix { rows, columns };
                let panels = rows.div_ceil(ROWS);
                let blocks = [batches * panels, columns.div_ceil(DEPTH), ROWS, DEPTH];
                tensor(blocks, |[x, y, z, w]| {
                    a.at(z + ROWS * (x % panels), w + DEPTH * y).after(x / panels * rows * columns)
                })
            }
            Self::BlockTranspose { rows, columns } => {
                let kernel = Matrix { rows, columns };
                let blocks = [columns.div_ceil(ROWS), rows.div_ceil(DEPTH), ROWS, DEPTH];
                tensor(blocks, |[x, y, z, w]| kernel.at(w + DEPTH * y, z + ROWS * x))
            }
            Self::Unpack { batches, rows, columns } => {
                let (panels, blocks) = (rows.div_ceil(ROWS), columns.div_ceil(ROWS));
                let block = |x: usize, y: usize| ((x / ROWS * blocks + y / ROWS) * ROWS + x % ROWS) * ROWS + y % ROWS;
                let matrix = panels * blocks * ROWS * ROWS;
                tensor([1, batches, rows, columns], |[_, b, x, y]| Source::Element(b * matrix + block(x, y)))
            }
        })
    }

    /// Computes the output for an input.
    pub fn expected(&self, input: &[i32]) -> Result<Vec<i32>, ShapeError> {
        shape::length("input", input.len(), self.check()?[0])?;
        if let Self::Packing(p) = self {
            return Ok(p.expected(input));
        }
        let zero_point = match self {
            Self::Im2col(p) | Self::DataPack(p) => p.input_zero_point,
            Self::Pad(p) => p.zero_point,
            _ => 0,
        };
        let value = |source| match source {
            Source::Element(i) => input[i],
            Source::Zero => 0,
            Source::ZeroPoint => zero_point,
        };
        Ok(self.sources()?.into_iter().map(value).collect())
    }
}

/// Lists the sources of im2col, in coordinates of the padded image; positions outside the image are the zero point.
fn im2col(p: &Convolution, (rows, columns): (usize, usize)) -> Vec<Source> {
    let (image_rows, image_columns) = (p.top..p.top + p.height, p.left..p.left + p.width);
    tensor([p.batches, rows * columns, p.kernel_h * p.kernel_w, p.channels], |[b, pixel, tap, c]| {
        let row = pixel / columns * p.stride_h + tap / p.kernel_w * p.dilation_h;
        let column = pixel % columns * p.stride_w + tap % p.kernel_w * p.dilation_w;
        if !image_rows.contains(&row) || !image_columns.contains(&column) {
            return Source::ZeroPoint;
        }
        Source::Element(((b * p.height + row - p.top) * p.width + column - p.left) * p.channels + c)
    })
}

/// Lists the sources of the spatial pack of an NCHW image, in coordinates of the padded image.
fn data_pack(p: &Convolution, (rows, columns): (usize, usize)) -> Vec<Source> {
    let (image_rows, image_columns) = (p.top..p.top + p.height, p.left..p.left + p.width);
    let tiles = columns.div_ceil(TILE);
    tensor([p.batches * rows * tiles, p.channels, p.kernel_h * p.kernel_w, TILE], |[place, c, tap, v]| {
        let (b, y, x) = (place / tiles / rows, place / tiles % rows, place % tiles * TILE + v);
        if x >= columns {
            return Source::Zero;
        }
        let row = y * p.stride_h + tap / p.kernel_w * p.dilation_h;
        let column = x * p.stride_w + tap % p.kernel_w * p.dilation_w;
        if !image_rows.contains(&row) || !image_columns.contains(&column) {
            return Source::ZeroPoint;
        }
        Source::Element(((b * p.channels + c) * p.height + row - p.top) * p.width + column - p.left)
    })
}

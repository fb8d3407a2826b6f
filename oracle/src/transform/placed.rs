//! Transforms in the opposite direction: every input element is copied to its output positions, and all other positions are padding. No index
//! of [`Transform::sources`] is used.

use super::{DEPTH, ROWS, TILE, Transform};
use crate::conv2d::{Convolution, patches};
use crate::shape::{self, ShapeError};

impl Transform {
    /// Computes the output for an input, derived independently of [`Transform::expected`].
    pub fn placed(&self, input: &[i32]) -> Result<Vec<i32>, ShapeError> {
        let [inputs, outputs] = self.check()?;
        shape::length("input", input.len(), inputs)?;
        Ok(match *self {
            Self::Im2col(p) => patches(&p, input).concat(),
            Self::Unflatten(_) => input.to_vec(),
            Self::DataPack(p) => data_pack(&p, p.output()?, input, outputs),
            Self::KernelPack(p) => {
                let depth = inputs / p.out_channels;
                put(input, depth, outputs, |o, d| o / TILE * (TILE * depth) + d * TILE + o % TILE)
            }
            Self::WeightPrepack(p) => {
                // One filter at a time: its elements fill every fourth row of 16 in a panel.
                let (filters, mut out) = (p.out_channels, vec![0; outputs]);
                let panel = ROWS * (inputs / filters).next_multiple_of(DEPTH);
                for o in 0..filters {
                    let rows = out[o / ROWS * panel..][..panel].chunks_mut(DEPTH).skip(o % ROWS).step_by(ROWS);
                    let filter = input.iter().skip(o).step_by(filters);
                    rows.flatten().zip(filter).for_each(|(place, v)| *place = *v);
                }
                out
            }
            Self::SpatialUnpack(p) => {
                let ((rows, columns), mut out) = (p.output()?, vec![0; outputs]);
                let mut tiles = input.chunks(TILE * TILE);
                for line in 0..p.batches * rows {
                    let (b, y) = (line / rows, line % rows);
                    for first in (0..columns).step_by(TILE) {
                        for channel in (0..p.out_channels).step_by(TILE) {
                            let tile = tiles.next().unwrap_or_default();
                            for (i, v) in tile.iter().enumerate() {
                                let (x, o) = (first + i / TILE, channel + i % TILE);
                                if x < columns && o < p.out_channels {
                                    out[((b * p.out_channels + o) * rows + y) * columns + x] = *v;
                                }
                            }
                        }
                    }
                }
                out
            }
            Self::Pad(p) => p.placed(input),
            Self::Map(p) => p.placed(input),
            Self::Packing(p) => p.placed(input),
            Self::Interleave { batches, rows, columns } => {
                // Panels have 4 rows, in blocks of 16 columns. Each matrix begins a new panel.
                let (panel, matrix) = (ROWS * columns.next_multiple_of(DEPTH), outputs / batches);
                put(input, columns, outputs, |line, column| {
                    let row = line % rows;
                    line / rows * matrix
                        + row / ROWS * panel
                        + column / DEPTH * (ROWS * DEPTH)
                        + row % ROWS * DEPTH
                        + column % DEPTH
                })
            }
            Self::BlockTranspose { rows, columns } => {
                let panel = ROWS * rows.next_multiple_of(DEPTH);
                put(input, columns, outputs, |row, column| {
                    column / ROWS * panel + row / DEPTH * (ROWS * DEPTH) + column % ROWS * DEPTH + row % DEPTH
                })
            }
            Self::Unpack { batches, rows, columns } => {
                let (mut out, matrix) = (vec![0; outputs], inputs / batches);
                let (square, panel) = (ROWS * ROWS, ROWS * columns.next_multiple_of(ROWS));
                for (b, i, v) in input.iter().enumerate().map(|(at, v)| (at / matrix, at % matrix, v)) {
                    let row = i / panel * ROWS + i % square / ROWS;
                    let column = i % panel / square * ROWS + i % ROWS;
                    if row < rows && column < columns {
                        out[(b * rows + row) * columns + column] = *v;
                    }
                }
                out
            }
        })
    }
}

/// Copies every element of a matrix of `columns` to its position among `outputs` zeros.
fn put(matrix: &[i32], columns: usize, outputs: usize, place: impl Fn(usize, usize) -> usize) -> Vec<i32> {
    let mut out = vec![0; outputs];
    for (i, v) in matrix.iter().enumerate() {
        out[place(i / columns, i % columns)] = *v;
    }
    out
}

/// Packs an NCHW image: each element is copied to every position at which a filter meets it.
fn data_pack(p: &Convolution, (rows, columns): (usize, usize), image: &[i32], outputs: usize) -> Vec<i32> {
    let (taps, tiles) = (p.kernel_h * p.kernel_w, columns.div_ceil(TILE));
    // Padding first: the zero point in each lane of a pixel.
    let pixel = |i: usize| i / (TILE * taps * p.channels) % tiles * TILE + i % TILE < columns;
    let mut out: Vec<i32> = (0..outputs).map(|i| if pixel(i) { p.input_zero_point } else { 0 }).collect();
    // Position at which filter element `tap` meets a coordinate.
    let meets = |at: usize, tap: usize, [dilation, stride]: [usize; 2], count: usize| {
        let from = at.checked_sub(tap * dilation)?;
        (from.is_multiple_of(stride) && from / stride < count).then_some(from / stride)
    };
    for (i, v) in image.iter().enumerate() {
        let (column, row) = (i % p.width, i / p.width % p.height);
        let (c, b) = (i / p.width / p.height % p.channels, i / p.width / p.height / p.channels);
        for tap in 0..taps {
            let y = meets(row + p.top, tap / p.kernel_w, [p.dilation_h, p.stride_h], rows);
            let x = meets(column + p.left, tap % p.kernel_w, [p.dilation_w, p.stride_w], columns);
            if let (Some(y), Some(x)) = (y, x) {
                let tile = (b * rows + y) * tiles + x / TILE;
                out[((tile * p.channels + c) * taps + tap) * TILE + x % TILE] = *v;
            }
        }
    }
    out
}

//! The transforms the other way round: every element of the input is put where it goes, and what none is put on is padding. No index of
//! [`Transform::sources`] is used.

use super::{DEPTH, ROWS, Transform};
use crate::conv2d::patches;
use crate::shape::{self, ShapeError};

impl Transform {
    /// The output for an input, derived independently of [`Transform::expected`].
    pub fn placed(&self, input: &[i32]) -> Result<Vec<i32>, ShapeError> {
        let [inputs, outputs] = self.check()?;
        shape::length("input", input.len(), inputs)?;
        Ok(match *self {
            Self::Im2col(p) => patches(&p, input).concat(),
            Self::Unflatten(_) => input.to_vec(),
            Self::Interleave { columns, .. } => {
                // Panels of 4 rows, of blocks of 16 columns.
                let panel = ROWS * columns.next_multiple_of(DEPTH);
                put(input, columns, outputs, |row, column| {
                    row / ROWS * panel + column / DEPTH * (ROWS * DEPTH) + row % ROWS * DEPTH + column % DEPTH
                })
            }
            Self::BlockTranspose { rows, columns } => {
                let panel = ROWS * rows.next_multiple_of(DEPTH);
                put(input, columns, outputs, |row, column| {
                    column / ROWS * panel + row / DEPTH * (ROWS * DEPTH) + column % ROWS * DEPTH + row % DEPTH
                })
            }
            Self::Unpack { rows, columns } => {
                let mut out = vec![0; outputs];
                let (square, panel) = (ROWS * ROWS, ROWS * columns.next_multiple_of(ROWS));
                for (i, v) in input.iter().enumerate() {
                    let row = i / panel * ROWS + i % square / ROWS;
                    let column = i % panel / square * ROWS + i % ROWS;
                    if row < rows && column < columns {
                        out[row * columns + column] = *v;
                    }
                }
                out
            }
        })
    }
}

/// Every element of a matrix of `columns` at its place among `outputs` zeros.
fn put(matrix: &[i32], columns: usize, outputs: usize, place: impl Fn(usize, usize) -> usize) -> Vec<i32> {
    let mut out = vec![0; outputs];
    for (i, v) in matrix.iter().enumerate() {
        out[place(i / columns, i % columns)] = *v;
    }
    out
}

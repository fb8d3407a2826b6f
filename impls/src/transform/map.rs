//! gemmlowp's matrix maps: a matrix in memory by rows or by columns, with a stride between them, read row by row.
//!
//! Source: google/gemmlowp public/map.h, `MatrixMap` (`operator()`: `data_[row * rows_stride() + col * cols_stride()]`).

use super::{Kernel, Kind, Params as Any, from};
use crate::shape::{self, ShapeError, Sizes, broken, positive};
use serde::{Deserialize, Serialize};

/// Matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Params {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Elements from the first of a row to the first of the next row, or from column to column if the order is by columns.
    pub stride: usize,
    /// True if the elements of a column are adjacent; otherwise the elements of a row are adjacent.
    pub column_major: bool,
}

impl Params {
    /// Returns the number of rows or columns in memory, and the adjacent elements of each.
    pub fn runs(&self) -> (usize, usize) {
        if self.column_major { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    /// Returns the sizes of input and output. The input ends with its last element, without a gap after the last run. An error names the invalid
    /// argument.
    pub(super) fn sizes(&self) -> Result<Sizes, ShapeError> {
        let (rows, columns) = (positive("rows", self.rows)?, positive("columns", self.columns)?);
        let (runs, len) = self.runs();
        if self.stride < len {
            return Err(broken("stride", format!("{} is less than the {len} adjacent elements", self.stride)));
        }
        let outputs = shape::elements("matrix", &[rows, columns])?;
        let input = shape::elements("stride", &[runs, self.stride])? - (self.stride - len);
        Ok(Sizes { inputs: [input, 0, 0], outputs })
    }
}

pub(super) const MAP: Kernel = from(
    "gemmlowp-matrix-map",
    "gemmlowp MatrixMap: a matrix by rows or by columns, with a stride, read row by row",
    Kind::MatrixMap,
    "google/gemmlowp public/map.h, MatrixMap",
    |params, input, out| {
        let Any::Map(p) = params else { return };
        let strides = if p.column_major { [1, p.stride] } else { [p.stride, 1] };
        read(p, strides, input, out);
    },
);

/// Reads every element by the strides of rows and of columns; an element beyond the memory is 0.
pub(crate) fn read(p: &Params, [of_rows, of_columns]: [usize; 2], input: &[i32], out: &mut [i32]) {
    for (row, out) in out.chunks_exact_mut(p.columns).enumerate() {
        for (column, out) in out.iter_mut().enumerate() {
            *out = input.get(row * of_rows + column * of_columns).copied().unwrap_or(0);
        }
    }
}

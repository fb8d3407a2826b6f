//! Matrix in memory by rows or by columns, with a stride.
//!
//! Source: google/gemmlowp public/map.h, `MatrixMap`.

use super::Source;
use crate::shape::{self, ShapeError, broken};

/// Matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Number of elements from the first of a row to the first of the next row; for column order, from column to column.
    pub stride: usize,
    /// True if the elements of a column are adjacent; otherwise the elements of a row are.
    pub column_major: bool,
}

impl Map {
    /// Returns the number of elements of the memory, up to the last element, and of the matrix; the error is the invalid argument.
    pub(super) fn check(&self) -> Result<[usize; 2], ShapeError> {
        shape::positive(&[("rows", self.rows), ("columns", self.columns)])?;
        let (runs, len) = if self.column_major { (self.columns, self.rows) } else { (self.rows, self.columns) };
        if self.stride < len {
            return Err(broken("stride", format!("{} is less than the {len} adjacent elements", self.stride)));
        }
        let whole = shape::elements("stride", &[runs, self.stride])?;
        Ok([whole - (self.stride - len), shape::elements("matrix", &[self.rows, self.columns])?])
    }

    /// Returns the position in memory of each element of the matrix, row by row.
    pub(super) fn sources(&self) -> Vec<Source> {
        let place = |at: usize| {
            let (row, column) = (at / self.columns, at % self.columns);
            if self.column_major { column * self.stride + row } else { row * self.stride + column }
        };
        (0..self.rows * self.columns).map(|at| Source::Element(place(at))).collect()
    }

    /// Returns the matrix from the runs of the memory, cut to length and, for column order, transposed.
    pub(super) fn placed(&self, input: &[i32]) -> Vec<i32> {
        let runs = input.chunks(self.stride);
        if !self.column_major {
            return runs.flat_map(|run| &run[..self.columns]).copied().collect();
        }
        let columns: Vec<&[i32]> = runs.collect();
        (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
    }
}

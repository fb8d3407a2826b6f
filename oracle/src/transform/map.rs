//! A matrix in memory by rows or by columns, with a stride.
//!
//! Source: google/gemmlowp public/map.h, `MatrixMap`.

use super::Source;
use crate::shape::{self, ShapeError, broken};

/// A matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Elements from the first of a row to the first of the next; of a column if the order is by columns.
    pub stride: usize,
    /// Whether the elements of a column are adjacent; otherwise those of a row are.
    pub column_major: bool,
}

impl Map {
    /// Elements of the memory, which ends with the last element, and of the matrix; or the invalid argument.
    pub(super) fn check(&self) -> Result<[usize; 2], ShapeError> {
        shape::positive(&[("rows", self.rows), ("columns", self.columns)])?;
        let (runs, len) = if self.column_major { (self.columns, self.rows) } else { (self.rows, self.columns) };
        if self.stride < len {
            return Err(broken("stride", format!("{} is less than the {len} adjacent elements", self.stride)));
        }
        let whole = shape::elements("stride", &[runs, self.stride])?;
        Ok([whole - (self.stride - len), shape::elements("matrix", &[self.rows, self.columns])?])
    }

    /// Where each element of the matrix is in memory, row by row.
    pub(super) fn sources(&self) -> Vec<Source> {
        let place = |at: usize| {
            let (row, column) = (at / self.columns, at % self.columns);
            if self.column_major { column * self.stride + row } else { row * self.stride + column }
        };
        (0..self.rows * self.columns).map(|at| Source::Element(place(at))).collect()
    }

    /// The matrix, by the runs of the memory: each is cut off, and those of columns become columns.
    pub(super) fn placed(&self, input: &[i32]) -> Vec<i32> {
        let runs = input.chunks(self.stride);
        if !self.column_major {
            return runs.flat_map(|run| &run[..self.columns]).copied().collect();
        }
        let columns: Vec<&[i32]> = runs.collect();
        (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
    }
}

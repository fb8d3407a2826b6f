//! One row of a product whose raw products pass through narrow lanes, in machine integers, for all columns at once. The values of the lanes
//! are summed, and the offset terms `lhs_offset * sum(rhs) + rhs_offset * sum(lhs) + lhs_offset * rhs_offset * K` are added.

use super::{BLOCK, Narrow};
use crate::pair_sum::PairSum;
use crate::word::Overflow;

/// Adjacent columns of a row-major matrix.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Whole matrix.
    pub(crate) matrix: &'a [i32],
    /// Number of columns of the matrix.
    pub(crate) stride: usize,
    /// First column of the part.
    pub(crate) first: usize,
    /// Number of columns of the part.
    pub(crate) len: usize,
}

impl<'a> Columns<'a> {
    fn row(&self, k: usize) -> &'a [i32] {
        &self.matrix[k * self.stride + self.first..][..self.len]
    }
}

/// Number of blocks whose sum fits in int32: 8 pair sums each, of magnitude below 2^16, stay below 2048 * 8 * 2^16 = 2^30.
const BLOCKS_IN_INT32: usize = 2048;

/// Data shared by all rows of a product.
pub(crate) struct Lanes<'a> {
    narrow: Narrow,
    overflow: Overflow,
    columns: Columns<'a>,
    offsets: [i128; 2],
    /// `lhs_offset * sum(rhs)` of each column.
    column_terms: Vec<i128>,
    /// True if the sum of any two raw products fits in int32.
    pairs_fit: bool,
}

impl<'a> Lanes<'a> {
    /// Prepares the shared data. `pair_bound` is an upper bound of the magnitude of a sum of two raw products.
    pub(crate) fn new(
        narrow: Narrow,
        overflow: Overflow,
        columns: Columns<'a>,
        offsets: [i64; 2],
        pair_bound: u128,
    ) -> Self {
        let mut sums = vec![0i64; columns.len];
        for row in columns.matrix.chunks_exact(columns.stride) {
            sums.iter_mut().zip(&row[columns.first..]).for_each(|(sum, r)| *sum += i64::from(*r));
        }
        let offsets = offsets.map(i128::from);
        let column_terms = sums.into_iter().map(|sum| i128::from(sum) * offsets[0]).collect();
        Self { narrow, overflow, columns, offsets, column_terms, pairs_fit: pair_bound <= i32::MAX as u128 }
    }

    /// Computes the results of one row of raw lhs elements, one for each column.
    pub(crate) fn row(&self, lhs: &[i32], out: &mut [Option<i32>]) {
        use PairSum::*;
        let lanes = match self.narrow {
            Narrow::Quads => self.quads(lhs),
            Narrow::Sum16 => self.sums16(lhs),
            Narrow::Pairs { apart, sum: WrapUnsigned } => self.pairs(lhs, apart, |a, b| WrapUnsigned.of(a, b)),
            Narrow::Pairs { apart, sum: WrapSigned } => self.pairs(lhs, apart, |a, b| WrapSigned.of(a, b)),
            Narrow::Pairs { apart, sum: Saturate } if self.pairs_fit => {
                self.pairs(lhs, apart, |a, b| Saturate.of_narrow(a, b))
            }
            Narrow::Pairs { apart, sum: Saturate } => self.pairs(lhs, apart, |a, b| Saturate.of(a, b)),
        };
        let [lhs_offset, rhs_offset] = self.offsets;
        let sum: i64 = lhs.iter().map(|l| i64::from(*l)).sum();
        let of_row = rhs_offset * (i128::from(sum) + lhs_offset * lhs.len() as i128);
        for ((out, lane), of_column) in out.iter_mut().zip(lanes).zip(&self.column_terms) {
            *out = self.overflow.fit_int32(i128::from(lane) + of_row + of_column);
        }
    }

    /// Computes the sum of all pair sums, for each column.
    fn pairs(&self, lhs: &[i32], apart: usize, pair_sum: impl Fn([i32; 2], [i32; 2]) -> i32) -> Vec<i64> {
        let mut totals = vec![0i64; self.columns.len];
        let mut sums = vec![0i32; self.columns.len];
        for (run, elements) in lhs.chunks(BLOCK * BLOCKS_IN_INT32).enumerate() {
            sums.fill(0);
            for first in (0..elements.len()).filter(|k| (k / apart).is_multiple_of(2)) {
                // A second element after the end is a padded 0, so its row is arbitrary.
                let second = if first + apart < elements.len() { first + apart } else { first };
                let a = [elements[first], if second == first { 0 } else { elements[second] }];
                let row = |k: usize| self.columns.row(run * BLOCK * BLOCKS_IN_INT32 + k);
                for ((sum, b0), b1) in sums.iter_mut().zip(row(first)).zip(row(second)) {
                    *sum += pair_sum(a, [*b0, *b1]);
                }
            }
            totals.iter_mut().zip(&sums).for_each(|(total, sum)| *total += i64::from(*sum));
        }
        totals
    }

    /// Multiplies the low halves of the operands and adds them modulo 2^16, for each column.
    fn sums16(&self, lhs: &[i32]) -> Vec<i64> {
        let mut sums = vec![0i16; self.columns.len];
        for (k, a) in lhs.iter().enumerate() {
            let row = self.columns.row(k).iter();
            sums.iter_mut().zip(row).for_each(|(sum, b)| *sum = sum.wrapping_add((*a as i16).wrapping_mul(*b as i16)));
        }
        sums.into_iter().map(i64::from).collect()
    }

    /// Adds the four saturating lanes modulo 2^32, for each column.
    fn quads(&self, lhs: &[i32]) -> Vec<i64> {
        let mut lanes = vec![[0i32; 4]; self.columns.len];
        for (quad, a) in lhs.chunks(4).enumerate() {
            for (column, lanes) in lanes.iter_mut().enumerate() {
                // 64 bits hold one product, but not always the sum of four.
                let product = |i: usize| i64::from(a[i]) * i64::from(self.columns.row(4 * quad + i)[column]);
                let sum: i128 = (0..a.len()).map(|i| i128::from(product(i))).sum();
                let lane = &mut lanes[quad % 4];
                *lane = (sum + i128::from(*lane)).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            }
        }
        lanes.iter().map(|lanes| lanes.iter().fold(0, |sum: i32, lane| sum.wrapping_add(*lane)).into()).collect()
    }
}

//! Integer matrix multiplication: `out[i,j] = sum over k of (lhs[i,k] + lhs_offset) * (rhs[k,j] + rhs_offset)`, and
//! its result if products pass through narrow lanes.
//!
//! Source of the operation: gemmlowp doc/low-precision.md, steps 1 to 3. lhs is `[M, K]`, rhs `[K, N]`, the result
//! `[M, N]`, all row-major.
//!
//! Narrow lanes receive raw elements, so the result of such a scheme is the exact sum plus the change made by each lane. Raw products and
//! offsets are separate terms: the oracle never expands offsets, and kernels always do.

mod exact;
mod lanes;
pub(crate) mod width;

use crate::pair_sum::PairSum;
use crate::scheme::registered;
use crate::shape::{self, ShapeError};
use rug::Integer;
use width::Extremes;

pub(crate) use exact::{Terms, element, sum};
pub(crate) use lanes::{Columns, Lanes};

/// Elements in a block of the depth: one vector of bytes. An incomplete last block is padded with raw zeros.
pub const BLOCK: usize = 16;

/// Shape and offsets of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// Rows of lhs and of the result.
    pub m: usize,
    /// Columns of rhs and of the result.
    pub n: usize,
    /// Depth: columns of lhs, rows of rhs.
    pub k: usize,
    /// Offset added to each element of lhs.
    pub lhs_offset: i32,
    /// Offset added to each element of rhs.
    pub rhs_offset: i32,
}

/// Narrow lanes through which raw products (without offsets) pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Narrow {
    /// 16-bit lanes, each with the sum of the products of two elements of a [`BLOCK`].
    Pairs {
        /// Distance of the two elements: 1 (elements 2j and 2j+1) or 8 (elements j and j+8).
        apart: usize,
        /// Policy for the sum.
        sum: PairSum,
    },
    /// Four int32 lanes across all blocks. Each lane adds the exact sum of an adjacent quad and saturates. At the end, the lanes are added
    /// modulo 2^32.
    Quads,
    /// One int16 sum of all products, which wraps.
    Sum16,
}

/// Mathematical definition of matrix multiplication, and of convolution over the depth of im2col.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Lanes through which the raw products pass; the offset terms are added exactly. `None` if the whole sum is exact.
    pub narrow: Option<Narrow>,
}

/// Builds an entry of the list: its texts, and its lanes.
macro_rules! matmul {
    ($name:literal, $summary:literal, $source:literal => $narrow:expr) => {
        Definition { name: $name, summary: $summary, source: $source, narrow: $narrow }
    };
}

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    matmul!("exact", "the sum of products of offset elements, in unbounded integers",
        "google/gemmlowp doc/low-precision.md, the low-precision paradigm, steps 1 to 3" => None),
    matmul!("pairs-u16-wrap", "raw products of k and k+8 summed in an unsigned 16-bit lane, wrapping",
        "TVM RFC quantized convolution for armv8, convolution core algorithm: \"umull, umlal2, uadalp\"" => Some(Narrow::Pairs { apart: 8, sum: PairSum::WrapUnsigned })),
    matmul!("pairs-s16-wrap", "raw products of k and k+8 summed in a signed 16-bit lane, wrapping",
        "TVM RFC quantized convolution for armv8, convolution core algorithm: \"smull, smlal2, sadalp\"" => Some(Narrow::Pairs { apart: 8, sum: PairSum::WrapSigned })),
    matmul!("pairs-s16-saturate", "adjacent raw products summed and saturated to signed 16 bits",
        "Intel SDM, VPMADDUBSW" => Some(Narrow::Pairs { apart: 1, sum: PairSum::Saturate })),
    matmul!("quads-32-saturate", "sums of adjacent quads of raw products added to int32 lanes with saturation, the lanes added wrapping",
        "Intel SDM, VPDPBUSDS" => Some(Narrow::Quads)),
    matmul!("sum-s16-wrap", "raw products summed in one signed 16-bit word, wrapping",
        "apache/tvm python/tvm/topi/nn/dense.py, matmul with out_dtype int16" => Some(Narrow::Sum16)),
];

/// Definition with the policy for results beyond int32.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

registered!(|_definition| Vec::new());

impl Product {
    /// Returns the number of elements of lhs, rhs and the result; the error is the invalid argument.
    pub fn check(&self) -> Result<[usize; 3], ShapeError> {
        shape::positive(&[("m", self.m), ("n", self.n), ("k", self.k)])?;
        Ok([
            shape::elements("lhs", &[self.m, self.k])?,
            shape::elements("rhs", &[self.k, self.n])?,
            shape::elements("out", &[self.m, self.n])?,
        ])
    }

    fn check_lengths(&self, lhs: &[i32], rhs: &[i32]) -> Result<usize, ShapeError> {
        let [of_lhs, of_rhs, outputs] = self.check()?;
        shape::length("lhs", lhs.len(), of_lhs)?;
        shape::length("rhs", rhs.len(), of_rhs)?;
        Ok(outputs)
    }

    fn offsets(&self) -> [i64; 2] {
        [self.lhs_offset.into(), self.rhs_offset.into()]
    }

    /// Applies `of` to the terms of each result.
    fn each<T>(&self, lhs: &[i32], rhs: &[i32], of: impl Fn(&Terms) -> T) -> Result<Vec<T>, ShapeError> {
        let mut out = Vec::with_capacity(self.check_lengths(lhs, rhs)?);
        for row in lhs.chunks_exact(self.k) {
            for j in 0..self.n {
                let terms: Terms = row.iter().zip(rhs.iter().skip(j).step_by(self.n)).map(|(l, r)| (*l, *r)).collect();
                out.push(of(&terms));
            }
        }
        Ok(out)
    }

    /// Computes the exact sums by machine integers; `None` for a sum beyond int64.
    pub fn wide_sums(&self, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i64>>, ShapeError> {
        self.check_lengths(lhs, rhs)?;
        Ok(width::matrix_product(self, lhs, rhs, |sum| i64::try_from(sum).ok()))
    }

    /// Computes the exact sums, without a limit on width.
    pub fn sums(&self, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Integer>, ShapeError> {
        self.each(lhs, rhs, |terms| sum(terms, self.offsets()))
    }
}

impl Scheme {
    /// Computes each result by big integers, straight from the definition; `None` if it is out of domain.
    pub fn exact(&self, p: &Product, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        p.each(lhs, rhs, |terms| element(self, terms, p.offsets()))
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`]; `None` if it is out of domain.
    pub fn expected(&self, p: &Product, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        let outputs = p.check_lengths(lhs, rhs)?;
        let (of_lhs, of_rhs) = (Extremes::of(lhs), Extremes::of(rhs));
        let Some(narrow) = self.narrow_for(of_lhs, of_rhs, p.k) else {
            return Ok(width::matrix_product(p, lhs, rhs, |sum| self.overflow.fit_int32(sum)));
        };
        let columns = Columns { matrix: rhs, stride: p.n, first: 0, len: p.n };
        let lanes = Lanes::new(narrow, self.overflow, columns, p.offsets(), width::bound(of_lhs, of_rhs, [0, 0], 2));
        let mut out = vec![None; outputs];
        for (row, out) in lhs.chunks_exact(p.k).zip(out.chunks_exact_mut(p.n)) {
            lanes.row(row, out);
        }
        Ok(out)
    }

    /// Returns the lanes, if these values can make them differ from the exact sum. If `k` raw products cannot leave int32, no lane of
    /// quads saturates and their sum does not wrap; likewise for a sum of 16 bits.
    pub(crate) fn narrow_for(&self, lhs: Extremes, rhs: Extremes, k: usize) -> Option<Narrow> {
        match self.definition.narrow? {
            Narrow::Quads if width::bound(lhs, rhs, [0, 0], k) <= i32::MAX as u128 => None,
            Narrow::Sum16 if width::bound(lhs, rhs, [0, 0], k) <= i16::MAX as u128 => None,
            narrow => Some(narrow),
        }
    }
}

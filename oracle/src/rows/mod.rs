//! Operations on rows of quantized numbers that TensorFlow Lite has, and that its lowering to TOSA refuses if they are quantized: the logarithm of the softmax,
//! `x_i - ln(sum of e^x_j)`, and the L2 normalization, `x_i / sqrt(sum of x_j^2)`. The result is the real one in steps of the output's scale, rounded once to nearest with
//! ties upward, and the output's zero point is added; then it is clamped.
//!
//! Two forms: [`Row::exact`] compares on rationals, with `e^x` enclosed by partial sums of its series, and takes no logarithm or root. [`Row::expected`] computes on
//! machine integers, with a series of the logarithm and an integer root.
//!
//! Source: tensorflow/tensorflow lite/kernels/internal/reference/log_softmax.h LogSoftmax, l2normalization.h L2Normalization, the forms of floats.

mod fast;
mod real;

use crate::elementwise::Operand;
use crate::quantize::Storage;
use rug::Integer;
use std::ops::RangeInclusive;

/// The largest row.
pub const MOST: usize = 1 << 10;
/// Exponents of scales: the largest power of two that is at most the scale.
pub const EXPONENTS: RangeInclusive<i32> = -24..=8;

/// What is computed of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The logarithm of the softmax.
    LogSoftmax,
    /// The L2 normalization. A row of zeros has none.
    L2Normalization,
}

/// Quantization of a row and of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Of the row.
    pub input: Operand,
    /// Of the result.
    pub out: Operand,
    /// Type of both.
    pub storage: Storage,
}

/// Why a row has no definition here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRow {
    /// Its length.
    #[error("a row has 1 to {MOST} elements, not {0}")]
    Length(usize),
    /// A scale.
    #[error("scales are from 2^-24 to below 2^9; pattern {0:#x} is none")]
    Scale(u32),
    /// The type.
    #[error("rows have at most 8 bits, not {0}")]
    Width(u32),
    /// A stored value or a zero point.
    #[error("{0} is no value of the type")]
    Value(i32),
}

impl Row {
    /// The first fault of parameters or row.
    pub fn check(&self, row: &[i32]) -> Result<(), BadRow> {
        if !(1..=MOST).contains(&row.len()) {
            return Err(BadRow::Length(row.len()));
        }
        if !(1..=8).contains(&self.storage.bits) {
            return Err(BadRow::Width(self.storage.bits));
        }
        let exponent = |scale: u32| (scale >> 23) as i32 - 127;
        let scales = [self.input.scale, self.out.scale];
        if let Some(scale) = scales.into_iter().find(|scale| !EXPONENTS.contains(&exponent(*scale))) {
            return Err(BadRow::Scale(scale));
        }
        let stored = self.storage.min()..=self.storage.max();
        let values = row.iter().copied().chain([self.input.zero_point, self.out.zero_point]);
        values.into_iter().find(|v| !stored.contains(&i64::from(*v))).map_or(Ok(()), |v| Err(BadRow::Value(v)))
    }

    /// Each result by rationals; none of a row that has no result.
    pub fn exact(&self, operation: Operation, row: &[i32]) -> Result<Option<Vec<Integer>>, BadRow> {
        self.check(row)?;
        Ok(match operation {
            Operation::LogSoftmax => Some(real::log_softmax(self, row)),
            Operation::L2Normalization => real::l2_normalization(self, row),
        })
    }

    /// Each result by machine integers, derived independently of [`Row::exact`].
    pub fn expected(&self, operation: Operation, row: &[i32]) -> Result<Option<Vec<i32>>, BadRow> {
        self.check(row)?;
        Ok(match operation {
            Operation::LogSoftmax => Some(fast::log_softmax(self, row)),
            Operation::L2Normalization => fast::l2_normalization(self, row),
        })
    }
}

#[cfg(test)]
mod tests;

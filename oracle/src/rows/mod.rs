//! TensorFlow Lite's operations on rows of quantized numbers that the lowering to TOSA rejects for quantized types: the logarithm of the softmax,
//! `x_i - ln(sum of e^x_j)`, and the L2 normalization, `x_i / sqrt(sum of x_j^2)`. The real result in steps of the output's scale is rounded once to
//! nearest with ties up. Then the output's zero point is added, and the sum is clamped.
//!
//! Two forms: [`Row::exact`] compares on rationals, with `e^x` enclosed by partial sums of its series, and without a logarithm or root.
//! [`Row::expected`] computes on machine integers, with a series of the logarithm and an integer root.
//!
//! Source: tensorflow/tensorflow lite/kernels/internal/reference/log_softmax.h LogSoftmax, l2normalization.h L2Normalization, their float forms.

mod fast;
mod real;

use crate::elementwise::Operand;
use crate::quantize::Storage;
use rug::Integer;
use std::ops::RangeInclusive;

/// Largest number of elements in a row.
pub const MOST: usize = 1 << 10;
/// Exponents of scales: the largest power of two that is at most the scale.
pub const EXPONENTS: RangeInclusive<i32> = -24..=8;

/// Operation on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Logarithm of the softmax.
    LogSoftmax,
    /// L2 normalization. A row of zeros has no result.
    L2Normalization,
}

/// Quantization of a row and of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Scale and zero point of the row.
    pub input: Operand,
    /// Scale and zero point of the result.
    pub out: Operand,
    /// Type of row and result.
    pub storage: Storage,
}

/// Reason why a row has no definition here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRow {
    /// Length out of range.
    #[error("a row has 1 to {MOST} elements, not {0}")]
    Length(usize),
    /// Scale out of range.
    #[error("scales are from 2^-24 to below 2^9; pattern {0:#x} is none")]
    Scale(u32),
    /// Type with too many bits.
    #[error("rows have at most 8 bits, not {0}")]
    Width(u32),
    /// Stored value or zero point outside the type.
    #[error("{0} is no value of the type")]
    Value(i32),
}

impl Row {
    /// Checks parameters and row; the error is the first fault.
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

    /// Computes each result by rationals; `None` if the row has no result.
    pub fn exact(&self, operation: Operation, row: &[i32]) -> Result<Option<Vec<Integer>>, BadRow> {
        self.check(row)?;
        Ok(match operation {
            Operation::LogSoftmax => Some(real::log_softmax(self, row)),
            Operation::L2Normalization => real::l2_normalization(self, row),
        })
    }

    /// Computes each result by machine integers, derived independently of [`Row::exact`].
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

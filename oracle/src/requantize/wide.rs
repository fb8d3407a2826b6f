//! Sums of 64 bits with their biases. Every source requires 48 bits; a sum beyond 48 bits has no value.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/common.cc`, `MultiplyByQuantizedMultiplier` of int64; TOSA specification, accumulators of 48 bits.

use crate::word::Word;
use rug::Integer;

const INT48: Word = Word { bits: 48 };
/// Largest value of 48 bits, plus one.
const BEYOND: i128 = 1 << 47;

/// Adds the bias to a sum by big integers; `None` beyond 48 bits.
pub(crate) fn biased_exact(sum: Integer, bias: i64) -> Option<Integer> {
    let biased = sum + bias;
    INT48.holds_exact(&biased).then_some(biased)
}

/// Adds the bias to a sum by machine integers; `None` beyond 48 bits.
pub(crate) fn biased(sum: i64, bias: i64) -> Option<i64> {
    let biased = i128::from(sum) + i128::from(bias);
    (-BEYOND..BEYOND).contains(&biased).then_some(biased as i64)
}

//! Sums of 64 bits with their biases. Every source requires that they fit in 48 bits; beyond, there is no value.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/common.cc`, `MultiplyByQuantizedMultiplier` of int64; TOSA specification, accumulators of 48 bits.

use crate::word::Word;
use rug::Integer;

const INT48: Word = Word { bits: 48 };
/// The largest value of 48 bits, and one.
const BEYOND: i128 = 1 << 47;

/// A sum with its bias by big integers.
pub(crate) fn biased_exact(sum: Integer, bias: i64) -> Option<Integer> {
    let biased = sum + bias;
    INT48.holds_exact(&biased).then_some(biased)
}

/// The same by machine integers.
pub(crate) fn biased(sum: i64, bias: i64) -> Option<i64> {
    let biased = i128::from(sum) + i128::from(bias);
    (-BEYOND..BEYOND).contains(&biased).then_some(biased as i64)
}

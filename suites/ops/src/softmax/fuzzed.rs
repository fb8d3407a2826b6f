//! Softmaxes made from a fuzzer's numbers.

use super::Softmax;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::softmax::{Domain, Params};

impl Fuzzed for Softmax {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let left_shift = numbers.of(0..=30);
        let least = -(1i64 << (31 - left_shift));
        Params {
            input: domain.input,
            output: domain.output,
            rows: numbers.size(3),
            depth: numbers.size(20),
            multiplier: numbers.int32() & ((1 << 30) - 1) | 1 << 30,
            left_shift,
            diff_min: numbers.of((least.max(-256) as i32)..=0),
        }
    }
}

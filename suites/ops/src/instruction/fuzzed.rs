//! Vectors made from a fuzzer's numbers.

use super::Instruction;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use tiebreak_impls::instruction::{Domain, Params};

impl Fuzzed for Instruction {
    fn params(_: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params { vectors: numbers.size(5) }
    }
}

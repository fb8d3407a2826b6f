//! Vectors made from a fuzzer's numbers.

use super::Instruction;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::instruction::{Domain, Params};

impl Fuzzed for Instruction {
    fn params(_: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params { vectors: numbers.size(5) }
    }
}

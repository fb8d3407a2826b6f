//! Matrix products of a fuzzer's numbers.

use super::Matmul;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use tiebreak_impls::matmul::{Domain, Params};

impl Fuzzed for Matmul {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params {
            m: numbers.size(9),
            n: numbers.size(9),
            k: numbers.size(70).min(*domain.depth.end()),
            lhs_offset: numbers.int32(),
            rhs_offset: numbers.int32(),
        }
    }
}

//! Dot-product steps made from a fuzzer's numbers.

use super::Dot;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use tiebreak_impls::dot::{Domain, Params};

impl Fuzzed for Dot {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params { len: domain.results * numbers.size(9) }
    }
}

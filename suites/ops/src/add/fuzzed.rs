//! Sums of a fuzzer's numbers.

use super::Add;
use crate::elementwise;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use tiebreak_impls::add::{Domain, Params};

impl Fuzzed for Add {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        elementwise::fuzzed::params(domain.element, domain.clamp, numbers)
    }
}

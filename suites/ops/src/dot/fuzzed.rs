//! Dot-product steps made from a fuzzer's numbers.

use super::Dot;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::dot::{Domain, Params};

impl Fuzzed for Dot {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params { len: domain.results * numbers.size(9) }
    }
}

//! Exponentials made from a fuzzer's numbers.

use super::Exp;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::exp::{Domain, Params};

impl Fuzzed for Exp {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params { len: numbers.size(20), integer_bits: numbers.of(domain.integer_bits.clone()) }
    }
}

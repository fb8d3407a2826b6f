//! Matrix products made from a fuzzer's numbers.

use super::Matmul;
use crate::fuzzing::{Fuzzed, Numbers};
use std::ops::RangeInclusive;
use tiebreak_impls::matmul::{Domain, Params};

impl Fuzzed for Matmul {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        Params {
            m: numbers.size(9),
            n: numbers.size(9),
            k: numbers.size(70).min(*domain.depth.end()),
            lhs_offset: within(numbers.int32(), &domain.lhs_offsets),
            rhs_offset: within(numbers.int32(), &domain.rhs_offsets),
        }
    }
}

/// Returns the number if a kernel accepts it as an offset, otherwise an accepted offset.
fn within(number: i32, offsets: &RangeInclusive<i32>) -> i32 {
    let (first, last) = (i64::from(*offsets.start()), i64::from(*offsets.end()));
    let place = (i64::from(number) - first).rem_euclid(last - first + 1);
    i32::try_from(first + place).unwrap_or(*offsets.start())
}

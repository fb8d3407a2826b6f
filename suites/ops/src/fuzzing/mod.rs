//! The logic of the fuzz targets, which themselves are only glue.

pub mod fpm;
pub mod numbers;
mod quant_type;
pub mod seeds;
pub mod tensor;
pub mod texts;

use std::ops::RangeInclusive;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::Channel;

pub use quant_type::quant_type;

/// `n` where it is in the range, otherwise something that is.
pub fn within(n: i32, range: RangeInclusive<i32>) -> i32 {
    let (lo, hi) = range.into_inner();
    if (lo..=hi).contains(&n) {
        n
    } else {
        (i64::from(lo) + i64::from(n).rem_euclid(i64::from(hi) - i64::from(lo) + 1)) as i32
    }
}

/// The channel where the domain holds it, otherwise one that it does.
pub fn moved(m: i32, s: i32, domain: &Domain) -> Channel {
    use tiebreak_common::parameters::SHIFTS;
    let shifts = *domain.shifts.start().max(SHIFTS.start())..=*domain.shifts.end().min(SHIFTS.end());
    let multiplier = within(m, domain.multipliers.clone());
    Channel { multiplier: multiplier - multiplier % domain.multiple_of, shift: within(s, shifts) }
}

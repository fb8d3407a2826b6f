//! The logic of the fuzz targets, which themselves are only glue.

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

/// The channel where the domain holds it with so many fractional bits, otherwise one that it does.
pub fn moved(m: i32, s: i32, q: u32, domain: &Domain) -> Channel {
    use tiebreak_common::parameters::SHIFTS;
    let (q, right) = (i64::from(q), &domain.right_shifts);
    let least = (q - i64::from(*right.end())).max(i64::from(*domain.shifts.start().max(SHIFTS.start())));
    let most = (q - i64::from(*right.start())).min(i64::from(*domain.shifts.end().min(SHIFTS.end())));
    let shifts = least as i32..=most as i32;
    let multiplier = within(m, domain.multipliers.clone());
    Channel { multiplier: multiplier - multiplier % domain.multiple_of, shift: within(s, shifts) }
}

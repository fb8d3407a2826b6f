//! Logic of the fuzz targets.

pub mod cases;
pub mod numbers;
mod quant_type;
pub mod seeds;
pub mod tensor;

use std::ops::RangeInclusive;
use std::sync::OnceLock;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::Channel;

pub use numbers::Numbers;
pub use quant_type::quant_type;
pub use tensor::Fuzzed;

/// Returns the kernel named by `--kernel=NAME` on the command line of a fuzz target: libFuzzer leaves flags with two dashes to the target.
pub fn chosen_kernel() -> Option<&'static str> {
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    let named = || std::env::args().find_map(|argument| argument.strip_prefix("--kernel=").map(str::to_owned));
    CHOSEN.get_or_init(named).as_deref()
}

/// Checks that a reader that refuses a text gives a message.
pub fn refused<T, E: ToString>(read: Result<T, E>) {
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}

/// Returns `n` if it is in the range, otherwise a value in the range.
pub fn within(n: i32, range: RangeInclusive<i32>) -> i32 {
    let (lo, hi) = range.into_inner();
    if (lo..=hi).contains(&n) {
        n
    } else {
        (i64::from(lo) + i64::from(n).rem_euclid(i64::from(hi) - i64::from(lo) + 1)) as i32
    }
}

/// Returns the channel if the domain contains it in this format, otherwise a channel in the domain.
pub fn moved(m: i32, s: i32, q: u32, domain: &Domain) -> Channel {
    use tiebreak_common::parameters::SHIFTS;
    let (q, right) = (i64::from(q), &domain.right_shifts);
    let least = (q - i64::from(*right.end())).max(i64::from(*domain.shifts.start().max(SHIFTS.start())));
    let most = (q - i64::from(*right.start())).min(i64::from(*domain.shifts.end().min(SHIFTS.end())));
    let shifts = least as i32..=most as i32;
    let multiplier = within(m, domain.multipliers.clone());
    Channel { multiplier: multiplier - multiplier % domain.multiple_of, shift: within(s, shifts) }
}

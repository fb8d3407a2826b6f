//! Batches made from a fuzzer's numbers.

use super::FixedPointMultiply;
use crate::fuzzing::{Fuzzed, Numbers, moved, within};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Params};
use tiebreak_reports::ledger;

impl Fuzzed for FixedPointMultiply {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Batch {
        let count = if domain.per_channel { numbers.size(5) } else { 1 };
        let q = within(numbers.byte().into(), *domain.q.start() as i32..=*domain.q.end() as i32) as u32;
        let channels = (0..count).map(|_| moved(numbers.int32(), numbers.byte() as i8 as i32, q, domain)).collect();
        Batch { params: Params { q, channels }, len: numbers.size(41) - 1 }
    }

    fn explained(case: &ledger::Case, kernel: &str, _: &str) -> Option<String> {
        Some(format!("fpm --kernel {kernel} {}", Self::command(case)))
    }
}

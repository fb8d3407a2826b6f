//! Fault rate that a run excludes. Each call was judged, so a fault that occurs at random at a higher rate would have been seen.

use crate::ledger::{Against, Ledger, Row};
use crate::text::{count, plural};
use std::collections::BTreeMap;

/// -ln(1 - 0.95). After n calls without a fault, each rate above `NATS / n` is excluded at 95 %.
const NATS: f64 = 2.995_732_273_553_991;

/// Returns the n of `no fault in more than 1 of n calls`, at 95 %; `None` if there are too few calls to exclude any rate.
pub fn excluded(calls: u64) -> Option<u64> {
    let n = (calls as f64 / NATS).floor() as u64;
    (n > 1).then_some(n)
}

/// Returns the rows with a rate: contract rows with calls and without a difference.
fn rows(ledger: &Ledger) -> impl Iterator<Item = &Row> {
    let counted = |row: &&Row| row.against == Against::Contract && row.calls > 0 && row.differ == 0;
    ledger.rows.iter().filter(counted)
}

/// `at least 612 calls per kernel and lane: at 95 %, random faults are rarer than 1 in 204`.
pub(crate) fn sentence(ledger: &Ledger) -> Option<String> {
    let least = rows(ledger).map(|row| row.calls).min()?;
    let calls = count(least);
    let excludes = match excluded(least) {
        Some(n) => format!("at 95 %, random faults are rarer than 1 in {}", count(n)),
        None => "too few to exclude any rate of faults".to_owned(),
    };
    Some(format!("at least {calls} calls per kernel and lane: {excludes}"))
}

/// Calls of each kernel in each lane, with the excluded rate of faults.
pub(crate) fn lines(ledger: &Ledger) -> Vec<String> {
    let mut kernels: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows(ledger) {
        kernels.entry((&row.op, &row.kernel)).or_default().push(row);
    }
    let lane = |row: &&Row| {
        let rate = excluded(row.calls).map_or_else(|| "no rate".to_owned(), |n| format!("more than 1 in {}", count(n)));
        format!("{} {}, {rate}", row.lane, plural(row.calls as usize, "call"))
    };
    let line = |((op, kernel), rows): (&(&str, &str), &Vec<&Row>)| {
        format!("{op} {kernel}: {}", rows.iter().map(lane).collect::<Vec<_>>().join("; "))
    };
    kernels.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::excluded;

    /// A run without a fault has a probability of at most 5 % at the excluded rate, and of more at smaller rates.
    #[test]
    fn a_rate_is_excluded_at_95_percent() {
        for calls in [9u64, 64, 612, 100_000, 16_777_216] {
            let n = excluded(calls).expect("enough calls") as f64;
            let unseen = |n: f64| (1.0 - 1.0 / n).powf(calls as f64);
            assert!(unseen(n) <= 0.05, "{calls} calls, 1 in {n}");
            assert!((-(calls as f64) / (n + 1.0)).exp() > 0.05, "{calls} calls exclude more than 1 in {n}");
        }
        assert_eq!([0, 1, 5].map(excluded), [None; 3]);
    }
}

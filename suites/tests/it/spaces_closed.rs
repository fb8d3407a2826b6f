//! Counts of the space q31 for ties-up and sqrdmulh-srshl without a census: residues of the product if every residue is equally frequent, and
//! divisions if the product wraps around only a few times.
//!
//! With `p = x * m` and `k = 31 - s`, the two differ, by one, exactly if `p mod 2^k` is in `[2^(k-1) - 2^30, 2^(k-1))`
//! (`docs/src/double-rounding.md`).

use crate::common::workspace;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::space::{Ledger, Place};
use tiebreak_suites::space::count;

fn counted(shift: i32, from: i32, to: i32) -> u128 {
    let scheme = |name| Scheme::parse(name).expect("a scheme");
    count(scheme("ties-up"), scheme("sqrdmulh-srshl"), Place { shift, from, to }).expect("a closed form").differ.0
}

/// `m = odd * 2^v`: if `k - v <= 32`, x takes every residue of `2^(k-v)` equally often, so `p mod 2^k` takes each multiple of `2^v` equally often.
/// The interval begins and ends at multiples of `2^v`, so a share of `2^(30-k)` of all 2^32 accumulators differs: `2^(62-k)`, for any m. At s = -1 (k
/// = 32) this applies to every multiplier: 2^30 of each, and 2^60 of all.
#[test]
fn the_residues_of_the_product_give_the_same_count() {
    for (k, v) in [(32, 0), (32, 5), (33, 1), (36, 4), (39, 7), (45, 13), (50, 18), (60, 28), (62, 30)] {
        for odd in [1_i64 << (30 - v), (1 << (30 - v)) + 1, (1 << (31 - v)) - 1] {
            let m = (odd << v) as i32;
            if m.trailing_zeros() >= v && m >= 1 << 30 {
                assert_eq!(counted(31 - k, m, m), 1 << (62 - k), "k={k} m={m}");
            }
        }
    }
    assert_eq!(counted(-1, 1 << 30, (1 << 30) + 9_999), 10_000 << 30);
}

/// Counts accumulators with `x * m` in `[j * 2^k + 2^(k-1) - 2^30, j * 2^k + 2^(k-1))`, with two divisions for every j that a product reaches.
fn by_division(k: u32, m: i64) -> u128 {
    let (x_min, x_max) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let below = |end: i128| ((end - 1).div_euclid(m.into())).clamp(i128::from(x_min) - 1, x_max.into());
    let around = (1_i128 << 62) >> k;
    let ends = (-around - 1..=around + 1).map(|j| (j << k) + (1 << (k - 1)));
    ends.map(|end| (below(end) - below(end - (1 << 30))) as u128).sum()
}

#[test]
fn divisions_give_the_same_count() {
    for shift in [-31, -30, -29, -25] {
        for from in [1 << 30, 1_395_864_000, i32::MAX - 4_095] {
            let divided: u128 = (from..=from + 4_095).map(|m| by_division((31 - shift) as u32, m.into())).sum();
            assert_eq!(counted(shift, from, from + 4_095), divided, "shift {shift}, multipliers from {from}");
        }
    }
}

/// Returns the published shifts, by file.
fn published() -> Vec<(std::path::PathBuf, Ledger)> {
    let directory = workspace().join("reports/published/2026-11-26-space-q31");
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    files.sort();
    let read = |path: std::path::PathBuf| {
        let output = std::process::Command::new("gzip").arg("-dc").arg(&path).output().expect("gzip starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let ledger = Ledger::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, ledger)
    };
    files.into_iter().map(read).collect()
}

/// Every product with bit 30 set differs at exactly one shift, except -2^30: see the page.
#[test]
fn the_whole_space_has_the_sum_of_the_closed_form() {
    let all = published();
    let sum: u128 = all.iter().map(|(_, ledger)| ledger.total().differ.0).sum();
    assert_eq!((all.len(), sum), (32, (1 << 61) - 1));
}

/// Each published shift is whole, and its page has its sums. One of its chunks, a different one for each shift, is counted again.
#[test]
fn published_shifts_are_whole_and_can_be_counted_again() {
    let all = published();
    let page = workspace().join("reports/published/2026-11-26-space-q31/README.md");
    let page = std::fs::read_to_string(page).expect("a page");
    assert_eq!(all.len(), 32);
    for (path, ledger) in &all {
        let (plan, total) = (&ledger.plan, ledger.total());
        let [shift, last] = plan.shifts;
        assert_eq!((shift, plan.multipliers, total.pairs), (last, [1 << 30, i32::MAX], 1 << 30), "{}", path.display());
        let row = format!("| {shift} | {} |", tiebreak_reports::text::big_count(total.differ.0));
        assert!(page.contains(&row), "the page lacks `{row}`");
        let chunk = &ledger.chunks[shift.unsigned_abs() as usize * 31 % ledger.chunks.len()];
        assert_eq!(counted(shift, chunk.place.from, chunk.place.to), chunk.sums.differ.0, "{:?}", chunk.place);
    }
    let of =
        |shift: i32| all.iter().find(|(_, ledger)| ledger.plan.shifts[0] == shift).map(|(_, l)| l.total().differ.0);
    // By residues: 2^30 accumulators for each of 2^30 multipliers.
    assert_eq!(of(-1), Some(1 << 60));
    assert_eq!(of(0), Some(0));
}

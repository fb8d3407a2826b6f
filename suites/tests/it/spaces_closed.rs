//! Counts of the space q31 for ties-up and sqrdmulh-srshl by other ways than a census: residues of the product where every residue is there equally often,
//! and divisions where the product goes around few times.
//!
//! With `p = x * m` and `k = 31 - s` the two differ, by one, exactly where `p mod 2^k` is in `[2^(k-1) - 2^30, 2^(k-1))` (`docs/src/double-rounding.md`).

use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::space::Place;
use tiebreak_suites::space::count;

fn counted(shift: i32, from: i32, to: i32) -> u128 {
    let scheme = |name| Scheme::parse(name).expect("a scheme");
    count(scheme("ties-up"), scheme("sqrdmulh-srshl"), Place { shift, from, to }).expect("a closed form").differ.0
}

/// `m = odd * 2^v`: where `k - v <= 32`, x goes through every residue of `2^(k-v)` equally often, so that `p mod 2^k` is each multiple of `2^v` equally often.
/// The interval begins and ends on multiples of `2^v`, so that a share of `2^(30-k)` of all 2^32 accumulators differs: `2^(62-k)`, whatever m is. At s = -1
/// (k = 32) this is every multiplier: 2^30 of each, and 2^60 of all.
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

/// Accumulators with `x * m` in `[j * 2^k + 2^(k-1) - 2^30, j * 2^k + 2^(k-1))`, for every j that a product reaches: two divisions each.
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

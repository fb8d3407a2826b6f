//! Statements of docs/src/double-rounding.md about two roundings that differ from one: every (x, m, s) at small widths, censuses at 32 bits.
//!
//! Q is the width of the fraction, one less than the width of the word; `e = -s`; P is the product. Formulas are written out here in i128.

use tiebreak_oracle::census::{Census, Residues};
use tiebreak_oracle::fpm::{Parameters, Scheme};

const WIDTHS: std::ops::RangeInclusive<u32> = 3..=9;

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).expect("a scheme")
}

/// Computes `v / 2^k`, ties up.
fn up(v: i128, k: u32) -> i128 {
    if k == 0 { v } else { (v + (1 << (k - 1))) >> k }
}

/// Input for a word of `q + 1` bits.
#[derive(Clone, Copy)]
struct At {
    x: i64,
    m: i64,
    s: i32,
    q: u32,
}

impl At {
    fn value(&self, scheme: &Scheme) -> Option<i64> {
        scheme.fast(self.x, &Parameters::narrow(self.m, self.s, self.q + 1))
    }

    fn product(&self) -> i128 {
        i128::from(self.x) * i128::from(self.m)
    }

    fn is_min_min(&self) -> bool {
        let min = -(1i64 << self.q);
        self.x == min && self.m == min
    }

    /// Returns the product modulo `2^(q+e)`, and `h`, half of this modulus.
    fn residue(&self) -> (i128, i128) {
        let bits = self.q + self.s.unsigned_abs();
        (self.product().rem_euclid(1 << bits), 1 << (bits - 1))
    }
}

/// Checks every input with a shift of `shifts(q)`.
fn every(shifts: impl Fn(i32) -> std::ops::RangeInclusive<i32>, mut check: impl FnMut(At)) {
    let mut inputs = 0u64;
    for q in WIDTHS.map(|bits| bits - 1) {
        let half = 1i64 << q;
        for s in shifts(q as i32) {
            for (x, m) in (-half..half).flat_map(|x| (-half..half).map(move |m| (x, m))) {
                check(At { x, m, s, q });
                inputs += 1;
            }
        }
    }
    assert!(inputs > 10_000, "{inputs}");
}

/// Returns the shifts of `1..=Q` places to the right.
fn right(q: i32) -> std::ops::RangeInclusive<i32> {
    -q..=-1
}

#[test]
fn two_floors_are_one() {
    let double = scheme("sqrdmulh-srshl");
    every(right, |at| {
        let e = at.s.unsigned_abs();
        let one_floor = (at.product() + (1 << (at.q - 1)) + (1 << (at.q + e - 1))) >> (at.q + e);
        assert_eq!(at.value(&double).map(i128::from), Some(one_floor), "x={} m={} s={} Q={}", at.x, at.m, at.s, at.q);
    });
}

#[test]
fn set_of_sqrdmulh_srshl() {
    let (single, double) = (scheme("ties-up"), scheme("sqrdmulh-srshl"));
    every(right, |at| {
        let (r, h) = at.residue();
        let inside = (h - (1 << (at.q - 1))..h).contains(&r);
        let delta = at.value(&double).zip(at.value(&single)).map(|(d, s)| d - s);
        assert_eq!(delta, Some(i64::from(inside)), "x={} m={} s={} Q={}", at.x, at.m, at.s, at.q);
    });
}

#[test]
fn set_of_gemmlowp_double() {
    let (single, double) = (scheme("ties-up"), scheme("gemmlowp-double"));
    every(right, |at| {
        let (r, h) = at.residue();
        let quarter = 1 << (at.q - 1);
        let expected = if at.product() >= 0 {
            i64::from((h - quarter..h).contains(&r))
        } else {
            -i64::from((h..h + quarter).contains(&r))
        };
        let delta = at.value(&double).zip(at.value(&single)).map(|(d, s)| d - s);
        assert_eq!(delta, Some(expected), "x={} m={} s={} Q={}", at.x, at.m, at.s, at.q);
    });
}

/// The only product that saturates: before a right shift the saturation has no effect.
#[test]
fn saturation_does_not_show_behind_a_right_shift() {
    for q in 2..=31u32 {
        let min = -(1i64 << q);
        for e in 0..=q as i32 {
            let at = At { x: min, m: min, s: -e, q };
            assert!(at.is_min_min());
            let [single, srshl, gemmlowp] =
                ["ties-up", "sqrdmulh-srshl", "gemmlowp-double"].map(|n| at.value(&scheme(n)));
            if e == 0 {
                assert_eq!((single, srshl, gemmlowp), (None, Some(-min - 1), Some(-min - 1)));
            } else {
                assert_eq!((single, srshl, gemmlowp), (Some(-min >> e), Some(-min >> e), Some(-min >> e)));
            }
        }
    }
}

#[test]
fn no_shift_no_difference() {
    let names = ["sqrdmulh-srshl", "gemmlowp-double"].map(scheme);
    let single = scheme("ties-up");
    every(
        |_| 0..=0,
        |at| {
            for double in &names {
                let expected = if at.is_min_min() { Some((1 << at.q) - 1) } else { at.value(&single) };
                assert_eq!(at.value(double), expected, "x={} m={} Q={}", at.x, at.m, at.q);
            }
        },
    );
}

/// After a left shift that wraps by `t` words, the result is smaller by `2*t*m`, in the word.
#[test]
fn left_shifts_differ_where_they_wrap() {
    let names = ["sqrdmulh-srshl", "gemmlowp-double"].map(scheme);
    let (single, min) = (scheme("ties-up"), |q: u32| -(1i128 << q));
    every(
        |q| 1..=q,
        |at| {
            let shifted = i128::from(at.x) << at.s;
            let turns = up(shifted, at.q + 1);
            let wrapped = shifted - (turns << (at.q + 1));
            let Some(one) = at.value(&single) else { return };
            let saturated = i128::from(wrapped == min(at.q) && i128::from(at.m) == min(at.q));
            let expected = i128::from(one) - 2 * turns * i128::from(at.m) - saturated;
            for double in &names {
                assert_eq!(
                    at.value(double).map(i128::from),
                    Some(expected),
                    "x={} m={} s={} Q={}",
                    at.x,
                    at.m,
                    at.s,
                    at.q
                );
            }
        },
    );
}

/// True if the set of a scheme is empty at a multiplier; `None` if that depends on more than its magnitude.
fn is_identical(name: &str, m: i64, e: u32, q: u32) -> Option<bool> {
    match m.unsigned_abs() {
        small if small < 1 << (e - 1) => Some(true),
        middle if middle <= 1 << (q - 1) => Some(false),
        _ if m == -(1 << q) => Some(name == "sqrdmulh-srshl"),
        _ => None,
    }
}

#[test]
fn identical_multipliers() {
    for name in ["sqrdmulh-srshl", "gemmlowp-double"] {
        let mut large = [0, 0];
        for q in WIDTHS.map(|bits| bits - 1) {
            let half = 1i64 << q;
            for (m, e) in (-half..half).flat_map(|m| (1..=q).map(move |e| (m, e))) {
                let census = Census::of(scheme("ties-up"), scheme(name), Parameters::narrow(m, -(e as i32), q + 1));
                let same = !(-half..half).any(|x| census.differs(x));
                match is_identical(name, m, e, q) {
                    Some(expected) => assert_eq!(same, expected, "{name} m={m} e={e} Q={q}"),
                    None => large[usize::from(same)] += 1,
                }
            }
        }
        // Large multipliers of gemmlowp-double are of both kinds.
        assert!(large[0] > 1000 && (large[1] > 10) == (name == "gemmlowp-double"), "{name}: {large:?}");
    }
}

/// One place to the right and an odd multiplier: residues are a permutation of all accumulators, and one quarter differs.
#[test]
fn a_quarter_of_all_accumulators() {
    for q in 2..=31u32 {
        for m in [1, 3, -1, (1i64 << q) - 1, 1 - (1i64 << q)] {
            let census = Census::of(scheme("ties-up"), scheme("sqrdmulh-srshl"), Parameters::narrow(m, -1, q + 1));
            let counts = census.counts().expect("it folds");
            assert_eq!((counts.inputs, counts.differ()), (1 << (q + 1), 1 << (q - 1)), "m={m} Q={q}");
        }
        let signed = Census::of(scheme("ties-up"), scheme("gemmlowp-double"), Parameters::narrow(1, -1, q + 1));
        assert_eq!(signed.counts().map(|c| c.differ()), Some(1 << q), "Q={q}");
    }
}

/// In a period of residues, `2^(Q+e)` accumulators at an odd multiplier, `2^(Q-1)` differ: the rate is `2^-(e+1)`.
#[test]
fn rate_over_a_period() {
    for (q, e) in (2..=7u32).flat_map(|q| (1..=q).map(move |e| (q, e))) {
        let (h, modulus) = (1i64 << (q + e - 1), 1i64 << (q + e));
        for m in (1..1 << q).step_by(2) {
            let inside = |x: &i64| (h - (1 << (q - 1))..h).contains(&(x * m).rem_euclid(modulus));
            assert_eq!((0..modulus).filter(inside).count(), 1 << (q - 1), "m={m} e={e} Q={q}");
        }
    }
}

const MULTIPLIERS: [i32; 17] = [
    0,
    1,
    -1,
    3,
    -5,
    1 << 16,
    (1 << 30) - 1,
    1 << 30,
    (1 << 30) + 1,
    -(1 << 30),
    i32::MAX,
    i32::MIN,
    i32::MIN + 1,
    0x5555_5555,
    1_395_864_371,
    -1_395_864_371,
    1_518_500_250,
];

/// Sets counted as residues, and differences counted by census, for all 2^32 accumulators, 31 shifts and these multipliers.
#[test]
fn censuses_at_32_bits() {
    let min = i64::from(i32::MIN);
    for (m, e) in MULTIPLIERS.into_iter().flat_map(|m| (1..=31u32).map(move |e| (m, e))) {
        let h = 1u64 << (30 + e);
        let window = |lo, hi| Residues { a: m.into(), c: 0, m: 2 * h, lo, hi };
        let (below, above) = (window(h - (1 << 30), h - 1), window(h, h + (1 << 30) - 1));
        let by_delta = |name| {
            let census = Census::of(scheme("ties-up"), scheme(name), Parameters::q31(m, -(e as i32)));
            let counts = census.counts().expect("it folds");
            assert_eq!((counts.inputs, counts.far()), (1 << 32, 0));
            counts.by_delta().collect::<Vec<_>>()
        };
        let counted =
            |up: u64, down: u64| [(-1, down), (1, up)].into_iter().filter(|(_, n)| *n > 0).collect::<Vec<_>>();
        assert_eq!(by_delta("sqrdmulh-srshl"), counted(below.count(min..=-1 - min), 0), "m={m} e={e}");
        // Accumulators for each sign of the product; 0 counts as positive and is in neither set.
        let (positive, negative) = if m >= 0 { (0..=-1 - min, min..=-1) } else { (min..=0, 1..=-1 - min) };
        let expected = counted(below.count(positive), above.count(negative));
        assert_eq!(by_delta("gemmlowp-double"), expected, "m={m} e={e}");
        for (name, empty) in [("sqrdmulh-srshl", by_delta("sqrdmulh-srshl")), ("gemmlowp-double", expected)] {
            let known = is_identical(name, m.into(), e, 31);
            assert!(known.is_none_or(|k| k == empty.is_empty()), "{name} m={m} e={e}");
        }
    }
}

/// Every test named in the document is here, and every test here is named.
#[test]
fn the_document_names_these_tests() {
    let (document, source) = (include_str!("../../../docs/src/double-rounding.md"), include_str!("double_rounding.rs"));
    let prefix = "oracle/tests/it/double_rounding.rs::";
    let named: Vec<&str> = document.split(prefix).skip(1).map(|rest| rest.split('`').next().unwrap_or("")).collect();
    for name in &named {
        assert!(source.contains(&format!("\nfn {name}() {{")), "no test `{name}`");
    }
    for test in source.split("#[test]\nfn ").skip(1) {
        let name = test.split('(').next().unwrap_or("");
        assert!(named.contains(&name), "`{name}` is not in the document");
    }
}

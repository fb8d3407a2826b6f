//! Censuses compared with counts one by one: at small widths over every multiplier, shift and pair of
//! schemes, and at 32 bits over all accumulators for a few parameters.

use crate::outputs::Outputs;
use proptest::prelude::*;
use rayon::prelude::*;
use tiebreak_oracle::census::{Census, Counter, Counts, Neighbours};
use tiebreak_oracle::fpm::pieces::{Output, fold};
use tiebreak_oracle::fpm::{Parameters, Scheme};

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).expect("a scheme")
}

fn q31(left: &str, right: &str, m: i32, s: i32) -> Census {
    Census::of(scheme(left), scheme(right), Parameters::q31(m, s))
}

fn said(census: &Census) -> String {
    format!("{} {} {:?} {:?}", census.left.label(), census.right.label(), census.parameters, census.output)
}

fn by_delta(counts: &Counts) -> Vec<(i64, u64)> {
    counts.by_delta().collect()
}

/// Names of schemes without a closed form, such as a rounding to even after another rounding (`oracle/src/fpm/pieces.rs` has the reasons). Their
/// censuses compare all accumulators one by one.
const SWEPT: &[&str] = &[];

/// Returns the schemes with a closed form under every policy.
fn closed_forms() -> Vec<Scheme> {
    Scheme::every().filter(|scheme| !SWEPT.contains(&scheme.definition.name)).collect()
}

/// A scheme loses its closed form only by a decision.
#[test]
fn schemes_without_a_closed_form_are_listed() {
    for scheme in Scheme::every() {
        let is_folded = fold(&scheme, &Parameters::q31(1_395_864_371, -8)).is_some();
        let (label, name) = (scheme.label(), scheme.definition.name);
        assert_eq!(
            is_folded,
            !SWEPT.contains(&name),
            "{label}: `SWEPT` in oracle/tests/it/census.rs lists the schemes without a closed form; add or remove {name:?}"
        );
    }
}

/// Checks that the counts equal the counts of a sweep.
#[track_caller]
fn check(census: &Census, counter: &mut Counter) {
    assert_eq!(counter.counts(census), Some(census.sweep(census.lo..=census.hi)), "{}", said(census));
}

/// Checks that the differing accumulators are complete and in order.
#[track_caller]
fn check_places(census: &Census) {
    let mut expected: Vec<i64> = (census.lo..=census.hi).filter(|x| census.differs(*x)).collect();
    expected.sort_by_key(|x| (x.abs(), *x < 0));
    let got: Vec<i64> = census.differing().expect("it folds").collect();
    assert_eq!(got, expected, "{}", said(census));
}

/// Returns every pair of schemes with a closed form, and policies, in one order, including each scheme with itself.
fn pairs() -> Vec<(Scheme, Scheme)> {
    let all = closed_forms();
    (0..all.len()).flat_map(|i| (i..all.len()).map(move |j| (i, j))).map(|(i, j)| (all[i], all[j])).collect()
}

/// Widest word at which schemes with different policies are compared; at wider words both schemes of a pair have the same policy.
const EVERY_POLICY: u32 = 8;

/// Returns the index pairs of schemes compared at a width, including each scheme with itself.
fn compared(all: &[Scheme], bits: u32) -> Vec<(usize, usize)> {
    let pairs = (0..all.len()).flat_map(|i| (i..all.len()).map(move |j| (i, j)));
    pairs.filter(|(i, j)| bits <= EVERY_POLICY || all[*i].overflow == all[*j].overflow).collect()
}

/// Compares every pair at every multiplier and shift. Outputs are computed once for each scheme, and compared once for each pair of different
/// outputs; the census counts each pair.
fn every_pair(bits: u32) {
    let half = 1i64 << (bits - 1);
    let multipliers: Vec<i64> = (-half..half).collect();
    let sums = multipliers.par_iter().map_init(Counter::default, |counter, m| every_pair_at(counter, *m, bits));
    let (censuses, differing) = sums.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    println!("{censuses} censuses at {bits} bits, {differing} with differences");
    let pairs = compared(&closed_forms(), bits).len() as u64;
    let shifts = 2 * u64::from(bits) + 1;
    assert_eq!(censuses, (pairs * shifts) << bits);
    assert!(differing > censuses / 4, "{differing} of {censuses}");
}

/// Compares every pair and shift at one multiplier, and returns the number of censuses and of censuses with differences.
fn every_pair_at(counter: &mut Counter, m: i64, bits: u32) -> (u64, u64) {
    let all = closed_forms();
    let pairs = compared(&all, bits);
    let (mut censuses, mut differing) = (0, 0);
    for s in -(bits as i32)..=bits as i32 {
        let p = Parameters::narrow(m, s, bits);
        let outputs = Outputs::of(&all, &p);
        let mut expected = vec![None; outputs.distinct() * outputs.distinct()];
        for &(i, j) in &pairs {
            let (left, right) = (outputs.list(i), outputs.list(j));
            let expected =
                *expected[left * outputs.distinct() + right].get_or_insert_with(|| outputs.counts(left, right));
            let census = Census::of(all[i], all[j], p);
            assert_eq!(counter.counts(&census), Some(expected), "{}", said(&census));
            differing += u64::from(expected.differ() > 0);
            censuses += 1;
        }
    }
    (censuses, differing)
}

/// Checks that neighbours counted together equal single censuses, for every multiplier in order.
#[track_caller]
fn check_neighbours(neighbours: &mut Neighbours, census: &Census, ms: std::ops::RangeInclusive<i64>, step: usize) {
    let mut counter = Counter::default();
    let mut next = *ms.start();
    let counted = neighbours.counts(census, ms.clone(), &mut |m, counts| {
        assert_eq!(m, next);
        next += 1;
        if (m - ms.start()) % step as i64 == 0 || m == *ms.end() {
            let alone = Census { parameters: Parameters { m, ..census.parameters }, ..*census };
            assert_eq!(Some(*counts), counter.counts(&alone), "{} in {ms:?}", said(&alone));
        }
    });
    match counted {
        Ok(()) => assert_eq!(next, ms.end() + 1),
        Err(m) => {
            let alone = Census { parameters: Parameters { m, ..census.parameters }, ..*census };
            assert!(m == next && alone.counts().is_none(), "{}", said(&alone));
        }
    }
}

#[test]
fn neighbours_of_every_pair_at_six_bits() {
    let mut neighbours = Neighbours::default();
    for (left, right) in pairs() {
        for s in -6..=6 {
            let census = Census::of(left, right, Parameters::narrow(1, s, 6));
            for ms in [-32..=31, 1..=31, 16..=31, 5..=9] {
                check_neighbours(&mut neighbours, &census, ms, 1);
            }
        }
    }
}

/// Multipliers at which a piece appears or disappears: the first normalised multiplier, the last, and whole halves.
#[test]
fn neighbours_where_pieces_change() {
    let mut neighbours = Neighbours::default();
    for (left, right) in pairs().into_iter().step_by(7) {
        for (s, first) in
            [0, -1, -5, -31].into_iter().flat_map(|s| [1, (1 << 30) - 40, 0x4000_7FE0, i32::MAX - 79].map(|m| (s, m)))
        {
            let census = Census::of(left, right, Parameters::q31(1, s));
            check_neighbours(&mut neighbours, &census, i64::from(first)..=i64::from(first) + 79, 1);
        }
    }
}

#[test]
fn every_pair_at_every_multiplier_and_shift_of_six_to_eight_bits() {
    (6..=8).for_each(every_pair);
}

#[test]
fn every_pair_at_every_multiplier_and_shift_of_nine_bits() {
    every_pair(9);
}

#[test]
fn every_pair_at_every_multiplier_and_shift_of_ten_bits() {
    every_pair(10);
}

#[test]
fn differing_accumulators_of_every_pair_at_five_bits() {
    for m in (-16..16).step_by(3) {
        for s in -5..=5 {
            for (left, right) in pairs() {
                check_places(&Census::of(left, right, Parameters::narrow(m, s, 5)));
            }
        }
    }
}

#[test]
fn ranges_and_outputs_at_seven_bits() {
    let outputs = [None, Some((3, -8, 7)), Some((-1, -64, 63)), Some((60, 0, 63)), Some((-128, -5, -5))];
    let names = ["ties-up", "ties-even:wrap", "ties-away:saturate", "gemmlowp-double", "xnnpack-rndnu"];
    let mut counter = Counter::default();
    for (m, s) in (-64..64).step_by(7).flat_map(|m| (-7..=7).map(move |s| (m, s))) {
        for (left, right) in names.iter().flat_map(|l| names.map(|r| (*l, r))) {
            let whole = Census::of(scheme(left), scheme(right), Parameters::narrow(m, s, 7));
            for (i, output) in outputs.iter().enumerate() {
                let output = output.map(|(zero_point, min, max)| Output { zero_point, min, max });
                let (lo, hi) = [(-64, 63), (-64, -3), (5, 41), (0, 0), (-9, 8)][i];
                let census = Census { lo, hi, output, ..whole };
                check(&census, &mut counter);
                check_places(&census);
            }
        }
    }
}

/// Left shifts that wrap are periodic, and are counted by periods if there are too many pieces.
#[test]
fn periods_at_eight_bits() {
    let names =
        ["gemmlowp-double", "sqrdmulh-srshl:wrap", "cmsis-nn-double", "cmsis-nn-mve-single", "sqrdmulh-fixup-srshl"];
    let mut counter = Counter::new(6);
    let mut repeated = 0;
    for (m, s) in (-128..128).step_by(9).flat_map(|m| (3..=8).map(move |s| (m, s))) {
        for (left, right) in names.iter().flat_map(|l| names.map(|r| (*l, r))) {
            for (lo, hi) in [(-128, 127), (-100, 90), (7, 11)] {
                let census = Census { lo, hi, ..Census::of(scheme(left), scheme(right), Parameters::narrow(m, s, 8)) };
                let counted = counter.counts(&census);
                repeated += u64::from(counted.is_some());
                assert!(counted.is_none_or(|c| c == census.sweep(lo..=hi)), "{}", said(&census));
            }
        }
    }
    assert!(repeated > 1000, "{repeated}");
    let many = q31("gemmlowp-double", "cmsis-nn-mve-single", 1_395_864_371, 22);
    assert_eq!(many.differing().expect("it repeats").take(2000).collect::<Vec<_>>(), outwards(&many, 2000));
    let none = q31("gemmlowp-double", "sqrdmulh-srshl", 1_395_864_371, 31);
    assert_eq!(none.counts().map(|c| (c.inputs, c.differ())), Some((1 << 32, 0)));
    assert_eq!(none.differing().expect("it repeats").next(), None);
}

/// Wraps of the product are not periodic, and are counted in blocks if there are too many pieces.
#[test]
fn blocks_at_fourteen_bits() {
    let mut counter = Counter::new(6);
    let mut counted = 0;
    for (m, s) in [(-8192, 2), (8191, 3), (5325, 4), (-5325, 1), (4097, 5), (700, 6), (8191, 9)] {
        for right in ["gemmlowp-double", "xnnpack-rndnu", "ties-even:wrap", "tosa-apply-scale-32-double:wrap"] {
            let census = Census::of(scheme("ties-up:wrap"), scheme(right), Parameters::narrow(m, s, 14));
            let counts = counter.counts(&census);
            counted += u64::from(counts.is_some());
            assert!(counts.is_none_or(|c| c == census.sweep(census.lo..=census.hi)), "{}", said(&census));
        }
    }
    assert!((10..28).contains(&counted), "{counted}");
    let many = q31("ties-up:wrap", "gemmlowp-double", 1_395_864_371, 17);
    assert_eq!(many.differing().expect("it folds").take(2000).collect::<Vec<_>>(), outwards(&many, 2000));
    let too_many = q31("ties-up:wrap", "gemmlowp-double", 1_395_864_371, 31);
    assert!(too_many.counts().is_none() && too_many.differing().is_none());
}

/// Finds the first `n` differing accumulators one by one.
fn outwards(census: &Census, n: usize) -> Vec<i64> {
    (0..=census.hi).flat_map(|x| [x, -x]).filter(|x| census.differs(*x)).take(n).collect()
}

#[test]
fn known_counts_over_all_accumulators() {
    let c = q31("ties-up", "sqrdmulh-srshl", 1_395_864_371, -8).counts().expect("it folds");
    assert_eq!((c.inputs, c.differ(), c.far(), by_delta(&c)), (1 << 32, 8_388_607, 0, vec![(1, 8_388_607)]));
    let c = q31("ties-up", "sqrdmulh-fixup-srshl", 1_395_864_371, -1).counts().expect("it folds");
    assert_eq!(by_delta(&c), [(-1, 536_870_911), (1, 536_870_910)]);
    let c = q31("ties-up", "sqrdmulh-srshl", 1_518_500_250, -15).counts().expect("it folds");
    assert_eq!(by_delta(&c), [(1, 65_558)]);
    let c = q31("ties-up", "sqrdmulh-fixup-srshl", 1_518_500_250, -15).counts().expect("it folds");
    assert_eq!(by_delta(&c), [(-1, 32_782), (1, 32_782)]);
    assert_eq!(q31("sqrdmulh-srshl", "ties-up", 1 << 30, -1).differing().expect("it folds").next(), Some(1));
}

/// All 2^32 accumulators one by one, by formulas written out here. x*m is at most 2^62, so it fits in 64 bits with its rounding. Every
/// number is stored with 2^63 added, and after a shift by k with 2^(63-k) added, because unsigned shifts, unlike signed shifts, run in the vectors
/// of any processor. `sign` is the added bit, which is set for numbers that are not negative.
#[test]
fn every_accumulator_of_a_few() {
    fn plus(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    fn up(v: u64, k: u32) -> u64 {
        plus(v, 1 << (k - 1)) >> k
    }
    fn away(v: u64, k: u32, sign: u32) -> u64 {
        plus(plus(v, (1 << (k - 1)) - 1), v >> sign) >> k
    }
    fn even(v: u64, k: u32) -> u64 {
        let floor = v >> k;
        plus(plus(v, (1 << (k - 1)) - 1), floor & 1) >> k
    }
    let m = 1_395_864_371;
    one_by_one(q31("ties-up", "sqrdmulh-srshl", m, -8), |product| (up(product, 39), up(up(product, 31), 8)));
    let m = i32::MIN + 1;
    one_by_one(q31("ties-up", "gemmlowp-double", m, -3), |product| (up(product, 34), away(up(product, 31), 3, 32)));
    let m = 3 << 29;
    one_by_one(q31("ties-even", "ties-away", m, -2), |product| (even(product, 33), away(product, 33, 63)));
}

/// Counts the differences of `values`, which receives the products with 2^63 added; another thread counts half of the accumulators. Sums
/// are computed without checks and comparisons, which would take most of the time. The formulas state the bounds of the sums.
fn one_by_one(census: Census, values: impl Fn(u64) -> (u64, u64) + Sync) {
    let m = census.parameters.m;
    let half = |xs: std::ops::Range<i64>| {
        let mut product = ((xs.start * m) as u64).wrapping_add(1 << 63);
        // Sum of the differences, and number of odd differences; all differences are at most one.
        let (mut sum, mut odd, mut bits) = (0u64, 0u64, 0u64);
        for _ in xs {
            let (left, right) = values(product);
            let delta = right.wrapping_sub(left);
            sum = sum.wrapping_add(delta);
            odd = odd.wrapping_add(delta & 1);
            // 1 or 3 for differences of -1, 0 and 1; every other difference sets higher bits.
            let (one_more, two_more) = (delta.wrapping_add(1), delta.wrapping_add(2));
            bits |= one_more | two_more;
            product = product.wrapping_add(m as u64);
        }
        assert!(bits <= 3, "no difference is beyond one");
        let (sum, differ) = (sum as i64, odd as i64);
        [((differ - sum) / 2) as u64, ((differ + sum) / 2) as u64]
    };
    let (negative, positive) = std::thread::scope(|scope| {
        let negative = scope.spawn(|| half(-(1 << 31)..0));
        let positive = half(0..1 << 31);
        (negative.join().expect("no difference is beyond one"), positive)
    });
    let counts = census.counts().expect("it folds");
    let expected: Vec<(i64, u64)> = [(-1, negative[0] + positive[0]), (1, negative[1] + positive[1])].into();
    let expected: Vec<_> = expected.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!((counts.inputs, by_delta(&counts), counts.far()), (1 << 32, expected, 0), "{}", said(&census));
}

/// Multipliers that are negative, tiny, powers of two, or at the ends; shifts of both signs.
const INTERESTING: [(i32, i32); 24] = [
    (1_395_864_371, -8),
    (-1_395_864_371, -1),
    (1_518_500_250, -15),
    (1 << 30, -1),
    (1 << 30, -2),
    (1 << 30, 0),
    (-(1 << 30), -5),
    (1, -31),
    (1, 0),
    (1, 9),
    (-1, -31),
    (-1, 4),
    (3, 13),
    (0, 0),
    (0, 31),
    (i32::MAX, -31),
    (i32::MAX, 0),
    (i32::MAX, 7),
    (i32::MIN, -31),
    (i32::MIN, -1),
    (i32::MIN, 0),
    (i32::MIN, 3),
    (0x7FFF_0000, -4),
    (1_583_594_044, 11),
];

#[test]
fn every_pair_near_interesting_accumulators() {
    let mut counter = Counter::default();
    let length = 600;
    for (m, s) in INTERESTING {
        let threshold = (1i64 << 31) >> s.clamp(0, 20);
        for centre in [i64::from(i32::MIN) + length, 0, threshold - length, -threshold + length] {
            for (left, right) in pairs().into_iter().step_by(3) {
                let whole = Census::of(left, right, Parameters::q31(m, s));
                check(&Census { lo: centre - length, hi: centre + length - 1, ..whole }, &mut counter);
            }
        }
    }
}

#[test]
fn a_million_accumulators_of_each_known_difference() {
    let mut counter = Counter::default();
    let names = [
        ("ties-up", "sqrdmulh-srshl"),
        ("ties-even", "gemmlowp-double"),
        ("ties-even:wrap", "ties-away:saturate"),
        ("ties-up", "tflite-int16-multiplier"),
    ];
    for (i, (m, s)) in INTERESTING.into_iter().enumerate() {
        let (left, right) = names[i % names.len()];
        check(&Census { lo: -(1 << 19), hi: (1 << 19) - 1, ..q31(left, right, m, s) }, &mut counter);
    }
}

proptest! {
    #[test]
    fn neighbours_of_any_length(
        left in 0..57usize, right in 0..57usize, s in -31..=2i32, first in 1..=i32::MAX, length in 0..13u32
    ) {
        let all = closed_forms();
        let last = first.saturating_add((1 << length) - 1);
        let census = Census::of(all[left % all.len()], all[right % all.len()], Parameters::q31(1, s));
        check_neighbours(&mut Neighbours::default(), &census, first.into()..=last.into(), 997);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// A census over all accumulators is the sum of the censuses of any two parts, and the nearest differing accumulators are those found one by one.
    #[test]
    fn parts_add_up(m: i32, s in -31i32..=12, i: prop::sample::Index, cut: i32, zero_point in -128i32..128, output: bool) {
        let all = pairs();
        let (left, right) = *i.get(&all);
        let output = output.then_some(Output { zero_point, min: -128, max: 127 });
        let whole = Census { output, ..Census::of(left, right, Parameters::q31(m, s)) };
        let below = Census { hi: i64::from(cut) - 1, ..whole };
        let above = Census { lo: cut.into(), ..whole };
        let near = Census { lo: cut.into(), hi: (i64::from(cut) + 99).min(i32::MAX.into()), ..whole };
        prop_assert_eq!(near.counts(), Some(near.sweep(near.lo..=near.hi)), "{}", said(&near));
        let mut counts = above.counts().expect("it folds");
        if below.lo <= below.hi {
            counts.add(&below.counts().expect("it folds"), 1);
        }
        prop_assert_eq!(whole.counts(), Some(counts), "{}", said(&whole));
        let first: Vec<i64> = whole.differing().expect("it folds").take(3).collect();
        prop_assert_eq!(first.len() as u64, counts.differ().min(3));
        for x in first {
            prop_assert!(whole.differs(x), "{} x={}", said(&whole), x);
        }
    }
}

/// Multipliers of one layer that were derived separately: close together, or halved with a shift larger by one.
#[test]
fn two_multipliers() {
    let all = closed_forms();
    let mut counter = Counter::default();
    let mut differing = 0u64;
    for (m, other, s) in [(20, 21, -1), (17, 31, -3), (31, 16, -2), (16, 29, 0), (25, 24, 1), (30, -30, -1)] {
        for (s, other_s) in [(s, s), (s, s + 1), (s + 1, s), (s, -5), (5, s)] {
            let (p, q) = (Parameters::narrow(m, s, 6), Parameters::narrow(other, other_s, 6));
            for (left, right) in all.iter().flat_map(|left| all.iter().map(move |right| (*left, *right))) {
                let census = Census { right_parameters: Some(q), ..Census::of(left, right, p) };
                check(&census, &mut counter);
                differing += census.sweep(census.lo..=census.hi).differ();
            }
            check_places(&Census { right_parameters: Some(q), ..Census::of(all[0], all[1], p) });
        }
    }
    assert!(differing > 100_000, "{differing}");
}

proptest! {
    #[test]
    fn two_multipliers_of_32_bits(
        (left, right) in (0..57usize, 0..57usize), m in 1i32 << 30..i32::MAX, apart in -200i32..200, s in -12..4, higher in -1..=1, near in any::<i32>(),
    ) {
        let all = closed_forms();
        let other = m.checked_add(apart).map_or(m, |m| m.max(1 << 30));
        let q = Parameters::q31(other, s + higher);
        let census = Census { right_parameters: Some(q), ..Census::of(all[left % all.len()], all[right % all.len()], Parameters::q31(m, s)) };
        let lo = i64::from(near).min(i64::from(i32::MAX) - 3000);
        let part = Census { lo, hi: lo + 3000, ..census };
        check(&part, &mut Counter::default());
        if let Some(x) = census.differing().and_then(|mut places| places.next()) {
            prop_assert!(census.differs(x));
            let nearer = (1..x.abs()).take(5000).chain((1..x.abs()).rev().take(5000));
            prop_assert!(nearer.flat_map(|x| [x, -x]).all(|x| !census.differs(x)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Any two multipliers and shifts, with or without an output: denominators up to 62 bits apart, and slopes of 93 bits.
    #[test]
    fn any_two_multipliers_and_shifts(
        (left, right) in (0..57usize, 0..57usize), (m, other) in (any::<i32>(), any::<i32>()), (s, other_s) in (-31..=31i32, -31..=31i32),
        (near, narrow) in (any::<i32>(), 0u32..32), (placed, zero_point) in (any::<bool>(), -200i32..200),
    ) {
        let all = closed_forms();
        let (p, q) = (Parameters::q31(m, s), Parameters::q31(other, other_s));
        let output = placed.then_some(Output { zero_point, min: -128, max: 127 });
        let census = Census { right_parameters: Some(q), output, ..Census::of(all[left % all.len()], all[right % all.len()], p) };
        let lo = i64::from(near >> narrow).min(i64::from(i32::MAX) - 2000);
        let part = Census { lo, hi: lo + 2000, ..census };
        if let Some(counts) = part.counts() {
            prop_assert_eq!(counts, part.sweep(part.lo..=part.hi), "{}", said(&part));
            let mut places: Vec<i64> = (part.lo..=part.hi).filter(|x| part.differs(*x)).collect();
            places.sort_by_key(|x| (x.abs(), *x < 0));
            places.truncate(5);
            prop_assert_eq!(part.differing().expect("it folds").take(5).collect::<Vec<_>>(), places, "{}", said(&part));
        }
    }
}

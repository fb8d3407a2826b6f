//! Decision boundaries: every 16-bit pattern one by one, the exact real at every boundary, and cross-checks in big rationals.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{
    Boundary, NoRuns, Quantization, Runs, Scheme, Storage, Stored, Threshold, Witness, zip,
};
use tiebreak_oracle::word::Overflow;

fn quantization(format: Format, scale: &str, zero_point: i64, storage: &str) -> Quantization {
    let scale = format.from_decimal(scale).unwrap();
    let q = Quantization::whole(format, scale, zero_point, Storage::parse(storage).unwrap());
    q.check().unwrap();
    q
}

fn schemes() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|s| match s.overflow {
        Overflow::OutOfDomain => !s.wraps(),
        Overflow::Saturate => s.definition.converts(),
        Overflow::Wrap => false,
    })
}

/// Returns the results of all patterns in `first..first + len`, from the runs.
fn spelled_out(runs: &Runs, first: u64, len: u64) -> Vec<Stored> {
    let mut all = Vec::new();
    for (from, count, result) in runs.patterns(first, len) {
        assert_eq!(from, first + all.len() as u64);
        all.resize(all.len() + count as usize, result);
    }
    assert_eq!(all.len() as u64, len);
    all
}

fn types(format: Format) -> [Quantization; 5] {
    [
        Quantization { min: -8, max: 7, ..quantization(format, "0.3", 1, "i8") },
        quantization(format, "1.0", 0, "i1"),
        quantization(format, "0.01", 3001, "i16"),
        Quantization { scale: 1, ..quantization(format, "1.0", 255, "u8") },
        quantization(format, "0.7", 2_147_483_648, "u32"),
    ]
}

#[test]
fn runs_hold_every_16_bit_pattern() {
    for (i, q) in [Format::F16, Format::Bf16].into_iter().flat_map(types).enumerate() {
        // Every seventh scheme, with a different start for each type; together all schemes.
        for scheme in schemes().skip(i % 7).step_by(7) {
            let runs = Runs::new(&scheme, &q).unwrap();
            let all = spelled_out(&runs, 0, 1 << 16);
            for (bits, result) in all.iter().enumerate() {
                let bits = bits as u64;
                assert_eq!(scheme.expected(&q, bits), *result, "{} {bits:#x} {q:?}", scheme.label());
                assert_eq!(runs.of(bits), *result);
            }
            for (first, len) in [(0, 0), (0, 1), (0x7BFF, 3), (0x7C01, 0x83FF), (0x8000, 0x7C02), (0xFFFF, 1)] {
                assert_eq!(spelled_out(&runs, first, len), all[first as usize..][..len as usize]);
            }
        }
    }
}

/// Every boundary found by bisection is the first float after the exact real, which is found backwards through the steps.
fn boundaries_follow_from_reals(runs: &Runs) -> usize {
    let mut reals = 0;
    let label = runs.scheme().label();
    for boundary in runs.boundaries() {
        assert!(runs.matches_exact(&boundary), "{label} {boundary:x?} {:?}", runs.quantization());
        let Some(threshold) = runs.threshold(&boundary) else { continue };
        let first = threshold.first(runs.quantization().format);
        assert_eq!(first, Some(boundary.first), "{label} {threshold:?} {boundary:x?} {:?}", runs.quantization());
        reals += 1;
    }
    reals
}

#[test]
fn every_boundary_of_the_main_types_follows_from_an_exact_real() {
    for format in Format::ALL {
        let q = types(format);
        for q in [q[0], q[1], q[3]] {
            for scheme in schemes().filter(|s| s.definition.takes.takes(&q)) {
                let runs = Runs::new(&scheme, &q).unwrap();
                let reals = boundaries_follow_from_reals(&runs);
                let overflows = q.scale == 1;
                assert!(reals + 1 >= runs.iter().len() || overflows, "{} {reals} {q:?}", scheme.label());
            }
        }
    }
}

#[test]
fn the_real_between_two_results_is_what_one_computes_by_hand() {
    let q = quantization(Format::F32, "0.5", 1, "i8");
    let at = |label: &str, below, above| Scheme::parse(label).unwrap().threshold(&q, below, above);
    let value = Stored::Value;
    let from = |numer: i64, denom: i64, included| Some(Threshold::From { real: (numer, denom).into(), included });
    // 2.5 rounds to 2, not yet to 3; 3.5 rounds to 4.
    assert_eq!(at("nearest-even", value(2), value(3)), from(3, 4, false));
    assert_eq!(at("nearest-even", value(3), value(4)), from(5, 4, true));
    assert_eq!(at("zero-point-after-nearest-even", value(2), value(3)), from(3, 4, true));
    assert_eq!(at("toward-zero", value(0), value(1)), from(0, 1, true));
    assert_eq!(at("toward-zero", value(-1), value(0)), from(-1, 1, false));
    // In f32 the sum rounds to 3, whose last bit is 0, from 3 - 2^-23 on. Minus 1, this is 2 - 2^-23, a float whose last bit is 1. The
    // quotient rounds to this float above 2 - 3 * 2^-24.
    assert_eq!(at("mlir-qcast", value(2), value(3)), from((1 << 25) - 3, 1 << 25, false));
    assert_eq!(at("nearest-even", value(-200), value(-128)), Some(Threshold::Everything));
    assert_eq!(at("nearest-even", value(127), value(128)), Some(Threshold::Nothing));
    // Results outside the bounds, which no boundary has.
    assert_eq!(at("nearest-even", value(-200), value(-150)), Some(Threshold::Everything));
    assert_eq!(at("nearest-even", value(150), value(200)), Some(Threshold::Nothing));
    assert_eq!(at("mlir-qcast:wrap", value(2), value(3)), None);
}

/// A format rounds to infinity, which saturates, from half-way between its largest number and the next number on.
#[test]
fn a_result_that_only_infinity_has_begins_half_way_to_it() {
    let scheme = Scheme::parse("mlir-qcast:saturate").unwrap();
    let q = quantization(Format::F16, "0.5", 0, "i32");
    let threshold = |below: i64, above: i64| scheme.threshold(&q, Stored::Value(below), Stored::Value(above));
    let from = |real: i64, included| Some(Threshold::From { real: real.into(), included });
    // The quotient is 65520, a tie between 65504 and 2^16 that rounds to the even 2^16.
    assert_eq!(threshold(65504, i32::MAX.into()), from(32760, true));
    assert_eq!(threshold(i32::MIN.into(), -65504), from(-32760, false));
}

#[test]
fn differences_are_those_of_all_patterns_one_by_one() {
    for q in [Format::F16, Format::Bf16].into_iter().flat_map(|f| types(f).into_iter().take(3)) {
        for pair in [["nearest-even", "mlir-qcast"], ["toward-zero", "zero-point-after-nearest-away"]] {
            let [a, b] = pair.map(|label| Runs::new(&Scheme::parse(label).unwrap(), &q).unwrap());
            let differences = a.differ(&b);
            let (mut by_delta, mut without_value, mut smallest) = (BTreeMap::new(), 0, None);
            for key in -(q.format.infinity() as i64) - 1..=q.format.infinity() as i64 {
                let bits = q.format.from_key(key);
                match (a.of(bits), b.of(bits)) {
                    (Stored::Value(x), Stored::Value(y)) if x != y => {
                        *by_delta.entry(y - x).or_insert(0u128) += 1;
                        let rank = (bits & !q.format.sign(), bits & q.format.sign());
                        smallest = Some(smallest.map_or(rank, |s: (u64, u64)| s.min(rank)));
                    }
                    (Stored::Value(_), Stored::Value(_)) => {}
                    _ => without_value += 1,
                }
            }
            assert_eq!((&differences.by_delta, differences.without_value), (&by_delta, without_value));
            assert_eq!(differences.witness.map(|w| w.bits), smallest.map(|(magnitude, sign)| magnitude | sign));
            assert_eq!(differences.valued + differences.without_value, q.format.numbers());
        }
    }
}

/// The witness is the float nearest to zero; of two at the same distance, the positive float. 0.25 is half of the scale, which some rules round on
/// one side of zero only, so that differences on the other side begin one float later.
#[test]
fn the_witness_of_differences_on_both_sides_of_zero_is_the_nearest() {
    let q = quantization(Format::F16, "0.5", 0, "i8");
    let runs = |label: &str| Runs::new(&Scheme::parse(label).unwrap(), &q).unwrap();
    let quarter = Format::F16.from_decimal("0.25").unwrap();
    let sides = [quarter, quarter | Format::F16.sign()];
    for (label, results, nearest) in
        [("nearest-away", [1, -1], 0), ("nearest-up", [1, 0], 0), ("nearest-down", [0, -1], 1)]
    {
        let (a, b) = (runs("toward-zero"), runs(label));
        assert_eq!(sides.map(|bits| [a.of(bits), b.of(bits)]), results.map(|n| [0, n].map(Stored::Value)), "{label}");
        let witness = Witness { bits: sides[nearest], left: a.of(sides[nearest]), right: b.of(sides[nearest]) };
        assert_eq!(a.differ(&b).witness, Some(witness), "{label}");
    }
}

/// Results on both sides of a boundary must equal the results of big rationals.
#[test]
fn a_boundary_with_a_false_side_is_not_anchored() {
    let q = quantization(Format::F16, "0.3", 1, "i8");
    let runs = Runs::new(&Scheme::parse("nearest-even").unwrap(), &q).unwrap();
    for boundary in runs.boundaries().step_by(16) {
        let [below, above] = [boundary.below, boundary.above];
        assert!(runs.matches_exact(&boundary), "{boundary:x?}");
        for falsified in [Boundary { below: above, ..boundary }, Boundary { above: below, ..boundary }] {
            assert!(!runs.matches_exact(&falsified), "{falsified:x?}");
        }
    }
}

/// Few differing floats are all returned; of many, a selection at the ends of intervals, from the first on.
#[test]
fn differing_floats_are_those_found_one_by_one() {
    let q = types(Format::F16)[0];
    for pair in [["toward-zero", "nearest-even"], ["toward-zero", "zero-point-after-nearest-away"]] {
        let [a, b] = pair.map(|label| Runs::new(&Scheme::parse(label).unwrap(), &q).unwrap());
        let results = |key: i64| [&a, &b].map(|runs| runs.of(q.format.from_key(key)));
        let differs = |key: &i64| matches!(results(*key), [Stored::Value(x), Stored::Value(y)] if x != y);
        let most = q.format.infinity() as i64;
        let keys: Vec<i64> = (-most - 1..=most).filter(differs).collect();
        let found = |most: usize| {
            let key = |w: Witness| {
                let key = q.format.key(w.bits).unwrap();
                assert_eq!([w.left, w.right], results(key));
                key
            };
            a.differing(&b, most).into_iter().map(key).collect::<Vec<_>>()
        };
        assert!(keys.len() > 100, "{}", keys.len());
        for most in [keys.len(), keys.len() + 1, usize::MAX] {
            assert!(found(most) == keys, "{most}");
        }
        let is_end = |key: &i64| [-1, 1].iter().any(|on| results(key + on) != results(*key));
        let ends = keys.iter().filter(|key| is_end(key)).count();
        for most in [1, 2, 3, ends / 2, keys.len() - 1] {
            let some = found(most);
            assert!(some.is_sorted() && some.iter().all(|key| differs(key) && is_end(key)), "{some:?}");
            assert_eq!(some[0], keys[0]);
            assert!((most.min(ends).div_ceil(2)..=most).contains(&some.len()), "{} of {most}", some.len());
        }
    }
}

#[test]
fn three_schemes_side_by_side_cover_every_float_once() {
    let q = types(Format::F32)[0];
    let [a, b, c] = ["nearest-even", "toward-zero", "mlir-qcast"]
        .map(|label| Runs::new(&Scheme::parse(label).unwrap(), &q).unwrap());
    let mut next = -(q.format.infinity() as i64) - 1;
    for (keys, results) in zip([&a, &b, &c]) {
        assert_eq!(*keys.start(), next);
        for key in [*keys.start(), *keys.end()] {
            assert_eq!(results, [a.at(key), b.at(key), c.at(key)]);
        }
        next = keys.end() + 1;
    }
    assert_eq!(next, q.format.infinity() as i64 + 1);
}

/// A policy affects only conversions: a scheme without a conversion has the same results under each policy.
#[test]
fn a_scheme_without_a_conversion_has_boundaries_under_every_policy() {
    let q = types(Format::F16)[0];
    for (label, converts) in [("nearest-even", false), ("mlir-qcast", true)] {
        let scheme = Scheme::parse(label).unwrap();
        let wrapping = Runs::new(&Scheme { overflow: Overflow::Wrap, ..scheme }, &q);
        let runs = Runs::new(&scheme, &q).unwrap();
        let expected = if converts { Err(NoRuns::Wraps) } else { Ok(runs.iter().collect::<Vec<_>>()) };
        assert_eq!(wrapping.map(|runs| runs.iter().collect()), expected, "{label}");
    }
}

#[test]
fn wide_storage_is_taken_in_parts() {
    let q = quantization(Format::F32, "0.001", 5, "i32");
    let scheme = Scheme::parse("mlir-qcast").unwrap();
    assert_eq!(Runs::new(&scheme, &q).err(), Some(NoRuns::TooMany(4_278_190_082)));
    assert_eq!(
        Runs::new(&Scheme::parse("mlir-qcast:wrap").unwrap(), &types(Format::F32)[0]).err(),
        Some(NoRuns::Wraps)
    );
    // An empty part contains no float.
    let none = Runs::within(&scheme, &q, RangeInclusive::new(5, 4)).unwrap();
    assert_eq!((none.keys(), none.iter().count()), (RangeInclusive::new(5, 4), 0));
    for first in [0x4000_0000, 0x7F7F_FF00, 0] {
        let keys = Format::F32.key(first).unwrap()..=Format::F32.key(first + 0x80).unwrap();
        let runs = Runs::within(&scheme, &q, keys).unwrap();
        let all = spelled_out(&runs, first, 0x81);
        for (bits, result) in (first..).zip(all) {
            assert_eq!(scheme.exact(&q, bits), result);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn boundaries_of_any_type_follow_from_reals(
        format in prop::sample::select(Format::ALL.to_vec()), scale in any::<u64>(), usual in any::<bool>(), zero_point in any::<i32>(),
        bits in 1u32..=6, signed in any::<bool>(),
    ) {
        let near_one = (format.infinity() / 2) - (5 << (format.precision() - 1)) + scale % (12 << (format.precision() - 1));
        let scale = if usual { near_one } else { 1 + scale % (format.infinity() - 1) };
        let storage = Storage { bits, signed };
        let q = Quantization::whole(format, scale, storage.wrap(zero_point.into()), storage);
        for scheme in schemes() {
            boundaries_follow_from_reals(&Runs::new(&scheme, &q).unwrap());
        }
    }
}

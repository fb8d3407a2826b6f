//! Invariant 2 for multiplication: rationals step by step, and machine integers derived independently, give the same results, for all pairs
//! of 4 bits at many parameters, all pairs of 8 bits at a few, and random pairs.

use proptest::prelude::*;
use rug::{Integer, Rational};
use std::ops::RangeInclusive;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::mul::{EXPONENTS, PRODUCT_BITS, Parameters, ProductBits, Scheme};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

fn of(scale: f32, zero_point: i32) -> Operand {
    Operand { scale: scale.to_bits(), zero_point }
}

fn whole(storage: Storage, [lhs, rhs, out]: [(f32, i32); 3]) -> Parameters {
    let [lhs, rhs, out] = [lhs, rhs, out].map(|(scale, zero_point)| of(scale, zero_point));
    let (min, max) = (storage.min() as i32, storage.max() as i32);
    Parameters { lhs, rhs, out, storage, own: PRODUCT_BITS, min, max }
}

/// Computes both forms of a scheme, and checks that they agree.
fn agree(scheme: &Scheme, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Vec<Option<i32>> {
    let small = |v: Integer| v.to_i32().expect("clamped");
    let exact = scheme.exact(p, lhs, rhs).expect("in the domain").into_iter().map(|v| v.map(small));
    let expected = scheme.expected(p, lhs, rhs).expect("in the domain");
    for (i, (exact, expected)) in exact.zip(&expected).enumerate() {
        assert_eq!(exact, *expected, "{} at {}, {} of {p:?}", scheme.label(), lhs[i], rhs[i]);
    }
    expected
}

fn every_pair(stored: RangeInclusive<i32>) -> (Vec<i32>, Vec<i32>) {
    stored.clone().flat_map(|a| stored.clone().map(move |b| (a, b))).unzip()
}

fn once() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|scheme| scheme.overflow == Overflow::Wrap)
}

/// Every scheme on all pairs of 4 bits, with zero points and at quotients from 2^-34 to 2^14, including every tie at powers of two.
#[test]
fn forms_agree_on_all_pairs_of_4_bits() {
    let (lhs, rhs) = every_pair(-8..=7);
    let scales = [
        [0.5, 0.5, 1.0],
        [0.5, 0.25, 1.0],
        [0.125, 0.125, 0.5],
        [0.1, 0.1, 0.01],
        [0.1, 0.3, 0.7],
        [0.333_333_34, 0.142_857_15, 1.3],
        [1.0, 1.0, 2f32.powi(-14)],
        [1.0, 1.0, 3.0],
        [0.000_1, 0.000_1, 171.0],
        [3.0, 5.0, 0.7],
    ];
    for [a, b, out] in scales {
        for zero_points in [[0, 0, 0], [-8, 7, 1], [3, -2, -4], [127, -128, 127]] {
            let [x, y, z] = zero_points;
            let p = whole(I8, [(a, x), (b, y), (out, z)]);
            for scheme in once() {
                let results = agree(&scheme, &p, &lhs, &rhs);
                assert!(results.iter().all(Option::is_some), "{} is out of its domain at {p:?}", scheme.label());
            }
        }
    }
}

#[test]
fn forms_agree_on_all_pairs_of_8_bits() {
    let clamped = Parameters { min: -100, max: 3, ..whole(I8, [(0.05, 127), (0.04, -128), (0.3, 127)]) };
    let narrow = Parameters { own: ProductBits(16), ..whole(I8, [(0.1, 127), (0.1, -128), (0.9, 3)]) };
    for p in [
        whole(I8, [(0.0235, -1), (0.3, 17), (0.31, 4)]),
        whole(U8, [(0.007, 128), (3.0, 0), (0.02, 255)]),
        clamped,
        narrow,
    ] {
        let (lhs, rhs) = every_pair(p.storage.min() as i32..=p.storage.max() as i32);
        // Rounding rules affect only the last step, so these parameters test one rule of each kind.
        let rules = |name: &str| name.contains("nearest-") || name.contains("toward-");
        for scheme in once().filter(|s| !rules(s.definition.name) || s.definition.name.ends_with("nearest-even")) {
            agree(&scheme, &p, &lhs, &rhs);
        }
    }
}

/// The negative of an 8-bit zero point may exceed the type by one, so differences of uint8 are up to 510, and every product has a place in the
/// table of results. Tests one scheme for each way of scaling.
#[test]
fn forms_agree_on_all_pairs_of_8_bits_with_zero_points_beyond_the_type() {
    for (storage, points) in [(I8, [128, 128, 0]), (U8, [-255, -255, 255]), (U8, [-255, 255, 0])] {
        let (lhs, rhs) = every_pair(storage.min() as i32..=storage.max() as i32);
        let [x, y, z] = points;
        let p = whole(storage, [(0.05, x), (0.07, y), (0.9, z)]);
        for scheme in once().step_by(4) {
            agree(&scheme, &p, &lhs, &rhs);
        }
    }
}

/// The product of two reals is rounded over the output's scale, computed only with rationals.
#[test]
fn the_ideal_schemes_round_the_product_of_the_reals() {
    let p = whole(I8, [(0.1, 3), (0.25, -7), (0.2, -5)]);
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
    let (a, b) = every_pair(-128..=127);
    for rule in RoundingRule::ALL {
        let results = Scheme::ideal(rule).expected(&p, &a, &b).expect("in the domain");
        for ((a, b), result) in a.iter().zip(&b).zip(results).step_by(37) {
            let real = Rational::from(&lhs * Integer::from(a - 3)) * Rational::from(&rhs * Integer::from(b + 7)) / &out;
            assert_eq!(result, Some((rule.round(&real) - 5i32).clamp(&-128, &127).to_i32().expect("small")), "{a} {b}");
        }
    }
}

/// A quotient of a quarter is exact in any multiplier: halves, and one and a half, round by the rule of each scheme.
#[test]
fn ties_are_told_apart_where_quotients_are_powers_of_two() {
    let p = whole(I8, [(0.5, 0), (0.5, 0), (1.0, 0)]);
    let (even, away, up) = ([0, 0, 2, -2], [1, -1, 2, -2], [1, 0, 2, -1]);
    let table = [
        ("nearest-even", even),
        ("nearest-away", away),
        ("q31-f32-nearest-up", up),
        ("q31-f64-nearest-even", even),
        ("tflite", away),
        ("tflite-single", up),
        ("tflite-micro", away),
        ("cmsis-nn", away),
        ("cmsis-nn-single", up),
        ("tosa-double", away),
        ("tosa-single", up),
        ("xnnpack-fp32", even),
        ("xnnpack-rndnu", up),
        ("onnx", even),
        ("onnx-neon", even),
        ("pytorch", even),
        ("zero-point-first-nearest-even", even),
    ];
    for (name, results) in table {
        let got = agree(&Scheme::parse(name).expect("registered"), &p, &[1, -1, 3, -3], &[2; 4]);
        assert_eq!(got, results.map(Some), "{name}");
    }
}

/// Halves round to the even value. An odd zero point changes that value if it is added before the rounding.
#[test]
fn a_zero_point_before_the_rounding_moves_ties() {
    let p = whole(I8, [(0.5, 0), (0.5, 0), (1.0, 1)]);
    let (before, after) = ([2, 0], [1, 1]);
    for (name, results) in [
        ("onnx", before),
        ("onnx-neon", before),
        ("zero-point-first-nearest-even", before),
        ("pytorch", after),
        ("xnnpack-fp32", after),
    ] {
        let scheme = Scheme::parse(name).expect("registered");
        assert_eq!(agree(&scheme, &p, &[1, -1], &[2, 2]), results.map(Some), "{name}");
    }
}

/// A product wraps in 16 bits, which hold at most half of the range of products of 8-bit differences.
#[test]
fn a_product_of_16_bits_wraps() {
    let p = whole(I8, [(0.125, 127), (0.125, -128), (8.0, 0)]);
    let narrow = Parameters { own: ProductBits(16), ..p };
    for (name, wide) in [("nearest-even", -127), ("tflite", -127), ("xnnpack-fp32", -127), ("pytorch", -127)] {
        let scheme = Scheme::parse(name).expect("registered");
        // -255 * 255 is a multiple of 2^16 plus 511.
        assert_eq!(agree(&scheme, &p, &[-128], &[127]), [Some(wide)], "{name}");
        assert_eq!(agree(&scheme, &narrow, &[-128], &[127]), [Some(1)], "{name}");
    }
}

#[test]
fn what_cannot_be_is_named() {
    let sound = whole(I8, [(1.0, 0), (1.0, 0), (1.0, 0)]);
    let argument = |p: Parameters, lhs: &[i32], rhs: &[i32]| p.check(lhs, rhs).expect_err("no such batch").argument;
    assert_eq!(argument(sound, &[1, 2], &[1]), "rhs");
    assert_eq!(argument(sound, &[1], &[128]), "lhs");
    assert_eq!(argument(Parameters { own: ProductBits(33), ..sound }, &[1], &[1]), "product_bits");
    assert_eq!(argument(Parameters { lhs: of(0.0, 0), ..sound }, &[], &[]), "lhs");
    assert_eq!(argument(Parameters { rhs: of(-1.0, 0), ..sound }, &[], &[]), "rhs");
    assert_eq!(argument(Parameters { rhs: of(2f32.powi(-31), 0), ..sound }, &[], &[]), "rhs");
    assert_eq!(argument(Parameters { out: of(1.0, 129), ..sound }, &[], &[]), "out");
    assert_eq!(argument(Parameters { min: 1, max: 0, ..sound }, &[], &[]), "min");
    let wide = whole(I16, [(1.0, 32767), (1.0, 32767), (1.0, 0)]);
    assert_eq!(argument(wide, &[-32768], &[-32768]), "lhs");
}

fn operand(storage: Storage, exponents: RangeInclusive<i32>) -> impl Strategy<Value = Operand> {
    // Any significand, including powers of two.
    let significand = prop_oneof![3 => 0u32..1 << 23, 1 => Just(0), 1 => Just((1 << 23) - 1)];
    let scale = (significand, exponents).prop_map(|(n, e)| ((e + 127) as u32) << 23 | n);
    (scale, storage.min() as i32..=storage.max() as i32).prop_map(|(scale, zero_point)| Operand { scale, zero_point })
}

fn batch(exponents: RangeInclusive<i32>) -> impl Strategy<Value = (Parameters, Vec<i32>, Vec<i32>)> {
    prop_oneof![Just(I8), Just(U8), Just(I16)].prop_flat_map(move |storage| {
        let stored = storage.min() as i32..=storage.max() as i32;
        let operands = [(); 3].map(|()| operand(storage, exponents.clone()).boxed());
        let values = || prop::collection::vec(stored.clone(), 24);
        (operands, [stored.clone(), stored.clone()], values(), values()).prop_map(move |(operands, ends, a, b)| {
            let [mut lhs, mut rhs, out] = operands;
            if storage == I16 {
                // Products of larger differences may exceed int32.
                (lhs.zero_point, rhs.zero_point) = (lhs.zero_point / 4, rhs.zero_point / 4);
            }
            let (min, max) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            (Parameters { lhs, rhs, out, storage, own: PRODUCT_BITS, min, max }, a, b)
        })
    })
}

/// Returns parameters whose output scale gives the largest product about the size of the type.
fn near(p: &Parameters) -> Parameters {
    let exponents = [p.lhs, p.rhs].map(|operand| (operand.scale >> 23) as i32 - 127);
    let exponent = (exponents[0] + exponents[1] + p.storage.bits as i32 - 1).clamp(-30, 30) + 127;
    Parameters { out: Operand { scale: (exponent as u32) << 23 | p.out.scale & 0x7f_ffff, ..p.out }, ..*p }
}

proptest! {
    #[test]
    fn forms_agree_on_random_batches((p, lhs, rhs) in batch(EXPONENTS)) {
        for scheme in Scheme::every() {
            agree(&scheme, &p, &lhs, &rhs);
        }
        // Also at parameters for which not all results are clamped.
        for scheme in once() {
            agree(&scheme, &near(&p), &lhs, &rhs);
        }
    }

    /// If results have 8 bits and nothing overflows, the rounding of any scheme is off by at most one.
    #[test]
    fn schemes_are_within_one_of_the_exact_product((p, lhs, rhs) in batch(-10..=10)) {
        let p = near(&p);
        prop_assume!(p.storage.bits == 8);
        let ideal = Scheme::ideal(RoundingRule::TiesEven).expected(&p, &lhs, &rhs).expect("in the domain");
        for scheme in once().filter(|s| !s.definition.name.contains("toward")) {
            for (one, other) in ideal.iter().zip(scheme.expected(&p, &lhs, &rhs).expect("in the domain")) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                prop_assert!(one.abs_diff(other) <= 1, "{} {p:?}", scheme.label());
            }
        }
    }
}

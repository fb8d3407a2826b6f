//! Invariant 2 for addition: rationals step by step, and machine integers derived independently, give the same results, for all pairs of 8 bits at
//! directed parameters, and for random pairs. Properties other than the rounding of the sum are compared with known values.

use proptest::prelude::*;
use rug::{Integer, Rational};
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::add::{APART, LeftShift, Parameters, Scheme, left_shift};
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
    let own = left_shift(storage);
    Parameters { lhs, rhs, out, storage, own, min: storage.min() as i32, max: storage.max() as i32 }
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

/// Returns all pairs of 8 bits.
fn every_pair(storage: Storage) -> (Vec<i32>, Vec<i32>) {
    let all = storage.min() as i32..=storage.max() as i32;
    all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).unzip()
}

fn once() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|scheme| scheme.overflow == Overflow::Wrap)
}

#[test]
fn forms_agree_on_all_pairs_of_8_bits() {
    let clamped = Parameters { min: -100, max: 3, ..whole(I8, [(0.05, 127), (0.04, -128), (0.03, 127)]) };
    let table = [
        whole(I8, [(0.5, 0), (0.5, 0), (1.0, 0)]),
        whole(I8, [(0.0235, -1), (0.3, 17), (0.31, 4)]),
        whole(U8, [(0.007, 128), (3.0, 0), (0.02, 255)]),
        clamped,
    ];
    for (i, p) in table.into_iter().enumerate() {
        let (lhs, rhs) = every_pair(p.storage);
        // Rounding rules affect only the last step, so each parameter set tests another quarter of the schemes by rule.
        let rules = |name: &str| name.contains("nearest-") || name.starts_with("toward-") || name.starts_with("q31-");
        let own = once().enumerate().filter(|(j, scheme)| !rules(scheme.definition.name) || j % 4 == i);
        for (_, scheme) in own {
            let results = agree(&scheme, &p, &lhs, &rhs);
            assert!(results.iter().all(Option::is_some), "{} is out of its domain at {p:?}", scheme.label());
        }
    }
}

/// The sum of two reals is rounded over the output's scale, computed only with rationals.
#[test]
fn the_ideal_schemes_round_the_sum_of_the_reals() {
    let p = whole(I8, [(0.1, 3), (0.25, -7), (0.2, -5)]);
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
    let (a, b) = every_pair(I8);
    for rule in RoundingRule::ALL {
        let results = Scheme::ideal(rule).expected(&p, &a, &b).expect("in the domain");
        for ((a, b), result) in a.iter().zip(&b).zip(results).step_by(37) {
            let real =
                (Rational::from(&lhs * Integer::from(a - 3)) + Rational::from(&rhs * Integer::from(b + 7))) / &out;
            assert_eq!(result, Some((rule.round(&real) - 5i32).clamp(&-128, &127).to_i32().expect("small")), "{a} {b}");
        }
    }
}

/// Equal scales and an output scale twice as large: every other sum is a tie, and multipliers are exact.
#[test]
fn ties_are_told_apart_where_quotients_are_powers_of_two() {
    let p = whole(I8, [(0.5, 0), (0.5, 0), (1.0, 0)]);
    let table = [
        ("nearest-even", [0, 0, 2, -2]),
        ("nearest-away", [1, -1, 2, -2]),
        ("tflite", [1, -1, 2, -2]),
        ("tflite-single", [1, 0, 2, -1]),
        ("cmsis-nn", [1, -1, 2, -2]),
        ("cmsis-nn-single", [1, 0, 2, -1]),
        ("tosa-double", [1, -1, 2, -2]),
        ("tosa-single", [1, 0, 2, -1]),
        ("xnnpack", [1, 0, 2, -1]),
        ("onnx-neon", [1, -1, 2, -2]),
        ("onnx", [0, 0, 2, -2]),
        ("pytorch", [0, 0, 2, -2]),
        ("zero-point-first-nearest-even", [0, 0, 2, -2]),
    ];
    for (name, results) in table {
        let got = agree(&Scheme::parse(name).expect("registered"), &p, &[1, -1, 3, -3], &[0; 4]);
        assert_eq!(got, results.map(Some), "{name}");
    }
}

/// Terms of many 8-bit operands are looked up; terms of 16-bit operands are always computed.
#[test]
fn many_pairs_of_16_bits_are_computed_one_by_one() {
    let p = whole(I16, [(0.001, 0), (0.0007, 0), (0.0015, 0)]);
    let lhs: Vec<i32> = (0..300).map(|i| i * 211 - 31_000).collect();
    let rhs: Vec<i32> = (0..300).map(|i| 32_700 - i * 197).collect();
    for scheme in once() {
        let results = agree(&scheme, &p, &lhs, &rhs);
        // `tosa-double` has a value for 142 pairs, all other schemes for every pair.
        assert!(results.iter().flatten().count() > 100, "{} has {results:?}", scheme.label());
    }
}

/// If the output's scale is below 2^-20 of the others, which sources exclude, the sum is rescaled to the left: 127 * 2^24, which fits in
/// int32, unlike the shift before a multiplication.
#[test]
fn a_sum_may_be_rescaled_to_the_left() {
    let p = whole(I8, [(0.5, 0), (0.5, 0), (2f32.powi(-24), 0)]);
    for (name, result) in [("tflite", Some(-128)), ("tflite-single", Some(127)), ("tosa-single", None)] {
        let scheme = Scheme::parse(name).expect("registered");
        assert_eq!(agree(&scheme, &p, &[127], &[127]), [result], "{name}");
    }
}

/// Halves round to the even value. An odd zero point changes that value if it is added before the rounding.
#[test]
fn a_zero_point_before_the_rounding_moves_ties() {
    let p = whole(I8, [(0.5, 0), (0.5, 0), (1.0, 1)]);
    for (name, results) in [("onnx", [2, 0]), ("zero-point-first-nearest-even", [2, 0]), ("pytorch", [1, 1])] {
        let scheme = Scheme::parse(name).expect("registered");
        assert_eq!(agree(&scheme, &p, &[1, -1], &[0, 0]), results.map(Some), "{name}");
    }
}

/// A factor below 2^-32 is 0, and its operand has no effect.
#[test]
fn an_operand_of_a_scale_far_below_is_lost() {
    let p = whole(I8, [(1.0, 0), (2f32.powi(-35), 0), (2f32.powi(-18), 0)]);
    let scheme = Scheme::parse("tflite").expect("registered");
    assert_eq!(agree(&scheme, &p, &[0, 0], &[127, -128]), [Some(0); 2]);
    let near = Parameters { rhs: of(2f32.powi(-24), 0), ..p };
    assert_eq!(agree(&scheme, &near, &[0, 0], &[127, -128]), [Some(2), Some(-2)]);
}

/// The ideal scheme rounds the exact result.
#[test]
fn the_exact_result_is_rounded_once_by_the_ideal_scheme() {
    let p = whole(I8, [(0.5, 1), (0.25, -2), (1.0, 3)]);
    let real = |lhs, rhs| p.real(lhs, rhs);
    assert_eq!(real(2, 0), (Rational::from(1) / 2) + (Rational::from(1) / 2) + 3);
    assert_eq!(real(2, 1), Rational::from((17, 4)));
    let ideal = Scheme::parse("nearest-even").expect("registered");
    let (lhs, rhs) = ([2, 2, 127, -128], [0, 1, 5, 0]);
    for ((lhs, rhs), result) in lhs.iter().zip(&rhs).zip(agree(&ideal, &p, &lhs, &rhs)) {
        let rounded = RoundingRule::TiesEven.round(&real(*lhs, *rhs));
        assert_eq!(result.map(Integer::from), Some(rounded.clamp(&-128, &127)));
    }
}

#[test]
fn what_cannot_be_is_named() {
    let sound = whole(I8, [(1.0, 0), (1.0, 0), (1.0, 0)]);
    let argument = |p: Parameters, lhs: &[i32], rhs: &[i32]| p.check(lhs, rhs).expect_err("no such batch").argument;
    assert_eq!(argument(sound, &[1, 2], &[1]), "rhs");
    assert_eq!(argument(sound, &[1], &[128]), "lhs");
    assert_eq!(argument(Parameters { own: LeftShift(24), ..sound }, &[-128], &[0]), "left_shift");
    assert_eq!(argument(Parameters { lhs: of(0.0, 0), ..sound }, &[], &[]), "lhs");
    assert_eq!(argument(Parameters { rhs: of(-1.0, 0), ..sound }, &[], &[]), "rhs");
    assert_eq!(argument(Parameters { rhs: of(f32::INFINITY, 0), ..sound }, &[], &[]), "rhs");
    assert_eq!(argument(Parameters { out: of(1.0, 129), ..sound }, &[], &[]), "out");
    assert_eq!(argument(Parameters { out: of(2f32.powi(-APART - 1), 0), ..sound }, &[], &[]), "out");
    assert_eq!(argument(Parameters { min: 1, max: 0, ..sound }, &[], &[]), "min");
    assert_eq!(argument(Parameters { storage: Storage { bits: 4, signed: true }, ..sound }, &[], &[]), "storage");
}

fn operand(storage: Storage) -> impl Strategy<Value = Operand> {
    // Any significand, including powers of two; exponents within the allowed distance, even for an output two binades above its operands.
    let significand = prop_oneof![3 => 0u32..1 << 23, 1 => Just(0), 1 => Just((1 << 23) - 1)];
    let scale = (significand, 107u32..=145).prop_map(|(n, e)| e << 23 | n);
    (scale, storage.min() as i32..=storage.max() as i32).prop_map(|(scale, zero_point)| Operand { scale, zero_point })
}

fn batch() -> impl Strategy<Value = (Parameters, Vec<i32>, Vec<i32>)> {
    prop_oneof![Just(I8), Just(U8), Just(I16)].prop_flat_map(|storage| {
        let stored = storage.min() as i32..=storage.max() as i32;
        let operands = [(); 3].map(|()| operand(storage).boxed());
        let values = || prop::collection::vec(stored.clone(), 24);
        (operands, [stored.clone(), stored.clone()], values(), values()).prop_map(move |(operands, ends, a, b)| {
            let [lhs, rhs, out] = operands;
            let (min, max) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            (Parameters { lhs, rhs, out, storage, own: left_shift(storage), min, max }, a, b)
        })
    })
}

proptest! {
    #[test]
    fn forms_agree_on_random_batches((p, lhs, rhs) in batch()) {
        for scheme in Scheme::every() {
            agree(&scheme, &p, &lhs, &rhs);
        }
        // Also at an output of the sum's own size, so that not all results are clamped.
        let larger = p.lhs.scale.max(p.rhs.scale);
        let near = Parameters { out: Operand { scale: larger + (p.out.scale & 0xff_ffff), ..p.out }, ..p };
        for scheme in once() {
            agree(&scheme, &near, &lhs, &rhs);
        }
    }

    /// If operands are as large as results, the rounding of any scheme is off by at most one.
    #[test]
    fn schemes_are_within_one_of_the_exact_sum((p, lhs, rhs) in batch()) {
        let larger = p.lhs.scale.max(p.rhs.scale);
        let p = Parameters { out: Operand { scale: larger, ..p.out }, ..p };
        let ideal = Scheme::ideal(RoundingRule::TiesEven).expected(&p, &lhs, &rhs).expect("in the domain");
        for scheme in once().filter(|s| !s.definition.name.contains("toward")) {
            for (one, other) in ideal.iter().zip(scheme.expected(&p, &lhs, &rhs).expect("in the domain")) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                prop_assert!(one.abs_diff(other) <= 1, "{} {p:?}", scheme.label());
            }
        }
    }
}

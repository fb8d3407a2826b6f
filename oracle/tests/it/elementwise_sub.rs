//! Invariant 2 for subtraction: rationals step by step, and machine integers derived independently, give the same results; and relations between
//! differences and sums at the same parameters.

use proptest::prelude::*;
use rug::{Integer, Rational};
use tiebreak_oracle::elementwise::add::left_shift;
use tiebreak_oracle::elementwise::sub::{Parameters, Scheme};
use tiebreak_oracle::elementwise::{Operand, add};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

fn whole(storage: Storage, operands: [(f32, i32); 3]) -> Parameters {
    let [lhs, rhs, out] = operands.map(|(scale, zero_point)| Operand { scale: scale.to_bits(), zero_point });
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
        whole(I8, [(0.5, 0), (0.3, 0), (1.0, 0)]),
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

/// The difference of two reals is rounded over the output's scale, computed only with rationals.
#[test]
fn the_ideal_schemes_round_the_difference_of_the_reals() {
    let p = whole(I8, [(0.1, 3), (0.25, -7), (0.2, -5)]);
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(|operand| operand.exact_scale());
    let (a, b) = every_pair(I8);
    for rule in RoundingRule::ALL {
        let results = Scheme::ideal(rule).expected(&p, &a, &b).expect("in the domain");
        for ((a, b), result) in a.iter().zip(&b).zip(results).step_by(37) {
            let real =
                (Rational::from(&lhs * Integer::from(a - 3)) - Rational::from(&rhs * Integer::from(b + 7))) / &out;
            assert_eq!(result, Some((rule.round(&real) - 5i32).clamp(&-128, &127).to_i32().expect("small")), "{a} {b}");
        }
    }
}

/// A difference is the sum with the negated right operand, for each scheme whose terms have the same magnitude with either sign.
#[test]
fn a_difference_is_the_sum_with_the_negative() {
    let p = whole(I8, [(0.0235, -1), (0.3, 0), (0.31, 4)]);
    let (lhs, rhs): (Vec<i32>, Vec<i32>) = every_pair(I8);
    let (lhs, rhs): (Vec<i32>, Vec<i32>) = lhs.into_iter().zip(rhs).filter(|(_, b)| *b != -128).unzip();
    let negative: Vec<i32> = rhs.iter().map(|b| -b).collect();
    let sums =
        add::Parameters { lhs: p.lhs, rhs: p.rhs, out: p.out, storage: p.storage, own: p.own, min: p.min, max: p.max };
    for (name, of_sum) in [
        ("nearest-even", "nearest-even"),
        ("toward-negative", "toward-negative"),
        ("q31-nearest-up", "q31-nearest-up"),
        ("xnnpack", "xnnpack"),
        ("tvm-tonearest", "tvm-tonearest"),
        ("zero-point-first-nearest-even", "zero-point-first-nearest-even"),
    ] {
        let difference = agree(&Scheme::parse(name).expect("registered"), &p, &lhs, &rhs);
        let sum =
            add::Scheme::parse(of_sum).expect("registered").expected(&sums, &lhs, &negative).expect("in the domain");
        assert_eq!(difference, sum, "{name}");
    }
}

/// -57.49999976: the right term, 1.2884901888 * -20 * 2^20 / 2^31, is a half above an integer, and rounds up with either sign of the multiplier.
#[test]
fn a_negated_multiplier_rounds_a_term_otherwise() {
    let p = whole(I8, [(0.5, 0), (0.3, 0), (1.0, 0)]);
    for (name, result) in [("tflite", -58), ("tflite-negated", -57), ("nearest-even", -57), ("tflite-single", -57)] {
        assert_eq!(agree(&Scheme::parse(name).expect("registered"), &p, &[-127], &[-20]), [Some(result)], "{name}");
    }
}

fn operand(storage: Storage) -> impl Strategy<Value = Operand> {
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
        // Also at an output of the difference's own size, so that not all results are clamped.
        let larger = p.lhs.scale.max(p.rhs.scale);
        let near = Parameters { out: Operand { scale: larger + (p.out.scale & 0xff_ffff), ..p.out }, ..p };
        for scheme in once() {
            agree(&scheme, &near, &lhs, &rhs);
        }
    }
}

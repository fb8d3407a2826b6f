//! Both forms of the softmax agree on every difference and on rows of every kind, and the composition is near the real value.

use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::softmax::{Composed, MOST, Scheme, Softmax};

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

/// Softmax with a step of 1/16.
const SIXTEENTH: Softmax =
    Softmax { rows: 1, depth: 1, multiplier: 1 << 30, left_shift: 23, diff_min: -248, input: I8, out: I8 };

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).expect(name)
}

fn agree(p: &Softmax, x: &[i32]) {
    for scheme in ["nearest", "tflite"].map(scheme) {
        let (exact, fast) = (scheme.exact(p, x).expect("a domain"), scheme.expected(p, x).expect("a domain"));
        for (at, (exact, fast)) in exact.into_iter().zip(fast).enumerate() {
            assert_eq!(exact, fast, "{} of {p:?}, result {at}", scheme.label());
        }
    }
}

#[test]
fn both_forms_agree_on_every_difference() {
    for (i, left_shift) in [0, 12, 17, 20, 22, 23, 24, 26, 28, 30].into_iter().enumerate() {
        let x: Vec<i32> = (-128..128i32).flat_map(|v| [v, 127, (v * 37 + 5).rem_euclid(256) - 128]).collect();
        let multiplier = [1 << 30, i32::MAX, 1_518_500_250, 2_000_000_001][i % 4];
        let diff_min = -(((31i64 << 26) >> left_shift) as i32);
        for out in [I8, I16] {
            agree(&Softmax { rows: 256, depth: 3, multiplier, left_shift, diff_min, out, ..SIXTEENTH }, &x);
        }
    }
}

#[test]
fn both_forms_agree_on_rows_of_every_length() {
    let mut word = 99u64;
    for depth in (1..=40).chain([64, 127, 128, 256, MOST]) {
        let mut byte = || {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (word >> 33) as i32 % 256
        };
        let x: Vec<i32> = (0..2 * depth).map(|_| byte()).collect();
        let p = Softmax { rows: 2, depth, left_shift: 19 + depth as i32 % 5, input: U8, out: U8, ..SIXTEENTH };
        agree(&p, &x);
        agree(&p, &vec![7; 2 * depth]);
    }
}

/// The result for n equal elements is 1/n; no n up to 511 makes half a step of 2^-8.
#[test]
fn equal_elements_share_the_row() {
    for depth in 1..=MOST {
        let p = Softmax { depth, ..SIXTEENTH };
        let steps = (512 / depth).div_ceil(2).min(255) as i32 - 128;
        assert_eq!(scheme("nearest").expected(&p, &vec![3; depth]).expect("a row"), vec![steps; depth], "{depth}");
    }
}

/// Distance of the composition from the real value, on every pair of differences of a step of 1/16.
#[test]
fn the_composition_is_within_one_step_of_pairs() {
    for out in [I8, U8] {
        let input = out;
        let (lo, hi) = (input.min() as i32, input.max() as i32);
        let x: Vec<i32> = (lo..=hi).flat_map(|a| (lo..=hi).flat_map(move |b| [hi, a, b])).collect();
        let p = Softmax { rows: 1 << 16, depth: 3, input, out, ..SIXTEENTH };
        let [real, composed] = ["nearest", "tflite"].map(|name| scheme(name).expected(&p, &x).expect(name));
        let most = real.iter().zip(&composed).map(|(a, b)| a.abs_diff(*b)).max();
        assert_eq!(most, Some(1));
    }
}

#[test]
fn what_is_left_out_shows() {
    let row = |composed: Composed, row: &[i32]| composed.row(&Softmax { depth: row.len(), ..SIXTEENTH }, row);
    let printed = Composed::AS_PRINTED;
    assert_eq!(row(printed, &[5]), [127]);
    assert_eq!(row(Composed { clamp: false, ..printed }, &[5]), [-128]);
    assert_eq!(row(Composed { exponent_off: 1, ..printed }, &[5, 5]), [127, 127]);
    assert_eq!(row(Composed { accumulated: 11, ..printed }, &[5, 5]), [-64, -64]);
}

#[test]
fn what_is_no_parameter_is_named() {
    let argument = |p: Softmax, x: &[i32]| scheme("tflite").expected(&p, x).expect_err("refused").argument;
    for (wrong, name) in [
        (Softmax { rows: 0, ..SIXTEENTH }, "rows"),
        (Softmax { depth: 512, ..SIXTEENTH }, "depth"),
        (Softmax { multiplier: 1, ..SIXTEENTH }, "multiplier"),
        (Softmax { left_shift: 31, ..SIXTEENTH }, "left_shift"),
        (Softmax { diff_min: 1, ..SIXTEENTH }, "diff_min"),
        (Softmax { diff_min: -257, ..SIXTEENTH }, "diff_min"),
        (Softmax { input: I16, ..SIXTEENTH }, "type"),
    ] {
        assert_eq!(argument(wrong, &[0]), name, "{wrong:?}");
    }
    assert_eq!([argument(SIXTEENTH, &[128]), argument(SIXTEENTH, &[1, 2])], ["input"; 2]);
}

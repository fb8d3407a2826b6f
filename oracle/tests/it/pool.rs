//! Invariant 2 for pooling: rationals of windows found from the input, and machine integers of windows found from the output, give the same results,
//! for all windows of up to four small elements, all sums of 8 bits for many counts, and random shapes.

use proptest::prelude::*;
use rug::{Integer, Rational};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::pool::steps::Multiplier;
use tiebreak_oracle::pool::{Pooling, SUM, Scheme};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

fn of(scale: f32, zero_point: i32) -> Operand {
    Operand { scale: scale.to_bits(), zero_point }
}

/// Creates a pooling with one window over a whole image.
fn global(storage: Storage, height: usize, width: usize, channels: usize, [input, out]: [Operand; 2]) -> Pooling {
    Pooling {
        batches: 1,
        height,
        width,
        channels,
        kernel_h: height,
        kernel_w: width,
        stride_h: 1,
        stride_w: 1,
        top: 0,
        bottom: 0,
        left: 0,
        right: 0,
        count_padding: false,
        input,
        out,
        storage,
        sum: SUM,
        min: storage.min() as i32,
        max: storage.max() as i32,
    }
}

/// Computes both forms of a scheme, and checks that they agree; `None` if the scheme does not accept the parameters.
fn agree(scheme: &Scheme, p: &Pooling, input: &[i32]) -> Option<Vec<Option<i32>>> {
    let Ok(exact) = scheme.exact(p, input) else {
        assert!(scheme.expected(p, input).is_err(), "{} {p:?}", scheme.label());
        assert!(scheme.definition.has_one_scale() && p.input != p.out, "{} {p:?}", scheme.label());
        return None;
    };
    let exact: Vec<Option<i32>> = exact.into_iter().map(|v| v.map(|v| v.to_i32().expect("clamped"))).collect();
    let expected = scheme.expected(p, input).expect("the other form takes it");
    for (i, (exact, expected)) in exact.iter().zip(&expected).enumerate() {
        assert_eq!(exact, expected, "{} at {i} of {p:?}, {input:?}", scheme.label());
    }
    Some(expected)
}

fn once() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|scheme| scheme.overflow == Overflow::Wrap)
}

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).expect("registered")
}

/// Every window of one to four elements between -3 and 3, at equal and at different quantization, without padding and with padding on two sides.
#[test]
fn forms_agree_on_all_windows_of_small_elements() {
    for elements in 1..=4u32 {
        let channels = 7usize.pow(elements);
        // One channel for each window.
        let element = |at: usize| -3 + (at % channels / 7usize.pow((at / channels) as u32) % 7) as i32;
        let input: Vec<i32> = (0..elements as usize * channels).map(element).collect();
        for operands in [
            [of(0.5, 0), of(0.5, 0)],
            [of(0.3, 1), of(0.3, 1)],
            [of(0.3, -2), of(0.1, 5)],
            [of(1.0, 127), of(4.0, -128)],
            [of(0.7, 3), of(512.0, 3)],
        ] {
            let plain = global(I8, 1, elements as usize, channels, operands);
            let padded = Pooling { kernel_h: 2, top: 1, bottom: 1, ..plain };
            for p in [plain, padded, Pooling { count_padding: true, min: -2, ..padded }] {
                for scheme in once() {
                    let results = agree(&scheme, &p, &input);
                    assert_eq!(results.is_none(), scheme.definition.has_one_scale() && operands[0] != operands[1]);
                    assert!(results.is_none_or(|results| results.iter().all(Option::is_some)), "{}", scheme.label());
                }
            }
        }
    }
}

/// Every sum of 8 bits for each count: an average depends on the sum only, except for `onnx`, which depends on the order of the elements.
#[test]
fn forms_agree_on_all_sums_of_8_bits() {
    for (count, operands) in [
        (1, [of(0.1, 3), of(0.1, 3)]),
        (2, [of(0.5, -128), of(0.5, -128)]),
        (3, [of(0.1, 0), of(0.3, 0)]),
        (4, [of(0.0235, 17), of(0.0235, 17)]),
        (9, [of(0.5, -1), of(0.7, 127)]),
        (16, [of(3.0, 0), of(1.0, 4)]),
        (49, [of(0.0235, -128), of(0.02, -128)]),
    ] {
        let sums: Vec<i32> = (-128 * count..=127 * count).collect();
        // Distributes the sum over the elements as evenly as possible.
        let element = |at: usize| {
            let (sum, place) = (sums[at % sums.len()], (at / sums.len()) as i32);
            sum.div_euclid(count) + i32::from(place < sum.rem_euclid(count))
        };
        let input: Vec<i32> = (0..sums.len() * count as usize).map(element).collect();
        let p = global(I8, 1, count as usize, sums.len(), operands);
        for scheme in once() {
            agree(&scheme, &p, &input);
        }
    }
}

/// Returns the scheme that rounds the average of stored values once.
fn of_stored(rule: RoundingRule) -> Scheme {
    let name = match rule {
        RoundingRule::TiesAway => "tflite".to_owned(),
        RoundingRule::TowardZero => "tvm".to_owned(),
        other => format!("stored-{}", other.name().replace("ties", "nearest")),
    };
    Scheme::parse(&name).expect("every rule has its scheme")
}

/// The averages of reals and of stored values are rounded, computed only with rationals.
#[test]
fn the_ideal_schemes_round_the_average() {
    let p = global(I8, 2, 2, 200, [of(0.1, 3), of(0.25, -5)]);
    let input: Vec<i32> = (0..800).map(|i| i * 37 % 256 - 128).collect();
    let [from, to] = [p.input, p.out].map(|operand| operand.exact_scale());
    for rule in RoundingRule::ALL {
        let real = Scheme::ideal(rule).expected(&p, &input).expect("in the domain");
        let equal = Pooling { out: p.input, ..p };
        let stored = of_stored(rule).expected(&equal, &input).expect("in the domain");
        for c in 0..200 {
            let sum: i32 = (0..4).map(|at| input[at * 200 + c]).sum();
            let average = Rational::from((Integer::from(sum - 12), 4)) * &from / &to;
            assert_eq!(real[c], (rule.round(&average) - 5i32).clamp(&-128, &127).to_i32(), "{sum}");
            assert_eq!(stored[c], rule.round(&Rational::from((sum, 4))).to_i32(), "{sum}");
        }
    }
}

/// Sums of two elements whose half each system rounds differently.
#[test]
fn ties_go_where_each_system_takes_them() {
    // 1/2, -1/2, 3/2, -3/2, without a zero point.
    let table = [
        ("tflite", [1, -1, 2, -2]),
        ("half-added", [1, 0, 2, -1]),
        ("tvm", [0, 0, 1, -1]),
        // The reciprocal exceeds a half by 2^-31, so ties round away from zero.
        ("tosa", [1, -1, 2, -2]),
        ("onnx", [0, 0, 2, -2]),
        ("pytorch", [0, 0, 2, -2]),
        ("xnnpack-fp32", [0, 0, 2, -2]),
        ("xnnpack-rndnu", [1, 0, 2, -1]),
        ("qnnpack", [1, -1, 2, -2]),
        ("nearest-down", [0, -1, 1, -2]),
        ("max", [1, 0, 2, -1]),
    ];
    let input = [1, 0, 2, -1, 0, -1, 1, -2];
    for (name, results) in table {
        let p = global(I8, 2, 1, 4, [of(0.5, 0); 2]);
        assert_eq!(agree(&scheme(name), &p, &input), Some(results.map(Some).to_vec()), "{name}");
    }
    // Zero point 1: systems that average stored values round these, zero point included.
    for (name, results) in [
        ("tflite", [1, -1, 2, -2]),
        ("nearest-away", [0, -1, 2, -2]),
        ("onnx", [0, 0, 2, -2]),
        ("xnnpack-fp32", [1, -1, 1, -1]),
    ] {
        let p = global(I8, 2, 1, 4, [of(0.5, 1); 2]);
        assert_eq!(agree(&scheme(name), &p, &input), Some(results.map(Some).to_vec()), "{name}");
    }
}

/// Half the count, added to a negative sum, gives a wrong integer and not only the wrong side of a tie.
#[test]
fn half_of_the_count_is_right_for_sums_of_one_sign() {
    let p = global(I8, 1, 4, 1, [of(1.0, 0); 2]);
    let results = |name: &str, input: &[i32]| agree(&scheme(name), &p, input).expect("taken")[0];
    assert_eq!((results("tflite", &[-1, -1, -1, -2]), results("half-added", &[-1, -1, -1, -2])), (Some(-1), Some(0)));
    assert_eq!((results("tflite", &[1, 1, 1, 2]), results("half-added", &[1, 1, 1, 2])), (Some(1), Some(1)));
}

/// One element under a window of nine, with eight positions of padding.
#[test]
fn padding_is_counted_or_not() {
    let plain = global(I8, 1, 1, 1, [of(0.5, 10); 2]);
    let p = Pooling { kernel_h: 3, kernel_w: 3, top: 1, bottom: 1, left: 1, right: 1, ..plain };
    let counted = Pooling { count_padding: true, ..p };
    for (name, without, with) in [
        ("tflite", 100, 11),
        ("tvm", 100, 11),
        ("nearest-even", 100, 20),
        ("onnx", 100, 20),
        ("pytorch", 100, 20),
        ("max", 100, 100),
    ] {
        let result = |p: &Pooling| agree(&scheme(name), p, &[100]).expect("taken")[0];
        assert_eq!((result(&p), result(&counted)), (Some(without), Some(with)), "{name}");
    }
}

#[test]
fn sums_wrap_in_their_word() {
    let p = global(U8, 1, 258, 1, [of(1.0, 0); 2]);
    let narrow = Pooling { sum: Storage { bits: 16, signed: false }, ..p };
    for (name, wrapped) in [("tflite", 1), ("nearest-even", 1)] {
        assert_eq!(agree(&scheme(name), &p, &[255; 258]), Some(vec![Some(255)]));
        // 258 * 255 is 2^16 plus 254.
        assert_eq!(agree(&scheme(name), &narrow, &[255; 258]), Some(vec![Some(wrapped)]), "{name}");
    }
}

/// The reciprocal of the specification: 31 bits, and for a power of two one unit too large in the last of 30 bits.
#[test]
fn the_reciprocal_has_31_bits() {
    let p = global(I8, 1, 1, 1, [of(1.0, 0); 2]);
    for count in (1..=1000).chain([4095, 4096, 4097, 65_535]) {
        let multiplier = Multiplier::Reciprocal.exact(&p, count);
        let k = count.next_power_of_two().ilog2();
        let significand = multiplier.clone() << (30 + k);
        assert!(significand.is_integer() && (1u32 << 30..1u32 << 31).contains(&significand), "{count}");
        let off = multiplier * Integer::from(count) - 1u32;
        assert!(off > Rational::from((-1, 1 << 30)) && off <= Rational::from((1, 1 << 30)), "{count}");
    }
}

#[test]
fn what_cannot_be_is_named() {
    let sound = global(I8, 2, 3, 1, [of(1.0, 0); 2]);
    let argument = |p: Pooling| p.check().expect_err("no such pooling").argument;
    assert_eq!(sound.check(), Ok([6, 1]));
    assert_eq!(argument(Pooling { batches: 0, ..sound }), "batches");
    assert_eq!(argument(Pooling { channels: 0, ..sound }), "channels");
    assert_eq!(argument(Pooling { height: 0, ..sound }), "height");
    assert_eq!(argument(Pooling { kernel_h: 3, ..sound }), "kernel_h");
    assert_eq!(argument(Pooling { stride_w: 0, ..sound }), "stride_w");
    assert_eq!(argument(Pooling { top: 2, ..sound }), "top");
    assert_eq!(argument(Pooling { bottom: 2, ..sound }), "bottom");
    assert_eq!(argument(Pooling { left: 3, ..sound }), "left");
    assert_eq!(argument(Pooling { right: 4, ..sound }), "right");
    assert_eq!(argument(Pooling { input: of(0.0, 0), ..sound }), "input");
    assert_eq!(argument(Pooling { out: of(1.0, 200), ..sound }), "out");
    assert_eq!(argument(Pooling { out: of(2f32.powi(21), 0), ..sound }), "out");
    assert_eq!(Pooling { out: of(2f32.powi(-20), 0), ..sound }.check(), Ok([6, 1]));
    assert_eq!(argument(Pooling { min: 3, max: 2, ..sound }), "min");
    assert_eq!(argument(Pooling { min: -129, ..sound }), "min");
    assert_eq!(argument(Pooling { max: 128, ..sound }), "max");
    let refused = |p: Pooling, input: &[i32]| scheme("tflite").expected(&p, input).expect_err("refused").argument;
    assert_eq!(refused(sound, &[0; 5]), "input");
    assert_eq!(refused(sound, &[128, 0, 0, 0, 0, 0]), "input");
    assert_eq!(refused(Pooling { out: of(2.0, 0), ..sound }, &[0; 6]), "out");
    let wide = global(I16, 256, 256, 1, [of(1.0, 0); 2]);
    assert_eq!(refused(wide, &vec![-32768; 1 << 16]), "kernel_h");
}

fn operand(storage: Storage, exponents: RangeInclusive<i32>) -> impl Strategy<Value = Operand> {
    let significand = prop_oneof![3 => 0u32..1 << 23, 1 => Just(0), 1 => Just((1 << 23) - 1)];
    let scale = (significand, exponents).prop_map(|(n, e)| ((e + 127) as u32) << 23 | n);
    (scale, storage.min() as i32..=storage.max() as i32).prop_map(|(scale, zero_point)| Operand { scale, zero_point })
}

fn pooling() -> impl Strategy<Value = (Pooling, Vec<i32>)> {
    let sides = || (1usize..5, 1usize..4, 0usize..4, 0usize..4, 0usize..4);
    let kinds = (prop_oneof![Just(I8), Just(U8), Just(I16)], any::<bool>(), any::<bool>(), 1usize..3, 1usize..4);
    (kinds, sides(), sides()).prop_flat_map(|((storage, equal, count_padding, batches, channels), rows, columns)| {
        let side = |(kernel, stride, before, after, more): (usize, usize, usize, usize, usize)| {
            let (before, after) = (before.min(kernel - 1), after.min(kernel - 1));
            ((kernel.saturating_sub(before + after)).max(1) + more, kernel, stride, before, after)
        };
        let ((height, kernel_h, stride_h, top, bottom), (width, kernel_w, stride_w, left, right)) =
            (side(rows), side(columns));
        let stored = storage.min() as i32..=storage.max() as i32;
        let values = prop::collection::vec(stored.clone(), batches * height * width * channels);
        let operands = (operand(storage, -9..=9), operand(storage, -9..=9));
        (operands, [stored.clone(), stored], values).prop_map(move |((input, out), ends, values)| {
            let (min, max) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let out = if equal { input } else { out };
            #[rustfmt::skip]
            let p = Pooling {
                batches, height, width, channels, kernel_h, kernel_w, stride_h, stride_w, top, bottom, left, right,
                count_padding, input, out, storage, sum: SUM, min, max,
            };
            (p, values)
        })
    })
}

proptest! {
    #[test]
    fn forms_agree_on_random_poolings((p, input) in pooling()) {
        let taken: BTreeSet<&str> = once().filter(|scheme| agree(scheme, &p, &input).is_some()).map(|s| s.definition.name).collect();
        prop_assert!(taken.contains("onnx"));
        let narrow = Pooling { sum: Storage { bits: 8, signed: p.storage.signed }, ..p };
        for name in ["tflite", "tosa", "nearest-even", "xnnpack-fp32"] {
            agree(&scheme(name), &narrow, &input);
        }
    }

    /// Every scheme except directed rounding is within one of the exact average, if counted padding is the zero point.
    #[test]
    fn schemes_are_within_one_of_the_average((p, input) in pooling()) {
        let p = Pooling { out: p.input, count_padding: false, ..p };
        prop_assume!(p.storage.bits == 8);
        let ideal = Scheme::ideal(RoundingRule::TiesEven).expected(&p, &input).expect("in the domain");
        for scheme in once().filter(|s| !s.definition.is_largest()) {
            for (one, other) in ideal.iter().zip(scheme.expected(&p, &input).expect("in the domain")) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                prop_assert!(one.abs_diff(other) <= 1, "{} {p:?}", scheme.label());
            }
        }
    }
}

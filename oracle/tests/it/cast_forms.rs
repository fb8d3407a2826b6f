//! Invariant 2 for quantize and dequantize: big rationals and machine integers give the same results, for every pattern of 16
//! bits and many types, and for directed and random patterns at 32 and 64 bits.

use proptest::prelude::*;
use rug::Rational;
use tiebreak_oracle::dequantize;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::scheme::DEFINITIONS;
use tiebreak_oracle::quantize::steps::{Addend, Step, Value, run};
use tiebreak_oracle::quantize::{BadQuantization, Quantization, Scheme, Storage, Stored};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

fn check(scheme: &Scheme, q: &Quantization, bits: u64) {
    assert_eq!(scheme.expected(q, bits), scheme.exact(q, bits), "{} at {bits:#x} {q:?}", scheme.label());
}

fn quantization(format: Format, scale: &str, zero_point: i64, storage: &str) -> Quantization {
    let scale = format.from_decimal(scale).unwrap();
    let q = Quantization::whole(format, scale, zero_point, Storage::parse(storage).unwrap());
    q.check().unwrap();
    q
}

fn bounded(q: Quantization, min: i64, max: i64) -> Quantization {
    let q = Quantization { min, max, ..q };
    q.check().unwrap();
    q
}

fn scheme(label: &str) -> Scheme {
    Scheme::parse(label).unwrap()
}

/// Odd scales, zero points that overflow in the format or are not representable, and reciprocals that overflow.
fn types(format: Format) -> [Quantization; 6] {
    [
        bounded(quantization(format, "0.3", 1, "i8"), -8, 7),
        quantization(format, "1.0", 0, "i1"),
        quantization(format, "7.7", 3001, "i16"),
        quantization(format, "0.00001", -2_147_483_648, "i32"),
        Quantization { scale: 1, ..quantization(format, "1.0", 255, "u8") },
        quantization(format, "60000", 3, "u4"),
    ]
}

#[test]
fn the_main_schemes_agree_on_every_16_bit_pattern() {
    for (i, q) in [Format::F16, Format::Bf16].into_iter().flat_map(types).enumerate() {
        let odd = ["zero-point-after-nearest-away", "reciprocal-toward-zero:wrap", "toward-negative"][i % 3];
        for scheme in ["nearest-even", "mlir-qcast", odd].map(scheme) {
            (0..=0xFFFF).for_each(|bits| check(&scheme, &q, bits));
        }
    }
}

#[test]
fn every_scheme_agrees_on_16_bit_patterns() {
    for q in [Format::F16, Format::Bf16].into_iter().flat_map(types) {
        for (i, scheme) in Scheme::every().enumerate() {
            (i as u64..=0xFFFF).step_by(331).for_each(|bits| check(&scheme, &q, bits));
        }
    }
}

/// Returns a pattern near the boundary below the stored value `k`, for any scheme.
fn near(q: &Quantization, k: i64, eighths: i64, off: i64) -> u64 {
    let x = (Rational::from((8 * (k - q.zero_point) - 4 + eighths, 8))) * q.exact_scale();
    let key = q.format.key(q.format.nearest(&x)).unwrap() + off;
    let most = q.format.infinity() as i64;
    q.format.from_key(key.clamp(-most - 1, most))
}

fn any_quantization() -> impl Strategy<Value = Quantization> {
    let format = prop::sample::select(Format::ALL.to_vec());
    (format, any::<u64>(), any::<bool>(), any::<i64>(), 1u32..=32, any::<bool>(), any::<[u32; 2]>()).prop_map(
        |(format, scale, usual, zero_point, bits, signed, bounds)| {
            let storage = Storage { bits, signed };
            let around_one =
                format.nearest(&Rational::from(1)) + ((scale % 7) << (format.precision() - 1)) + (scale >> 12) % 1021;
            let scale = if usual { around_one } else { 1 + scale % (format.infinity() - 1) };
            let zero_point = storage.wrap(zero_point >> (zero_point & 31));
            let mut bounds = bounds.map(|b| storage.wrap((b >> (b & 7)).into()));
            bounds.sort();
            Quantization { format, scale, zero_point, storage, min: bounds[0], max: bounds[1] }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_scheme_agrees_on_any_type(
        q in any_quantization(), bits in any::<u64>(), k in any::<i64>(), eighths in 0i64..8, off in -2i64..=2,
    ) {
        prop_assert_eq!(q.check(), Ok(()));
        let near = near(&q, q.min + k.rem_euclid(q.max - q.min + 1), eighths, off);
        for scheme in Scheme::every() {
            check(&scheme, &q, bits);
            check(&scheme, &q, near);
        }
    }

    #[test]
    fn dequantize_agrees_on_any_type(q in any_quantization(), k in any::<i64>()) {
        for stored in [k, q.zero_point + (k & 3) - 1].map(|k| q.storage.wrap(k)) {
            for scheme in dequantize::Scheme::every() {
                prop_assert_eq!(scheme.expected(&q, stored), scheme.exact(&q, stored), "{} {} {:?}", scheme.label(), stored, q);
                prop_assert_eq!(scheme.fixed(&q).expected(stored), scheme.exact(&q, stored), "{} {} {:?}", scheme.label(), stored, q);
            }
        }
    }

    #[test]
    fn f32_quotients_are_the_hardwares(x in any::<f32>(), scale in 1e-30f32..1e30) {
        // Native f32 arithmetic, like the source of the scheme.
        let q = Quantization::whole(Format::F32, scale.to_bits().into(), 3, Storage { bits: 8, signed: true });
        let tflite = ((x / scale).round() as f64 + 3.0).clamp(-128.0, 127.0) as i64;
        prop_assume!(!x.is_nan());
        prop_assert_eq!(scheme("tflite").exact(&q, x.to_bits().into()), Stored::Value(tflite));
        let sum = x / scale + 3.0;
        let qcast = if sum > -129.0 && sum < 128.0 { Stored::Value(sum as i64) } else { Stored::Poison };
        prop_assert_eq!(scheme("mlir-qcast").exact(&q, x.to_bits().into()), qcast);
    }
}

#[test]
fn dequantize_at_fixed_parameters_agrees_on_every_16_bit_value() {
    for (i, q) in Format::ALL.into_iter().flat_map(types).enumerate() {
        for scheme in dequantize::Scheme::every().skip(i % 3).step_by(3) {
            let fixed = scheme.fixed(&q);
            let mut filled = [u64::MAX; 9];
            fixed.fill(q.storage.min() + 5, &mut filled);
            let each: Vec<u64> = (5..14).map(|more| fixed.expected(q.storage.min() + more)).collect();
            assert_eq!(filled[..], each, "{} {q:?}", scheme.label());
            for stored in (-0x8000..0x8000).chain((i64::from(i32::MIN)..=i64::from(u32::MAX)).step_by(0x3_FFFF)) {
                assert_eq!(fixed.expected(stored), scheme.expected(&q, stored), "{} at {stored} {q:?}", scheme.label());
            }
        }
    }
}

#[test]
fn known_values_of_each_scheme() {
    let f32 = |x: f32| u64::from(x.to_bits());
    let q = quantization(Format::F32, "0.1", 0, "i8");
    assert_eq!(scheme("mlir-qcast").exact(&q, f32(12.8)), Stored::Poison);
    assert_eq!(scheme("mlir-qcast:saturate").exact(&q, f32(12.8)), Stored::Value(127));
    assert_eq!(scheme("mlir-qcast:wrap").exact(&q, f32(12.8)), Stored::Value(-128));
    // FBGEMM's own example of a product that differs from the quotient.
    let q = Quantization { scale: f32(0.002_148_548_6), ..quantization(Format::F32, "1", 0, "u8") };
    assert_eq!(scheme("pytorch").exact(&q, f32(0.273_939_94)), Stored::Value(128));
    assert_eq!(scheme("tflite").exact(&q, f32(0.273_939_94)), Stored::Value(127));
    // sonos/tract pull request 2850: ties away instead of the promised ties to even.
    let q = quantization(Format::F32, "0.5", 0, "i8");
    let ties = |label: &str| [0.25, 0.75, 1.25, 1.75].map(|x| scheme(label).exact(&q, f32(x)).value().unwrap());
    assert_eq!(ties("zero-point-after-nearest-away"), [1, 2, 3, 4]);
    assert_eq!(ties("zero-point-after-nearest-even"), [0, 2, 2, 4]);
    // pytorch issue 175620: the zero point is added in f32 before the rounding.
    let q = quantization(Format::F32, "1", 63, "i8");
    assert_eq!(scheme("pytorch-legacy").exact(&q, f32(63.500_004)), Stored::Value(126));
    assert_eq!(scheme("pytorch").exact(&q, f32(63.500_004)), Stored::Value(127));
}

#[test]
fn every_rule_has_its_schemes() {
    for rule in RoundingRule::ALL {
        let [ideal, qcast] = [Scheme::ideal(rule), Scheme::qcast(rule, Overflow::Saturate)];
        let rounds = |s: &Scheme| {
            s.definition
                .steps
                .iter()
                .any(|(_, s)| matches!(s, Step::RoundToInteger(r) | Step::Convert(r) if *r == rule))
        };
        assert!(rounds(&ideal) && rounds(&qcast));
        assert_eq!(qcast.label(), format!("mlir-qcast-{}:saturate", ideal.label()));
        for (_, step) in [ideal, qcast].iter().flat_map(|s| s.definition.steps) {
            assert!(!matches!(step, Step::RoundToInteger(r) | Step::Convert(r) if *r != rule));
        }
    }
    let names: std::collections::BTreeSet<_> = DEFINITIONS.iter().map(|d| d.name).collect();
    assert_eq!((names.len(), DEFINITIONS.len()), (43, 43));
}

/// Quotients at the ends of int32. Beyond the ends, also if only the zero point leads there, the result is undefined or wraps.
#[test]
fn a_quotient_at_the_end_of_int32_has_a_value_wraps_or_is_poison() {
    let f32 = |x: f32| u64::from(x.to_bits());
    let largest = 2_147_483_520.0f32;
    let at = |label: &str, zero_point, x: f32| {
        let q = quantization(Format::F32, "1", zero_point, "i16");
        [scheme(label).exact(&q, f32(x)), scheme(label).expected(&q, f32(x))]
    };
    let (value, poison) = (|v| [Stored::Value(v); 2], [Stored::Poison; 2]);
    for label in ["onnx-other-axis", "tflite-double"] {
        // 2^31 - 128 plus 127 is the largest int32.
        assert_eq!([127, 128].map(|z| at(label, z, largest)), [value(32767), poison], "{label}");
        assert_eq!([0, -1].map(|z| at(label, z, -2_147_483_648.0)), [value(-32768), poison], "{label}");
        assert_eq!([2_147_483_648.0, -2_147_483_904.0].map(|x| at(label, 0, x)), [poison; 2], "{label}");
    }
    assert_eq!([127, 128].map(|z| at("tflite-neon", z, largest)), [value(32767), value(-32768)]);
    assert_eq!([0, -1].map(|z| at("tflite-neon", z, -3e9)), [value(-32768), value(32767)]);
    assert_eq!([0, 1].map(|z| at("tflite-neon", z, 3e9)), [value(32767), value(-32768)]);
}

/// LiteRT, finding 26: one value, in whole vectors of 8 and in the elements after them.
#[test]
fn vectors_of_tflite_multiply_and_the_elements_behind_them_divide() {
    let f32 = |x: f32| u64::from(x.to_bits());
    let q = quantization(Format::F32, "0.1", 0, "u8");
    assert_eq!(
        ["tflite-neon", "tflite-double"].map(|s| scheme(s).exact(&q, f32(12.75))),
        [128, 127].map(Stored::Value)
    );
    let q = quantization(Format::F32, "1", 0, "i8");
    let ties = |label: &str| [0.5, -1.5, 1.5, 2.5, -2.5].map(|x| scheme(label).exact(&q, f32(x)).value().unwrap());
    assert_eq!(ties("tflite-double"), [1, -2, 2, 3, -3]);
    assert_eq!(ties("tflite-neon"), [0, -2, 2, 2, -2]);
}

/// The double quotient is a tie that rounds, with the zero point, to 2^31; the exact quotient differs from this tie by 1 / (2 * scale). The scale is
/// plus or minus the inverse of `2 * zero_point + 1` modulo 2^32, if that has 24 bits.
#[test]
fn a_double_at_a_tie_has_no_value_where_the_exact_quotient_has_one() {
    let (mut below, mut above) = (0, 0);
    for zero_point in 1..=32767u32 {
        let odd = 2 * zero_point + 1;
        let inverse = (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse))));
        assert_eq!(inverse.wrapping_mul(odd), 1);
        for (scale, rest) in [(inverse, 1), (inverse.wrapping_neg(), -1)] {
            if !(1 << 22..1 << 24).contains(&scale) {
                continue;
            }
            let steps = (i64::from(odd) * i64::from(scale) - rest) >> 32;
            let x = (i64::from(scale) - steps) as f32 * 2f32.powi(31);
            let scale = scale as f32;
            let quotient = f64::from(x) / f64::from(scale);
            assert_eq!(quotient, 2_147_483_648.0 - f64::from(zero_point) - 0.5);
            let q = Quantization {
                zero_point: zero_point.into(),
                ..quantization(Format::F32, &format!("{scale}.0"), 0, "i16")
            };
            let bits = x.to_bits().into();
            for result in [scheme("tflite-double").exact(&q, bits), scheme("tflite-double").expected(&q, bits)] {
                assert_eq!(result, Stored::Poison, "{zero_point} {scale}");
            }
            // The next lower float has a value.
            assert_eq!(scheme("tflite-double").exact(&q, bits - 1), Stored::Value(32767));
            let exact = Rational::from_f32(x).unwrap() / q.exact_scale();
            let tie = Rational::from_f64(quotient).unwrap();
            assert_ne!(exact, tie);
            below += u32::from(exact < tie);
            above += u32::from(exact > tie);
        }
    }
    assert!(below > 10 && above > 10, "{below} {above}");
}

#[test]
fn a_changed_step_list_runs_too() {
    // llvm/torch-mlir issue 4487: the conversion to i8 precedes the addition of the zero point.
    let q = quantization(Format::F32, "0.014940246", -128, "i8");
    let early = [
        ("divide", Step::Divide),
        ("convert", Step::Convert(RoundingRule::TiesEven)),
        ("add", Step::Add(Addend::ZeroPoint)),
        ("clamp", Step::Clamp),
    ];
    let bits = u64::from(3.4501f32.to_bits());
    let (after, result) = run(&early, Overflow::Saturate, &q, bits);
    assert_eq!((after.len(), result), (4, Stored::Value(-1)));
    assert_eq!(run(&early, Overflow::OutOfDomain, &q, bits).1, Stored::Poison);
    assert_eq!(scheme("nearest-even").exact(&q, bits), Stored::Value(103));
}

#[test]
fn a_trace_shows_each_value_before_and_after_its_rounding() {
    let q = quantization(Format::F32, "0.1", 3, "i8");
    let trace = scheme("mlir-qcast").definition.trace(Overflow::OutOfDomain, &q, 1f32.to_bits().into());
    let tenth = q.exact_scale();
    let quotient = Rational::from(tenth.recip_ref());
    assert_eq!(trace.exact, Some(Rational::from(&quotient + 3u32)));
    let ten = || Value::Number(10.into());
    let values: Vec<Value> = trace.steps.into_iter().map(|(_, value)| value).collect();
    let thirteen = || Value::Number(13.into());
    assert_eq!(values, [Value::Number(quotient), ten(), thirteen(), thirteen(), thirteen(), thirteen()]);
    assert_eq!(trace.result, Stored::Value(13));
}

#[test]
fn nan_and_infinities_follow_each_policy() {
    let q = quantization(Format::F32, "0.5", 5, "i8");
    let specials = [0x7F80_0000, 0xFF80_0000, 0x7FC0_0000];
    let value = Stored::Value;
    for (label, expected) in [
        ("nearest-even", [value(127), value(-128), Stored::Unspecified]),
        ("mlir-qcast", [Stored::Poison; 3]),
        ("mlir-qcast:saturate", [value(127), value(-128), value(0)]),
        ("mlir-qcast:wrap", [Stored::Poison; 3]),
        ("tflite", [value(127), value(-128), Stored::Poison]),
        ("onnx", [value(127), value(-128), value(-128)]),
        ("pytorch", [value(127), value(-128), Stored::Poison]),
        ("pytorch-fused", [value(127), value(-128), value(127)]),
        ("xnnpack", [value(127), value(-128), value(-128)]),
        ("neon-fcvtns", [value(127), value(-128), value(5)]),
        ("onnx-other-axis", [Stored::Poison; 3]),
        // 2^31 - 1 plus 5 wraps to -2^31 + 4.
        ("tflite-neon", [value(-128), value(-128), value(5)]),
        ("tflite-double", [Stored::Poison; 3]),
    ] {
        assert_eq!(specials.map(|bits| scheme(label).exact(&q, bits)), expected, "{label}");
        assert_eq!(specials.map(|bits| scheme(label).expected(&q, bits)), expected, "{label}");
    }
}

#[test]
fn parameters_that_cannot_be_are_told() {
    let good = quantization(Format::F32, "0.5", 5, "i8");
    for scale in [0, 0x8000_0001, 0x7F80_0000, 0x7FC0_0000, 1 << 40] {
        assert_eq!(Quantization { scale, ..good }.check(), Err(BadQuantization::Scale(scale)));
    }
    assert_eq!(Quantization { zero_point: 1 << 32, ..good }.check(), Err(BadQuantization::ZeroPoint(1 << 32)));
    assert!(matches!(Quantization { min: -129, ..good }.check(), Err(BadQuantization::Bounds { .. })));
    assert!(matches!(Quantization { min: 3, max: 2, ..good }.check(), Err(BadQuantization::Bounds { .. })));
    for name in ["i0", "i33", "u", "8", "i08", "i+8", "s8", "", "i99999999999"] {
        assert!(Storage::parse(name).is_err(), "{name}");
    }
    for name in ["i1", "u1", "i8", "u32"] {
        assert_eq!(Storage::parse(name).unwrap().name(), name);
    }
    assert_eq!(Storage::parse("i8").unwrap().wrap(300), 44);
    assert_eq!(Storage::parse("u4").unwrap().wrap(-1), 15);
}

//! Numbers measured on the compiler of MLIR 22 over all 2^32 patterns, here in closed form, and known results of
//! dequantize.

use rug::Rational;
use tiebreak_oracle::dequantize;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{Differences, Quantization, Runs, Scheme, Storage, Stored};

fn quantization(format: Format, scale: &str, zero_point: i64, storage: &str) -> Quantization {
    let scale = format.from_decimal(scale).unwrap();
    Quantization::whole(format, scale, zero_point, Storage::parse(storage).unwrap())
}

/// Returns `!quant.uniform<i8<-8:7>:f32, 0.3:1>`, with the scale rounded to f32.
fn example() -> Quantization {
    Quantization { min: -8, max: 7, ..quantization(Format::F32, "0.3", 1, "i8") }
}

fn runs(label: &str) -> Runs {
    Runs::new(&Scheme::parse(label).unwrap(), &example()).unwrap()
}

fn differ(left: &str, right: &str) -> Differences {
    runs(left).differ(&runs(right))
}

fn count(runs: &Runs, result: Stored) -> u64 {
    runs.iter().filter(|(_, r)| *r == result).map(|(keys, _)| keys.end().abs_diff(*keys.start()) + 1).sum()
}

/// `TRUNC`: the exact sum, zero point included, truncated and clamped, compared with the exact sum rounded to nearest even and
/// clamped.
#[test]
fn exact_truncation_differs_from_exact_nearest_even_on_1071644666_patterns() {
    let trunc = differ("nearest-even", "toward-zero");
    assert_eq!((trunc.valued, trunc.without_value), (4_278_190_082, 0));
    assert_eq!(trunc.differ(), 1_071_644_666);
    assert_eq!(trunc.by_delta.into_iter().collect::<Vec<_>>(), [(-1, 1_059_900_618), (1, 11_744_048)]);
}

/// `F32R`: the RFC's steps in f32 compared with exact truncation. Poison adds no difference, because a saturating conversion
/// agrees there.
#[test]
fn the_f32_steps_differ_from_exact_truncation_on_840538525_patterns() {
    let stepped = differ("toward-zero", "mlir-qcast");
    assert_eq!(stepped.differ(), 840_538_525);
    assert_eq!((stepped.valued, stepped.without_value), (4_278_190_082 - 2_060_163_483, 2_060_163_483));
    assert_eq!(differ("toward-zero", "mlir-qcast:saturate").differ(), 840_538_525);
    assert_eq!(count(&runs("mlir-qcast"), Stored::Poison), 2_060_163_483);
}

#[test]
fn nearest_even_of_the_f32_steps_misses_the_exact_answer_on_11_patterns() {
    let ideal = differ("nearest-even", "mlir-qcast-nearest-even:saturate");
    assert_eq!(ideal.differ(), 11);
    let witness = ideal.witness.unwrap();
    assert_eq!(f32::from_bits(witness.bits as u32), 0.149_999_99);
    assert_eq!((witness.left, witness.right), (Stored::Value(1), Stored::Value(2)));
}

/// 3 patterns differ from the quotient, with the sum rounded or truncated; 12 differ from the exact result.
#[test]
fn the_reciprocal_differs_from_the_division_on_3_patterns() {
    assert_eq!(differ("mlir-qcast-nearest-even:saturate", "reciprocal-nearest-even:saturate").differ(), 3);
    assert_eq!(differ("mlir-qcast:saturate", "reciprocal-toward-zero:saturate").differ(), 3);
    assert_eq!(differ("nearest-even", "reciprocal-nearest-even:saturate").differ(), 12);
}

/// cvttps2dq gives INT_MIN from 2^31 on, which packs to the minimum. Only these poison inputs of x86 vector code differ from
/// saturation. The first is the last boundary of the same steps with 32-bit storage.
#[test]
fn the_vector_conversion_of_x86_differs_from_saturation_on_828794471_patterns() {
    let q = quantization(Format::F32, "0.3", 1, "i32");
    let scheme = Scheme::parse("mlir-qcast").unwrap();
    let overflow = scheme.threshold(&q, Stored::Value(0), Stored::Poison).unwrap();
    let first = overflow.first(Format::F32).unwrap();
    assert_eq!(Format::F32.infinity() - first + 1, 828_794_471);
}

#[test]
fn libraries_differ_from_their_own_formula_on_few_patterns() {
    for (label, count) in [("onnx", 3), ("pytorch", 4), ("xnnpack", 4), ("neon-fcvtns", 4)] {
        assert_eq!(differ("zero-point-after-nearest-even", label).differ(), count, "{label}");
    }
    // `tflite` rounds ties away after the division in f32; `pytorch-legacy` equals the reciprocal steps.
    assert_eq!(differ("nearest-even", "tflite").differ(), 7);
    assert_eq!(differ("pytorch-legacy", "reciprocal-nearest-even:saturate").differ(), 0);
}

fn dequantized(label: &str, q: &Quantization, stored: i64) -> Rational {
    let scheme = dequantize::Scheme::parse(label).unwrap();
    let bits = scheme.exact(q, stored);
    assert_eq!(scheme.expected(q, stored), bits);
    q.format.decode(bits).finite().unwrap().clone()
}

fn shows(label: &str, q: &Quantization, stored: i64) -> f64 {
    dequantized(label, q, stored).to_f64()
}

#[test]
fn storage_of_8_and_16_bits_dequantizes_to_f32_correctly_rounded() {
    let [ideal, steps] = ["ideal", "mlir-dcast"].map(|label| dequantize::Scheme::parse(label).unwrap());
    for storage in ["i8", "u8", "i16", "u16"].map(|name| Storage::parse(name).unwrap()) {
        let (min, max) = (storage.min(), storage.max());
        for (zero_point, scale) in
            [(min, "0.1"), (max, "1e-38"), (0, "3.1e37"), (min + 77, "1028.02"), (max - 1, "1e-45")]
        {
            let q = quantization(Format::F32, scale, zero_point, &storage.name());
            for stored in min..=max {
                assert_eq!(steps.expected(&q, stored), ideal.expected(&q, stored), "{stored} {q:?}");
            }
        }
    }
}

#[test]
fn wider_storage_and_narrower_formats_lose_the_difference() {
    let q = quantization(Format::F32, "0.001", 16_777_217, "i32");
    assert_eq!(shows("mlir-dcast", &q, 16_777_216), 0.0);
    assert_eq!(shows("ideal", &q, 16_777_216), -f64::from(0.001f32));
    assert_eq!(shows("integer-difference", &q, 16_777_216), -f64::from(0.001f32));
    let q = quantization(Format::F16, "1.0", 3000, "i16");
    assert_eq!(shows("mlir-dcast", &q, 2999), 0.0);
    assert_eq!(shows("ideal", &q, 2999), -1.0);
}

/// In double the product of a difference of at most 29 bits and an f32 is exact; for more bits, two roundings may differ from one.
#[test]
fn the_product_in_double_rounds_twice_only_for_wide_differences() {
    let [ideal, double] = ["ideal", "tflite"].map(|label| dequantize::Scheme::parse(label).unwrap());
    let q = quantization(Format::F32, "1028.02", -5, "i16");
    for stored in i64::from(i16::MIN)..=i64::from(i16::MAX) {
        assert_eq!(double.expected(&q, stored), ideal.expected(&q, stored));
    }
    let q = quantization(Format::F32, "16776959", 0, "i32");
    assert_eq!(shows("ideal", &q, 1_073_807_105), 18_015_216_700_751_872.0);
    assert_eq!(shows("tflite", &q, 1_073_807_105), 18_015_218_848_235_520.0);
}

#[test]
fn the_distributed_product_cancels() {
    let q = quantization(Format::F32, "1028.02", 255, "u8");
    assert_eq!(shows("distributed", &q, 254), -1028.015625);
    assert_eq!(shows("ideal", &q, 254), -f64::from(1028.02f32));
    assert_eq!(shows("mlir-dcast", &q, 254), -f64::from(1028.02f32));
}

#[test]
fn overflow_on_the_way_is_seen() {
    let q = quantization(Format::F16, "60000", 100_000, "i32");
    let result = |label: &str, stored| dequantize::Scheme::parse(label).unwrap().exact(&q, stored);
    // The zero point is infinite in f16, so every difference is infinite, except NaN for two infinities.
    assert_eq!(result("mlir-dcast", 99_999), Format::F16.nan());
    assert_eq!(result("mlir-dcast", 0), Format::F16.infinity() | Format::F16.sign());
    assert_eq!(result("ideal", 100_001), Format::F16.nearest(&60_000.into()));
    assert_eq!(result("ideal", 100_002), Format::F16.infinity());
}

/// Integers that are not ties of bf16, but that f32 rounds to such ties. From 2^24 on, each of the 128 ties in a binade has such integers
/// within half a unit of f32, on one side.
#[test]
fn integers_of_32_bits_round_twice_on_their_way_to_bf16() {
    let nearest =
        |format: Format, v: i64| format.decode(format.nearest(&v.into())).finite().unwrap().numer().to_i64().unwrap();
    let differs = |v: i64| nearest(Format::Bf16, nearest(Format::F32, v)) != nearest(Format::Bf16, v);
    let mut counts = Vec::new();
    for power in 24..32 {
        let half = 1i64 << (power - 24);
        for odd in (257..512).step_by(2) {
            let between = odd << (power - 8);
            // On the side away from the even neighbour; the farthest is a tie of f32, which rounds to even.
            let (first, last) =
                if odd % 4 == 1 { (between + 1, between + half) } else { (between - half, between - 1) };
            assert!(differs(first) && differs(last) && differs(-first) && differs(-last));
            assert!(!differs(first - 1) && !differs(last + 1) && !differs(between));
            counts.push((power, half));
        }
    }
    let sum = |below: u32| counts.iter().filter(|(power, _)| *power < below).map(|(_, half)| half).sum::<i64>();
    assert_eq!((2 * sum(31), sum(32)), (32_512, 32_640));
    // No other integers differ: checked around 2^24 and at the ends of the words.
    let all = (1i64 << 24) - 1000..(1 << 24) + (1 << 18);
    assert_eq!(all.filter(|v| differs(*v)).count(), 2);
    assert!(!differs(i64::from(i32::MAX)) && !differs(i64::from(i32::MIN)) && !differs(i64::from(u32::MAX)));
}

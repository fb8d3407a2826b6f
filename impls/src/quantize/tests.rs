//! Quantizations at values from the sources, and at every position.

use super::*;
use crate::Form;
use crate::expressed::{Real, with_real};
use crate::quantized::{Granularity, I8, I16, I32, Quantized, Scale, U8};

/// Returns parameters of a layer of these types, with `len` elements of rank 1.
pub(crate) fn layer(expressed: Expressed, storage: Storage, scale: f64, zero_point: i64, len: usize) -> Params {
    let (min, max) = (*storage.range().start(), *storage.range().end());
    let granularity = Granularity::Layer;
    let (scales, zero_points) = (vec![Scale(scale)], vec![zero_point]);
    let quantized = Quantized { storage, min, max, expressed, granularity, scales, zero_points };
    Params { quantized, container: Container::Ranked, shape: vec![len] }
}

/// Returns the words of these values in an expressed type, each rounded to that type.
pub(crate) fn words(expressed: Expressed, values: &[f64]) -> Vec<i32> {
    fn of<T: Real>(values: &[f64]) -> Vec<i32> {
        let mut words = vec![0; values.len() * T::WORDS];
        words.chunks_exact_mut(T::WORDS).zip(values).for_each(|(words, value)| T::nearest(*value).store(words));
        words
    }
    with_real!(expressed, of::<_>(values))
}

/// Returns the results of a kernel for these values.
pub(crate) fn quantize(kernel: &Kernel, form: Form, params: &Params, values: &[f64]) -> Vec<i32> {
    let mut out = vec![i32::MIN; values.len()];
    kernel.run(form)(params, &words(params.quantized.expressed, values), &mut out);
    out
}

/// Returns the storage types with which to try a domain.
pub(crate) fn storages(domain: &Domain) -> Vec<Storage> {
    let all = || (1..=32).flat_map(|bits| [true, false].map(|signed| Storage { bits, signed })).collect();
    if domain.storage.is_empty() { all() } else { domain.storage.to_vec() }
}

fn named(name: &str) -> &'static Kernel {
    find(name).expect(name)
}

#[test]
fn kernels_have_names_of_their_own() {
    for (i, kernel) in kernels().iter().enumerate() {
        assert!(kernels()[..i].iter().all(|other| other.name != kernel.name), "{}", kernel.name);
        assert!(!kernel.name.starts_with("mutant-") && kernel.summary.len() < 120, "{}", kernel.name);
    }
}

/// Models of the lowering's code, which differ only on poison.
const MODELS: [&str; 5] =
    ["mlir-qcast", "mlir-qcast-vector", "mlir-qcast-arm", "mlir-qcast-neon", "mlir-qcast-neon-f16"];

/// Uses the same value at every index: no kernel's result depends on index or length.
#[test]
fn every_place_and_length_gives_the_same() {
    let of_layers = |kernel: &&Kernel| !kernel.contract.domain.compiled && kernel.contract.domain.finest.takes_layers();
    for kernel in kernels().iter().filter(of_layers) {
        let domain = &kernel.contract.domain;
        for (expressed, storage) in
            domain.expressed.iter().flat_map(|e| storages(domain).into_iter().map(move |s| (*e, s)))
        {
            for value in [0.0, 0.75, -0.75, 0.3] {
                let run = |len| {
                    // Every expressed type holds this zero point, so nothing is poison.
                    let params = layer(expressed, storage, 1.0, 100.min(storage.range().end() / 2), len);
                    assert!(domain.contains(&params), "{}", kernel.name);
                    quantize(kernel, Form::Native, &params, &vec![value; len])
                };
                let one = run(1)[0];
                (2..=70).for_each(|len| assert_eq!(run(len), vec![one; len], "{} {value} {len}", kernel.name));
            }
        }
    }
}

/// `!quant.uniform<i8<-8:7>:f32, 0.3:1>`: truncation, the clamp, and each target's result for poison.
#[test]
fn qcast_truncates_and_targets_differ_on_poison() {
    let mut params = layer(Expressed::F32, I8, 0.3, 1, 9);
    (params.quantized.min, params.quantized.max) = (-8, 7);
    let run = |name, value: f64| quantize(named(name), Form::Portable, &params, &[value; 9]);
    for kernel in MODELS {
        for (value, stored) in [(0.0, 1), (0.29, 1), (0.3, 2), (-0.31, 0), (-0.5, 0), (2.0, 7), (-30.0, -8)] {
            assert_eq!(run(kernel, value), [stored; 9], "{kernel} {value}");
        }
    }
    assert_eq!(run("mlir-qcast-vector", 38.4), [7, 7, 7, 7, 7, 7, 7, 7, -8]);
    assert_eq!(run("mlir-qcast", 38.4), [-8; 9]);
    assert_eq!(run("mlir-qcast-vector", f64::NAN)[0], -8);
    assert_eq!(run("mlir-qcast", f64::NAN)[0], 0);
    assert_eq!(run("mlir-qcast-arm", f64::INFINITY)[0], -1);

    let example = layer(Expressed::F32, I8, 0.1, 0, 8);
    let at = |name| quantize(named(name), Form::Portable, &example, &[f64::from(12.8_f32); 8])[0];
    assert_eq!((at("mlir-qcast-vector"), at("mlir-qcast-arm")), (127, -128));
}

/// fcvtzs replaces fcvtzu, and all 32 bits are clamped while a register holds them, as for a scalar.
#[test]
fn qcast_of_bf16_converts_as_signed_on_aarch64() {
    let arm = |params: &Params, value| quantize(named("mlir-qcast-arm"), Form::Portable, params, &[value])[0];
    let unsigned = |expressed| arm(&layer(expressed, U8, 1.0, 0, 1), -1.0);
    assert_eq!((unsigned(Expressed::F32), unsigned(Expressed::Bf16)), (0, 255));
    let clamped = |expressed, container| {
        let mut params = Params { container, ..layer(expressed, I8, 1.0, 0, 1) };
        (params.quantized.min, params.quantized.max) = (-8, 7);
        arm(&params, 200.0)
    };
    let of = |expressed| [Container::Scalar, Container::Ranked].map(|container| clamped(expressed, container));
    assert_eq!((of(Expressed::F32), of(Expressed::Bf16)), ([-8, -8], [7, -8]));
}

/// A bound as wide as the type has no instruction: for poison, the low bits of a wider register are stored.
#[test]
fn qcast_of_a_scalar_does_not_clamp_at_the_bounds_of_its_type() {
    let mut params = layer(Expressed::F32, Storage { bits: 4, signed: true }, 1.0, 0, 1);
    params.container = Container::Scalar;
    let run = |value| quantize(named("mlir-qcast"), Form::Portable, &params, &[value])[0];
    assert_eq!([100.0, -100.0, 7.0, -8.0].map(run), [4, -4, 7, -8]);
}

/// Each parameter in turn is outside the kernel's domain.
#[test]
fn a_domain_is_left_by_each_of_its_parameters() {
    let domain = &named("onnx-quantizelinear").contract.domain;
    let inside = layer(Expressed::F32, U8, 0.5, 3, 4);
    assert!(domain.contains(&inside));
    let changes: [fn(&mut Params); 5] = [
        |params| params.quantized.expressed = Expressed::F16,
        |params| (params.quantized.storage, params.quantized.max) = (I32, 255),
        |params| params.quantized.max = 254,
        |params| {
            let sizes = vec![(0, 2), (1, 2)];
            params.quantized.granularity = Granularity::Blocks { sizes, counts: vec![2, 2] };
            params.quantized.scales = vec![Scale(0.5); 4];
            params.shape = vec![4, 4];
        },
        |params| params.container = Container::Unranked,
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut params = inside.clone();
        change(&mut params);
        assert!(!domain.contains(&params), "change {i}");
    }
}

#[test]
fn ranges_are_of_types_of_one_word() {
    let takes = |expressed| {
        let params = layer(expressed, I8, 1.0, 0, 4);
        <Quantize as TensorOperation>::takes_ranges(&named("mlir-qcast").contract.domain, &params)
    };
    let all = [Expressed::F16, Expressed::Bf16, Expressed::F32, Expressed::F64];
    assert_eq!(all.map(takes), [true, true, true, false]);
}

/// Every step is rounded in the expressed type: f32 does not hold 2^24 + 1, f16 does not hold 2049, bf16 does not hold 257.
#[test]
fn qcast_computes_in_the_expressed_type() {
    let table = [
        (Expressed::F64, 16_777_217, 16_777_217),
        (Expressed::F32, 16_777_217, 16_777_216),
        (Expressed::F16, 2049, 2048),
        (Expressed::F16, 2048 + 3, 2052),
        (Expressed::Bf16, 257, 256),
    ];
    for (expressed, zero_point, stored) in table {
        let params = layer(expressed, I32, 1.0, zero_point, 1);
        assert_eq!(quantize(named("mlir-qcast"), Form::Portable, &params, &[0.0]), [stored], "{expressed:?}");
    }
    // 10 / 3 in f16 is 3.33203125. The sum with 1000 is 1003.33, rounded to 1003.5; both truncate to 1003.
    let params = layer(Expressed::F16, I32, 3.0, 1000, 1);
    assert_eq!(quantize(named("mlir-qcast"), Form::Portable, &params, &[10.0]), [1003]);
}

/// For every container and granularity, the results of a tensor are the results of its elements as scalars.
#[test]
fn qcast_of_tensors_is_that_of_their_elements() {
    let values: Vec<f64> = (0..24).map(|i| f64::from(i) * 1.7 - 20.0).collect();
    for (axis, channels) in [(0, 2), (1, 3), (2, 4)] {
        for container in [Container::Ranked, Container::Unranked] {
            let mut params = layer(Expressed::F32, I8, 1.0, 0, 1);
            params.shape = vec![2, 3, 4];
            params.container = container;
            params.quantized.granularity = Granularity::Channel { axis };
            params.quantized.scales = [1.5, 0.7, 0.4, 2.0][..channels].iter().map(|s| Scale(*s)).collect();
            params.quantized.zero_points = [10, 0, -3, 7][..channels].to_vec();
            for name in MODELS {
                let got = quantize(named(name), Form::Portable, &params, &values);
                let stride: usize = params.shape[axis + 1..].iter().product();
                for (i, got) in got.into_iter().enumerate() {
                    let channel = i / stride % channels;
                    let (scale, zero_point) =
                        (params.quantized.scales[channel].0, params.quantized.zero_points[channel]);
                    let one = layer(Expressed::F32, I8, scale, zero_point, 1);
                    assert_eq!([got], *quantize(named("mlir-qcast"), Form::Portable, &one, &values[i..=i]), "{i}");
                }
            }
        }
    }
}

/// For blocks along one axis and along two, the results of a tensor are the results of its elements as scalars.
#[test]
fn qcast_of_blocks_is_that_of_their_elements() {
    let values: Vec<f64> = (0..24).map(|i| f64::from(i) * 1.7 - 20.0).collect();
    for counts in [[2, 1, 1], [1, 3, 1], [1, 1, 2], [2, 3, 1], [2, 1, 4], [2, 3, 4]] {
        let mut params = layer(Expressed::F32, I8, 1.0, 0, 1);
        params.shape = vec![2, 3, 4];
        let sizes = (0..3).map(|axis| (axis, params.shape[axis] / counts[axis])).collect();
        params.quantized.granularity = Granularity::Blocks { sizes, counts: counts.to_vec() };
        let blocks: usize = counts.iter().product();
        params.quantized.scales = (0..blocks).map(|block| Scale(0.4 + 0.3 * block as f64)).collect();
        params.quantized.zero_points = (0..blocks).map(|block| (block as i64 * 7) % 12 - 4).collect();
        for name in MODELS {
            let got = quantize(named(name), Form::Portable, &params, &values);
            for (i, got) in got.into_iter().enumerate() {
                let place = [i / 12, i / 4 % 3, i % 4];
                let block = (0..3)
                    .fold(0, |block, axis| block * counts[axis] + place[axis] * counts[axis] / params.shape[axis]);
                let one =
                    layer(Expressed::F32, I8, params.quantized.scales[block].0, params.quantized.zero_points[block], 1);
                assert_eq!(
                    [got],
                    *quantize(named("mlir-qcast"), Form::Portable, &one, &values[i..=i]),
                    "{counts:?} {i}"
                );
            }
        }
    }
}

/// A narrower unsigned type is clamped as unsigned.
#[test]
fn qcast_clamps_after_the_conversion() {
    let mut params = layer(Expressed::F32, U8, 1.0, 0, 1);
    (params.quantized.min, params.quantized.max) = (5, 10);
    let run = |value| quantize(named("mlir-qcast"), Form::Portable, &params, &[value])[0];
    assert_eq!([0.0, 7.9, 200.0, 256.0, -1.0].map(run), [5, 7, 10, 5, 10]);
    let u32 = layer(Expressed::F32, Storage { bits: 32, signed: false }, 1.0, 0, 1);
    assert_eq!(quantize(named("mlir-qcast"), Form::Portable, &u32, &[3e9]), [3_000_000_000_u32 as i32]);
}

/// Rows are `(kernel, storage, scale, zero point, value, stored)`, from texts and formulas of the sources.
#[test]
fn libraries_at_their_own_examples() {
    let (fbgemm, value) = (f64::from(0.002_148_548_6_f32), f64::from(0.273_939_94_f32));
    let table = [
        ("pytorch-quantize", U8, fbgemm, 0, value, 128),
        ("pytorch-quantize-legacy", U8, fbgemm, 0, value, 128),
        ("pytorch-quantize-avx2", U8, fbgemm, 0, value, 128),
        ("xnnpack-quantize", U8, fbgemm, 0, value, 128),
        ("neon-fcvtns", U8, fbgemm, 0, value, 128),
        ("onnx-quantizelinear", U8, fbgemm, 0, value, 127),
        ("tflite-quantize", U8, fbgemm, 0, value, 127),
        // Ties, with an odd zero point: ties away; ties to even before the zero point; ties to even after the zero point.
        ("tflite-quantize", I8, 1.0, 1, 2.5, 4),
        ("onnx-quantizelinear", I8, 1.0, 1, 2.5, 3),
        ("pytorch-quantize", I8, 1.0, 1, 2.5, 3),
        ("xnnpack-quantize", I8, 1.0, 1, 2.5, 3),
        ("neon-fcvtns", I8, 1.0, 1, 2.5, 3),
        ("pytorch-quantize-legacy", I8, 1.0, 1, 2.5, 4),
        ("pytorch-quantize", I32, 1.0, 0, 1e10, i32::MAX),
    ];
    for (name, storage, scale, zero_point, value, stored) in table {
        for form in [Form::Portable, Form::Native] {
            let params = layer(Expressed::F32, storage, scale, zero_point, 1);
            assert_eq!(quantize(named(name), form, &params, &[value]), [stored], "{name} {form:?}");
        }
    }
}

/// Infinities and huge values saturate in every library; NaN is treated as in each source.
#[test]
fn libraries_saturate_and_treat_nan_as_their_sources() {
    let table = [
        ("tflite-quantize", None),
        ("onnx-quantizelinear", Some(-128)),
        ("pytorch-quantize", None),
        ("pytorch-quantize-legacy", None),
        ("pytorch-quantize-avx2", Some(127)),
        ("xnnpack-quantize", Some(-128)),
        ("neon-fcvtns", Some(5)),
    ];
    for (name, nan) in table {
        let params = layer(Expressed::F32, I8, 0.1, 5, 5);
        let values = [f64::INFINITY, 3e38, f64::NEG_INFINITY, -3e38, f64::NAN];
        for form in [Form::Portable, Form::Native] {
            let got = quantize(named(name), form, &params, &values);
            assert_eq!(got[..4], [127, 127, -128, -128], "{name}");
            assert!(nan.is_none_or(|nan| got[4] == nan), "{name} {got:?}");
        }
    }
}

/// Negative control: the reciprocal of a power of two is exact, so product and quotient are the same.
#[test]
fn reciprocals_of_powers_of_two_change_nothing() {
    for scale in [0.0625, 1.0, 8.0] {
        for zero_point in [0, 63, -128] {
            // Every eighth of a step, past both ends, with both neighbouring floats.
            let eighths = (-3000..3000).map(|i| (f64::from(i) / 8.0 * scale) as f32);
            let values: Vec<f64> = eighths.flat_map(|x| [x.next_down(), x, x.next_up()]).map(f64::from).collect();
            let params = layer(Expressed::F32, I8, scale, zero_point, values.len());
            let of = |name| quantize(named(name), Form::Portable, &params, &values);
            let divided = of("onnx-quantizelinear");
            assert_ne!(divided, of("tflite-quantize"));
            for name in ["pytorch-quantize", "xnnpack-quantize", "neon-fcvtns"] {
                assert_eq!(of(name), divided, "{name} {scale} {zero_point}");
            }
        }
    }
}

/// Blocks of two along the second of four axes: each element has the scale from the type's definition, and the source's steps, up to the ends of
/// int32.
#[test]
fn blocks_along_another_axis_have_their_own_scales() {
    let mut params = layer(Expressed::F32, I8, 1.0, 0, 1);
    params.shape = vec![2, 6, 3, 2];
    let sizes = vec![(0, 1), (1, 2), (2, 1), (3, 1)];
    params.quantized.granularity = Granularity::Blocks { sizes, counts: vec![2, 3, 3, 2] };
    params.quantized.scales = (0..36).map(|at| Scale(0.5 + f64::from(at))).collect();
    params.quantized.zero_points = (0..36).map(|at| at - 18).collect();
    let kernel = named("onnx-quantizelinear-other-axis");
    assert!(kernel.contract.domain.contains(&params) && params.elements() == Ok(72));
    let values: Vec<f64> = (0..72).map(|at| f64::from(at * 37 % 145) - 70.25).collect();
    let expected: Vec<i32> = values
        .iter()
        .enumerate()
        .map(|(at, x)| {
            let scale = params.scale_of(at);
            let quotient = (*x as f32 / params.quantized.scales[scale].0 as f32).round_ties_even();
            (quotient as i32 + params.quantized.zero_points[scale] as i32).clamp(-128, 127)
        })
        .collect();
    assert_eq!(quantize(kernel, Form::Native, &params, &values), expected);
    // The largest f32 below 2^31, with the last zero point for which the sum is an int32.
    params.shape = vec![2, 2];
    params.quantized.granularity = Granularity::Blocks { sizes: vec![(0, 2), (1, 1)], counts: vec![1, 2] };
    (params.quantized.scales, params.quantized.zero_points) = (vec![Scale(1.0); 2], vec![127, -127]);
    let ends = [2_147_483_520.0, -2_147_483_520.0, -2_147_483_648.0, 2.5];
    assert_eq!(quantize(kernel, Form::Native, &params, &ends), [127, -128, -128, -125]);
}

/// Finding 26 of LiteRT: whole vectors of 8 multiply and round ties to even; elements after them are divided and round ties away. The sum of a vector
/// wraps.
#[test]
fn tflite_has_two_rules_in_one_tensor() {
    let kernel = named("tflite-quantize-neon");
    let nine = |storage, scale, zero_point, value: f64| {
        let results =
            quantize(kernel, Form::Native, &layer(Expressed::F32, storage, scale, zero_point, 9), &[value; 9]);
        assert_eq!(
            results,
            quantize(kernel, Form::Portable, &layer(Expressed::F32, storage, scale, zero_point, 9), &[value; 9])
        );
        assert!(results[..8].iter().all(|v| *v == results[0]), "{results:?}");
        [results[0], results[8]]
    };
    assert_eq!(nine(U8, 0.1, 0, 12.75), [128, 127]);
    for (value, results) in [(0.5, [0, 1]), (-1.5, [-2, -2]), (1.5, [2, 2]), (2.5, [2, 3]), (-2.5, [-2, -3])] {
        assert_eq!(nine(I8, 1.0, 0, value), results, "{value}");
    }
    // The sum of 2^31 - 128 and 128 wraps to -2^31.
    assert_eq!(nine(I16, 1.0, 128, 2_147_483_520.0)[0], -32768);
    assert_eq!(nine(I16, 1.0, 127, 2_147_483_520.0), [32767; 2]);
    assert_eq!(nine(I16, 1.0, -1, -3e9)[0], 32767);
    assert_eq!(nine(I8, 1.0, -7, f64::NAN)[0], -7);
    assert_eq!(nine(I8, 1.0, 0, f64::INFINITY)[0], 127);
}

//! Every mutant of quantization and dequantization gives the buggy value at its witness, and the kernel with the claimed contract gives the promised
//! value.

use super::tensor::Mutant;
use crate::Form;
use crate::dequantize::tests::dequantize;
use crate::quantize::tests::{layer, quantize};
use crate::quantized::{Expressed, Granularity, I8, I16, I32, Params, Scale, Storage, U8};
use crate::{dequantize as dequantizations, quantize as quantizations};
use Expressed::{Bf16, F16, F32, F64};

fn find<R, D>(name: &str, mutants: &'static [Mutant<R, D>]) -> &'static Mutant<R, D> {
    mutants.iter().find(|mutant| mutant.kernel.name == name).expect(name)
}

/// Returns a kernel that keeps the contract claimed by a mutant; no shipped kernel follows the exact schemes.
fn keeper(scheme: &str) -> Option<&'static str> {
    match scheme {
        "onnx" => Some("onnx-quantizelinear"),
        "mlir-qcast" => Some("mlir-qcast"),
        "pytorch-legacy" => Some("pytorch-quantize-legacy"),
        "integer-difference" => Some("pytorch-dequantize"),
        "mlir-dcast" => Some("mlir-dcast"),
        _ => None,
    }
}

/// Mutants that confuse scales, or that are wrong only in whole vectors or only after them; a single value detects none of them.
const OF_PLACES: [&str; 7] = [
    "mutant-channel-is-last",
    "mutant-block-is-index-modulo",
    "mutant-blocks-column-major",
    "mutant-other-axis-block-modulo",
    "mutant-tflite-neon-saturates",
    "mutant-tflite-neon-ties-away",
    "mutant-tflite-neon-padded",
];

type Type = (Expressed, Storage, f64, i64);

/// Rows are `(name, type, value, got, promised)`.
#[test]
fn quantize_witnesses_of_the_reports() {
    let table: [(&str, Type, f64, i32, i32); 22] = [
        ("mutant-quantize-truncates", (F32, I8, 1.0, 0), 0.75, 0, 1),
        ("mutant-qcast-truncates", (F16, I8, 1.0, 1), 0.75, 1, 2),
        ("mutant-quantize-floors", (F32, I8, 1.0, 0), -0.25, -1, 0),
        ("mutant-quantize-ties-away", (F32, I8, 0.5, 0), 0.25, 1, 0),
        ("mutant-quantize-ties-away", (F32, I8, 0.5, 0), 1.25, 3, 2),
        ("mutant-ties-away-tail", (F32, I8, 0.5, 0), 0.25, 1, 0),
        ("mutant-zero-point-before-rounding", (F32, U8, 1.0, 63), 63.500_004, 126, 127),
        ("mutant-reciprocal", (F32, U8, 0.002_148_548_6, 0), 0.273_939_94, 128, 127),
        ("mutant-clamp-before-zero-point", (F32, I8, 1.0 / 66.9333, -128), 3.4501, -1, 103),
        ("mutant-cast-before-zero-point", (F32, I8, 1.0 / 66.9333, -128), 3.4501, -128, 103),
        ("mutant-convert-before-clamp", (F32, I8, 0.1, 0), 12.8, -128, 127),
        ("mutant-quantize-wraps", (F32, I8, 1.0, 0), 128.0, -128, 127),
        ("mutant-quantize-converts-as-x86", (F32, I8, 1.0, 0), 3e9, -128, 127),
        ("mutant-nan-is-zero", (F32, I8, 1.0, 3), f64::NAN, 0, -128),
        ("mutant-zero-point-sign-extended", (F32, U8, 1.0, 200), 100.0, 44, 255),
        ("mutant-quantize-f64-in-f32", (F64, I16, 1.0, 0), 1.0 - 1e-9, 1, 0),
        ("mutant-steps-in-f16", (F16, I16, 1.0, 2048), 0.75, 2048, 2049),
        ("mutant-steps-in-bf16", (Bf16, I16, 1.0, 256), 0.75, 256, 257),
        ("mutant-quantize-fused-product", (F32, I8, 0.1, 3), 0.750_000_06, 11, 10),
        ("mutant-steps-in-f32", (F32, I8, 0.3, 1), 0.149_999_991, 2, 1),
        ("mutant-steps-in-f32", (F32, I32, 1.0, 1 << 24), 0.75, 16_777_216, 16_777_217),
        ("mutant-steps-in-f64", (F64, I8, 1.0, 64), 0.5 + f64::EPSILON / 2.0, 64, 65),
    ];
    for (name, (expressed, storage, scale, zero_point), value, got, promised) in table {
        let Mutant { kernel, .. } = find(name, super::quantize::MUTANTS);
        let params = layer(expressed, storage, scale, zero_point, 1);
        assert!(kernel.contract.domain.contains(&params), "{name}");
        assert_eq!(quantize(kernel, Form::Native, &params, &[value]), [got], "{name}");
        assert_ne!(got, promised, "{name}");
        // For the lowering 12.8 is poison, for which nothing is promised.
        if let Some(keeper) = keeper(kernel.contract.promise.scheme).filter(|_| name != "mutant-convert-before-clamp") {
            let keeper = quantizations::find(keeper).expect(keeper);
            assert_eq!(quantize(keeper, Form::Native, &params, &[value]), [promised], "{name}");
        }
    }
    let shown = |name| table.iter().any(|(shown, ..)| *shown == name) || OF_PLACES.contains(&name);
    assert!(super::quantize::MUTANTS.iter().all(|mutant| shown(mutant.kernel.name)));
}

/// All values of the report's list, and the same values with four of them in a vector.
#[test]
fn ties_go_away_in_the_tail_only() {
    let Mutant { kernel, .. } = find("mutant-ties-away-tail", super::quantize::MUTANTS);
    let params = layer(F32, I8, 0.5, 0, 7);
    let values = [0.25, 0.75, 1.25, 1.75, 0.25, 0.75, 1.25];
    assert_eq!(quantize(kernel, Form::Native, &params, &values), [0, 2, 2, 4, 1, 2, 3]);
}

/// Rows are `(name, type, stored, got, promised)`.
#[test]
fn dequantize_witnesses_of_the_reports() {
    let table: [(&str, Type, i32, f64, f64); 8] = [
        ("mutant-distributed", (F32, U8, 1028.02, 255), 254, -1028.015625, f64::from(-1028.02_f32)),
        ("mutant-zero-point-sign-extended", (F32, U8, 1.0, 200), 0, 56.0, -200.0),
        ("mutant-difference-wraps", (F32, I8, 1.0, -100), 100, -56.0, 200.0),
        ("mutant-no-zero-point", (F32, I8, 0.5, 7), 7, 3.5, 0.0),
        ("mutant-dcast-in-f32", (F32, I32, 1.0, 16_777_217), 16_777_216, 0.0, -1.0),
        ("mutant-dcast-in-f16", (F16, I16, 1.0, 3001), 3000, 0.0, -1.0),
        ("mutant-dcast-in-bf16", (Bf16, I16, 1.0, 257), 256, 0.0, -1.0),
        ("mutant-dequantize-f64-in-f32", (F64, I32, 1.0, 0), 16_777_217, 16_777_216.0, 16_777_217.0),
    ];
    for (name, (expressed, storage, scale, zero_point), stored, got, promised) in table {
        let Mutant { kernel, .. } = find(name, super::dequantize::MUTANTS);
        let params = layer(expressed, storage, scale, zero_point, 1);
        assert!(kernel.contract.domain.contains(&params), "{name}");
        assert_eq!(dequantize(kernel, Form::Native, &params, &[stored]), [got], "{name}");
        assert_ne!(got, promised, "{name}");
        if let Some(keeper) = keeper(kernel.contract.promise.scheme) {
            let keeper = dequantizations::find(keeper).expect(keeper);
            assert_eq!(dequantize(keeper, Form::Native, &params, &[stored]), [promised], "{name}");
        }
    }
    let of_places = |name| OF_PLACES.contains(&name) || name == "mutant-distributed-in-vectors";
    let shown = |name| table.iter().any(|(shown, ..)| *shown == name) || of_places(name);
    assert!(super::dequantize::MUTANTS.iter().all(|mutant| shown(mutant.kernel.name)));
}

/// Finding 28: the same stored value, in whole vectors of eight and after them.
#[test]
fn terms_are_apart_in_whole_vectors_only() {
    let Mutant { kernel, .. } = find("mutant-distributed-in-vectors", super::dequantize::MUTANTS);
    let params = layer(F32, U8, f64::from(0.150_333_32_f32), 123, 9);
    let outs = dequantize(kernel, Form::Native, &params, &[22; 9]);
    assert!(outs[..8].iter().all(|out| *out == outs[0]) && outs[8] != outs[0], "{outs:?}");
}

/// The mutant is right if the channel is the last axis, and wrong otherwise.
#[test]
fn channels_of_the_wrong_axis() {
    for (axis, differs) in [(0, true), (1, false)] {
        let mut params: Params = layer(F32, I8, 1.0, 0, 1);
        params.shape = vec![2, 2];
        params.quantized.granularity = Granularity::Channel { axis };
        params.quantized.scales = vec![Scale(1.0), Scale(2.0)];
        params.quantized.zero_points = vec![0, 0];
        let of = |kernel| quantize(kernel, Form::Native, &params, &[8.0; 4]);
        let mutant = &find("mutant-channel-is-last", super::quantize::MUTANTS).kernel;
        assert_eq!(of(mutant) != of(quantizations::find("mlir-qcast").expect("a kernel")), differs);
        let of = |kernel| dequantize(kernel, Form::Native, &params, &[8; 4]);
        let mutant = &find("mutant-channel-is-last", super::dequantize::MUTANTS).kernel;
        assert_eq!(of(mutant) != of(dequantizations::find("mlir-dcast").expect("a kernel")), differs);
    }
}

/// Blocks of two along one axis; blocks of one along two axes.
#[test]
fn scales_of_the_wrong_block() {
    let table = [
        ("mutant-block-is-index-modulo", [1, 4], [1, 2], [8, 4, 8, 4]),
        ("mutant-blocks-column-major", [1, 4], [1, 2], [8, 8, 4, 4]),
        ("mutant-block-is-index-modulo", [2, 2], [2, 2], [8, 4, 2, 1]),
        ("mutant-blocks-column-major", [2, 2], [2, 2], [8, 2, 4, 1]),
    ];
    for (name, shape, counts, got) in table {
        let mut params: Params = layer(F32, I8, 1.0, 0, 1);
        params.shape = shape.to_vec();
        let sizes = vec![(0, shape[0] / counts[0]), (1, shape[1] / counts[1])];
        params.quantized.granularity = Granularity::Blocks { sizes, counts: counts.to_vec() };
        params.quantized.scales = [1.0, 2.0, 4.0, 8.0][..counts.iter().product()].iter().map(|s| Scale(*s)).collect();
        params.quantized.zero_points = vec![0; params.quantized.scales.len()];
        assert!(find(name, super::quantize::MUTANTS).kernel.contract.domain.contains(&params), "{name}");
        assert_eq!(
            quantize(&find(name, super::quantize::MUTANTS).kernel, Form::Native, &params, &[8.0; 4]),
            got,
            "{name}"
        );
        let promised: Vec<f64> = got.iter().map(|scaled| 8.0 / f64::from(*scaled)).collect();
        let scales = dequantize(&find(name, super::dequantize::MUTANTS).kernel, Form::Native, &params, &[1; 4]);
        assert_eq!(scales, promised, "{name}");
    }
}

/// Two blocks of two rows: the mutant alternates between blocks, and the kernel with the claimed contract does not.
#[test]
fn rows_of_the_wrong_block() {
    let mut params: Params = layer(F32, I8, 1.0, 0, 1);
    params.shape = vec![4, 2];
    params.quantized.granularity = Granularity::Blocks { sizes: vec![(0, 2), (1, 1)], counts: vec![2, 2] };
    params.quantized.scales = [1.0, 2.0, 4.0, 8.0].map(Scale).to_vec();
    params.quantized.zero_points = vec![0; 4];
    let Mutant { kernel, .. } = find("mutant-other-axis-block-modulo", super::quantize::MUTANTS);
    let keeper = quantizations::find("onnx-quantizelinear-other-axis").expect("a kernel");
    for kernel in [kernel, keeper] {
        assert!(kernel.contract.domain.contains(&params), "{}", kernel.name);
    }
    let of = |kernel| quantize(kernel, Form::Native, &params, &[8.0; 8]);
    assert_eq!(of(kernel), [8, 4, 2, 1, 8, 4, 2, 1]);
    assert_eq!(of(keeper), [8, 4, 8, 4, 2, 1, 2, 1]);
}

/// Nine values for each mutant: one whole vector of eight, and one value after it. The right kernel has a separate rule for each part.
#[test]
fn vectors_of_tflite_and_the_element_behind_them() {
    let keeper = quantizations::find("tflite-quantize-neon").expect("a kernel");
    let nine = |kernel, scale, zero_point, value| {
        quantize(kernel, Form::Native, &layer(F32, I8, scale, zero_point, 9), &[value; 9])
    };
    for (name, scale, zero_point, value, got, promised) in [
        // After the vectors 3e9 is undefined: the kernel has a saturating cast and a wrapping sum.
        ("mutant-tflite-neon-saturates", 1.0, 5, 3e9, [127, -128], [-128, -128]),
        ("mutant-tflite-neon-ties-away", 1.0, 0, 0.5, [1, 1], [0, 1]),
        ("mutant-tflite-neon-padded", 1.0, 0, 0.5, [0, 0], [0, 1]),
    ] {
        let Mutant { kernel, .. } = find(name, super::quantize::MUTANTS);
        let ends = |results: Vec<i32>| {
            assert!(results[..8].iter().all(|v| *v == results[0]), "{name} {results:?}");
            [results[0], results[8]]
        };
        assert_eq!(ends(nine(kernel, scale, zero_point, value)), got, "{name}");
        assert_eq!(ends(nine(keeper, scale, zero_point, value)), promised, "{name}");
    }
}

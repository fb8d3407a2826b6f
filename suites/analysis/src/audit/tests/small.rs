//! Audits of models with few weights.

use super::*;
use crate::model::tests::build;
use crate::model::tests::samples::every as tflite;
use tiebreak_oracle::elementwise::{Operand, add as oracle};
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::quantize::Storage;

fn rescaled(side: Side) -> Option<Way> {
    side.rescale(Element::I8, Element::I8)
}

const OUTPUT: Output = Output { zero_point: -10, min: -128, max: 127 };

#[test]
fn every_layer_of_a_tflite_model_is_counted_through_all_activations() {
    for (left, right) in [
        (runtime("tflite-reference"), runtime("xnnpack")),
        (runtime("real"), runtime("tflite-reference")),
        (runtime("cmsis-nn-single"), runtime("tvm-arm")),
        (scheme("tflite-single", "f64"), scheme("f32-dequantize-quantize", "f32")),
        (scheme("toward-zero", "f64"), scheme("f32-product-away", "f32")),
    ] {
        let audit = audited(&tflite(), left, right);
        assert_eq!(audit.kind, "tflite");
        let ways = |kind, per_channel| {
            let sums = Sums { kind, per_channel, bytes: false, is_behind: false };
            [left, right].map(|side| side.products(sums).expect("a scheme"))
        };
        let stated = |weight, bias, weights, relu| Stated {
            scales: [0.1019, weight, 0.0517],
            bias,
            weights,
            activations: 0..=255,
            output: Output { min: if relu { -10 } else { -128 }, ..OUTPUT },
        };
        let conv = layer_at(&audit, 0);
        stated(0.0139, -20, &[3, -7], true).check(ways(Kind::Convolution, true), &conv.channels[0]);
        stated(0.0071, 1000, &[11, 5], true).check(ways(Kind::Convolution, true), &conv.channels[1]);
        // The filter is [1, 2, 1, 2], and the channel is the last dimension. Sums of 2 and -4 are even; sums of 5 and 5 are multiples of 5.
        let depthwise = layer_at(&audit, 1);
        stated(0.0139, 0, &[2, -4], false).check(ways(Kind::Depthwise, true), &depthwise.channels[0]);
        stated(0.0071, 0, &[5, 5], false).check(ways(Kind::Depthwise, true), &depthwise.channels[1]);
        let dense = Stated {
            scales: [0.1019, 0.0213, 0.0517],
            bias: 0,
            weights: &[9, -4],
            activations: -132..=123,
            output: Output { zero_point: 7, ..OUTPUT },
        };
        dense.check(ways(Kind::Dense, false), &layer_at(&audit, 2).channels[0]);
        if let Some(ways) = rescaled(left).zip(rescaled(right)) {
            let rescaled = Stated { scales: [0.1019, 1.0, 0.0517], weights: &[1], ..stated(1.0, 0, &[], false) };
            rescaled.check(ways.into(), &layer_at(&audit, 5).channels[0]);
        }
        assert_eq!(audit.not_audited.iter().map(|n| n.op.as_str()).collect::<Vec<_>>(), ["SOFTMAX"]);
    }
}

/// Tries every pair of stored values, on rationals; the constant has only its two values.
#[test]
fn operations_on_two_tensors_are_counted_through_all_pairs() {
    let audit = audited(&tflite(), runtime("tflite-reference"), runtime("xnnpack"));
    let (add, mul) = (&layer_at(&audit, 3).channels[0], &layer_at(&audit, 4).channels[0]);
    assert_eq!((add.inputs, mul.inputs), (1 << 16, 2 << 8));
    let operand = |scale: f32, zero_point| Operand { scale: scale.to_bits(), zero_point };
    let parameters = oracle::Parameters {
        lhs: operand(0.25, 3),
        rhs: operand(0.25, -5),
        out: operand(0.5, -20),
        storage: Storage { bits: 8, signed: true },
        own: oracle::LeftShift(20),
        min: -128,
        max: 127,
    };
    let (lhs, rhs): (Vec<i32>, Vec<i32>) = (-128..=127).flat_map(|l| (-128..=127).map(move |r| (l, r))).unzip();
    let results = |name| {
        let scheme = oracle::Scheme::parse(name).expect("a scheme");
        scheme.exact(&parameters, &lhs, &rhs).expect("a batch")
    };
    let (left, right) = (results("tflite"), results("xnnpack"));
    let differ = left.iter().zip(&right).filter(|(l, r)| l != r).count() as u64;
    assert!(add.differ == differ && differ > 0, "{} {differ}", add.differ);
    let Some(Input::Pair { lhs: l, rhs: r }) = add.witness.map(|w| w.input) else { panic!("a witness") };
    let at = lhs.iter().zip(&rhs).position(|pair| pair == (&l, &r)).expect("a pair");
    assert_ne!(left[at], right[at]);
    let same = audited(&tflite(), runtime("tflite-micro"), runtime("cmsis-nn"));
    assert_eq!(same.comparisons[0].totals.differ, 0, "{:?}", same.comparisons[0].worst);
    let missing = audited(&tflite(), runtime("tflite-reference"), runtime("tvm"));
    let reasons: Vec<_> = missing.comparisons[0].not_compared.iter().map(|n| n.reason.as_str()).collect();
    assert_eq!(
        reasons,
        ["the addition of i8 of tvm is not defined here", "the multiplication of i8 of tvm is not defined here"]
    );
}

#[test]
fn every_layer_of_an_onnx_model_is_counted_through_all_activations() {
    for (left, right) in [
        (runtime("onnxruntime"), runtime("tflite-reference")),
        (scheme("ties-up", "f64"), scheme("f32-product-add-half", "f32")),
    ] {
        let audit = audited(&onnx::every().model(), left, right);
        assert_eq!(audit.kind, "onnx");
        let ways = |kind, per_channel| {
            let sums = Sums { kind, per_channel, bytes: false, is_behind: false };
            [left, right].map(|side| side.products(sums).expect("a scheme"))
        };
        let stated = |weight, bias, weights, least| Stated {
            scales: [0.1019, weight, 0.0517],
            bias,
            weights,
            activations: -100..=155,
            output: Output { zero_point: 3, min: least, max: 255 },
        };
        let conv = |index, least| {
            let layer = layer_at(&audit, index);
            stated(0.0139, -20, &[3, -7], least).check(ways(Kind::Convolution, true), &layer.channels[0]);
            stated(0.0071, 1000, &[11, 5], least).check(ways(Kind::Convolution, true), &layer.channels[1]);
        };
        conv(0, 0);
        // Between DequantizeLinear and QuantizeLinear, with Relu.
        conv(9, 3);
        stated(0.0071, 0, &[-3, 4], 0).check(ways(Kind::Depthwise, true), &layer_at(&audit, 1).channels[1]);
        // Weights of [2, 1] minus their zero point 1: one column for QLinearMatMul, two rows for QGemm.
        stated(0.0213, 0, &[8, -5], 0).check(ways(Kind::Dense, false), &layer_at(&audit, 2).channels[0]);
        stated(0.0213, 0, &[-5], 0).check(ways(Kind::Dense, false), &layer_at(&audit, 3).channels[1]);
        if let Some(ways) = rescaled(left).zip(rescaled(right)) {
            let rescaled = Stated {
                scales: [0.1019, 1.0, 0.25],
                output: Output { zero_point: 5, ..OUTPUT },
                ..stated(1.0, 0, &[1], 0)
            };
            rescaled.check(ways.into(), &layer_at(&audit, 12).channels[0]);
        }
        assert_eq!(audit.not_audited.iter().map(|n| n.op.as_str()).collect::<Vec<_>>(), ["Softmax"]);
    }
}

/// The constant has three values, the other tensor all 256.
#[test]
fn onnx_operations_on_two_tensors_are_counted_through_all_pairs() {
    let audit = audited(&onnx::every().model(), runtime("onnxruntime"), runtime("tflite-reference"));
    assert_eq!((layer_at(&audit, 4).totals.inputs, layer_at(&audit, 5).totals.inputs), (1 << 16, 3 << 8));
}

/// Totals are sums, the worst channels are sorted, and the effect of the derivation is counted with the scheme of the left side.
#[test]
fn totals_are_the_sums_of_channels() {
    let audit = audited(&tflite(), scheme("gemmlowp-double", "f64"), scheme("f32-product", "f32"));
    let comparison = &audit.comparisons[0];
    let sum = comparison.layers.iter().flat_map(|l| &l.channels).map(|c| c.differ).sum::<u64>();
    assert_eq!(comparison.totals.differ, sum);
    assert!(comparison.worst.windows(2).all(|pair| pair[0].counts.rate >= pair[1].counts.rate));
    assert!(comparison.worst.len() <= 10 && !comparison.worst.is_empty());
    let same = audited(&tflite(), scheme("gemmlowp-double", "f64"), scheme("gemmlowp-double", "f32"));
    // With equal schemes, all differences come from the derivation.
    assert_eq!(same.comparisons[0].totals.differ, same.comparisons[0].derivation.differ);
}

#[test]
fn weights_beyond_16_bit_lanes_and_int32_are_said() {
    let mut conv = onnx::Builder::default();
    conv.floats("s", &[], &[0.5]).int8("z", &[], &[-128]).int8("w", &[1, 2, 1, 2], &[100, 29, 1, 2]).int8(
        "wz",
        &[],
        &[0],
    );
    conv.int32("bias", &[i32::MAX - 500]);
    conv.node("QLinearConv", &["x", "s", "z", "w", "s", "wz", "s", "z", "bias"], "y", &[]);
    let audit = audited(&conv.model(), runtime("onnxruntime"), runtime("tvm"));
    let channel = &audit.layers[0].channels[0];
    assert!(channel.overflows_int32 && channel.inexact_in_float, "{channel:?}");
    let pairs: Vec<_> = channel.pairs.iter().map(|p| (p.lanes, p.unsafe_pairs, p.pairs)).collect();
    assert_eq!(pairs, [("u8s8-saturating", 1, 2), ("s8s8", 0, 2), ("u8u8", 2, 2)]);
    // Accumulators beyond int32 are not compared.
    assert!(audit.comparisons[0].totals.inputs < channel.accumulators.count);
}

/// Tensors with equal scale and zero point are concatenated unchanged. Other tensors are converted, by each runtime in its own way.
#[test]
fn a_concatenation_of_one_scale_has_no_arithmetic() {
    use crate::model::tests::samples;
    let x = samples::each()[0].tensors[0].clone();
    let joined = |last: build::Tensor| build::Operator {
        code: 2,
        tensors: [x.clone(), x.clone(), x.clone()],
        bias: Some(last),
        ..build::Operator::default()
    };
    let other = build::Tensor { scales: vec![0.1018], ..x.clone() };
    let shifted = build::Tensor { zero_points: vec![-127], ..x.clone() };
    let operators = [joined(x.clone()), joined(other), joined(shifted)];
    let audit = audited(&build::model(&operators), runtime("tflite-reference"), runtime("xnnpack"));
    let at = |list: &[report::NotAudited]| list.iter().map(|n| n.index).collect::<Vec<_>>();
    assert_eq!((at(&audit.without_arithmetic), at(&audit.not_audited)), (vec![0], vec![1, 2]));
}

/// Checks layouts, and multipliers against machine doubles. The matrix product has one scale, and its product is a float.
#[test]
fn constants_are_those_of_the_file_as_kernels_take_them() {
    let all = constants(&tflite()).expect("a model");
    let [conv, depthwise, dense] = [0, 1, 2].map(|at| all[at].clone().expect("a layer with constants"));
    assert_eq!(all.len(), 3);
    assert_eq!(conv.weights, [3, 11, -7, 5]);
    assert_eq!(depthwise.weights, [2, 5, -4, 5]);
    assert_eq!(dense.weights, [9, -4]);
    assert_eq!(
        (&conv.output.bias, conv.output.zero_point, conv.output.min, conv.output.max),
        (&vec![-20, 1000], -10, -10, 127)
    );
    assert_eq!((&dense.output.bias, dense.output.zero_point, dense.output.min), (&vec![0], 7, -128));
    let scaled = |output: &tiebreak_impls::requantize::Params, at: usize| {
        let channel = output.channels[at];
        (f64::from(channel.multiplier), 31 - channel.shift)
    };
    let real = |weight: f32| f64::from(0.1019f32) * f64::from(weight) / f64::from(0.0517f32);
    for (output, at, real) in [
        (&conv.output, 0, real(0.0139)),
        (&conv.output, 1, real(0.0071)),
        (&depthwise.output, 1, real(0.0071)),
        (&dense.output, 0, f64::from(0.1019f32 * 0.0213f32) / f64::from(0.0517f32)),
    ] {
        let (multiplier, right) = scaled(output, at);
        assert_eq!(multiplier, (real * 2f64.powi(right)).round());
        assert!((1i64 << 30..1 << 31).contains(&(multiplier as i64)));
    }
    // A layer without scales or constants has no entry.
    let plain = build::model(&[crate::model::tests::samples::conv()]);
    assert_eq!(constants(&plain).expect("a model"), [None]);
}

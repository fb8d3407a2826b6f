//! Every fused kernel equals the sums of the definition, followed by the stages of the same scheme.

use super::{Along, Domain, Kernel, Layer, Layer64, Lists, Params, Stage, kernels};
use crate::Form;
use crate::contract::{Overflow, Region};
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::definitions::scaled;
use crate::matmul;
use crate::random::Random;
use crate::softmax;
use std::ops::RangeInclusive;

/// M, N and K: one row, one column, whole vectors, and sizes that are no multiple of a vector.
const SIZES: [[usize; 3]; 8] =
    [[1, 1, 1], [1, 9, 17], [7, 1, 16], [4, 4, 32], [3, 13, 5], [5, 8, 33], [2, 130, 3], [9, 6, 1]];

/// Returns parameters, as far as the kernel accepts them.
fn parameters(kernel: &Kernel, [m, n, k]: [usize; 3], seed: u64) -> Params {
    let domain = &kernel.contract.domain;
    let requantize = &domain.requantize;
    let mut random = Random::new(seed);
    let mut next = |n: i32| (random.word() >> 1) as i32 % n;
    let lhs_offset = [0, -3, -200, 100][next(4) as usize]
        .clamp(*domain.operands.lhs_offsets.start(), *domain.operands.lhs_offsets.end());
    let rhs_offset = [0, -7, -128, 55][next(4) as usize]
        .clamp(*domain.operands.rhs_offsets.start(), *domain.operands.rhs_offsets.end());
    let shape = matmul::Params { m, n, k, lhs_offset, rhs_offset };
    let count = if requantize.channels.per_channel { n } else { 1 };
    let mut channel = || loop {
        let multiplier = if requantize.fraction() == 0 { 1 + next(5000) } else { (1 << 30) + next(2) * next(1 << 30) };
        let multiplier = multiplier - multiplier % requantize.channels.multiple_of;
        let channel = Channel { multiplier, shift: next(16) - 14 };
        if requantize.takes(channel) {
            return channel;
        }
    };
    let channels: Vec<Channel> = (0..count).map(|_| channel()).collect();
    let range = requantize.output.range();
    let width = range.end() - range.start() + 1;
    let (a, b) = match requantize.clamp {
        true => (range.start() + next(width), range.start() + next(width)),
        false => (*range.start(), *range.end()),
    };
    let bias: Vec<i32> = (0..n).map(|_| next(200_000) - 100_000).collect();
    let zero_point = if requantize.zero_point { range.start() + next(width) } else { 0 };
    let output = requantize.output;
    let layer = Layer { bias: &bias, channels: &channels, zero_point, min: a.min(b), max: a.max(b), output };
    let along = Along::Rows;
    let stages = match domain.lists {
        Lists::Layer => layer.stages(),
        Lists::Layer64 => {
            // Sums within the output type, beyond it, and beyond int32.
            let places = [0, 4, 20][next(3) as usize];
            let bias: Vec<i64> = bias.iter().map(|v| i64::from(*v) << places).collect();
            let Layer { channels, zero_point, min, max, output, .. } = layer;
            Layer64 { bias: &bias, channels, zero_point, min, max, output }.stages()
        }
        Lists::Legacy => {
            let Channel { multiplier, shift } = channels[0];
            // Sums of up to 33 products, with some results within uint8.
            let (offset, multiplier, shift) = (bias[0] / 500, 1 + multiplier % 16, shift.min(-9));
            vec![Stage::Down { offset, multiplier, shift }, Stage::Cast { to: Element::U8 }]
        }
        Lists::Any => match next(4) {
            0 => layer.stages(),
            1 => vec![
                Stage::Bias { along, values: (0..m).map(|_| next(9000) - 4500).collect() },
                Stage::Down { offset: next(5000), multiplier: 1 + next(90), shift: -next(12) },
                Stage::Clamp { min: -100, max: 300 },
                Stage::Cast { to: Element::I8 },
            ],
            2 => vec![
                layer.stages().remove(1),
                Stage::Tanh { zero_point: zero_point - 128, amplitude: 1 + next(200) },
                Stage::Cast { to: Element::I16 },
            ],
            _ => vec![
                Stage::Scale { along, channels: vec![channels[0]; m], zero_point },
                Stage::Bias { along: Along::Columns, values: bias.iter().map(|v| v / 1000).collect() },
            ],
        },
    };
    Params { shape, stages }
}

/// Computes `tanh` by the kernels of the exponential and of the softmax, independently of the stage.
fn tanh(v: i32, zero_point: i32, amplitude: i32, saturates: bool) -> i32 {
    let (away, wide) = (i64::from(v) - i64::from(zero_point), i64::from(amplitude));
    if away.abs() >= 8 * wide {
        return zero_point + amplitude * away.signum() as i32;
    }
    let times = |a: i64, b: i64| (a * b + (1 << 30)) >> 31;
    let exponent = (0..31).find(|e| wide <= 1 << (e + 1)).expect("an int32");
    let inverse = ((1i64 << (32 + exponent)) / wide + 1) / 2;
    let shifted = times(away, inverse.min(i32::MAX.into())) << (28 - exponent);
    let shifted = if saturates { shifted.clamp(i32::MIN.into(), i32::MAX.into()) as i32 } else { shifted as i32 };
    let exponential = crate::exp::gemmlowp::exponential(if shifted < 0 { shifted } else { -shifted }, 4);
    let reciprocal = i64::from(softmax::tflite::newton(exponential));
    let magnitude = ((reciprocal - (1 << 29)) * 4).min(i32::MAX.into()) * i64::from(shifted.signum());
    let power = 64 - wide.leading_zeros();
    zero_point + (times(magnitude, wide << (31 - power)) >> (31 - power)) as i32
}

/// Applies a stage to a value, under the promise at its place.
fn staged(scheme: &str, overflow: Overflow, stage: &Stage, place: [usize; 2], v: i64) -> i64 {
    if let Stage::Bias64 { along, values } = stage {
        return v + along.pick(values, place);
    }
    if let Stage::Scale { along, channels, zero_point } = stage {
        let Channel { multiplier, shift } = along.pick(channels, place);
        return placed(overflow, of_sum(scheme, v, multiplier, shift), *zero_point).into();
    }
    narrow(scheme, overflow, stage, place, v as i32).into()
}

/// Returns the definition of a scheme of sums or of fixed point multiply.
pub(crate) fn of_sum(scheme: &str, v: i64, m: i32, s: i32) -> i128 {
    let reduced = ((i128::from(m) + (1 << 15)) >> 16).min(0x7FFF) * i128::from(v);
    match scheme {
        "tflite-int16-multiplier" => (2 * reduced + (1 << (15 - s))).div_euclid(2 << (15 - s)),
        "cmsis-nn-int16-multiplier" => {
            let high = reduced.div_euclid(1 << (14 - s)) as i32;
            i128::from(high.wrapping_add(1)).div_euclid(2)
        }
        "xnnpack-fp32" => {
            let scale = f64::from(m as f32) * f64::exp2(f64::from(s - 31));
            (v as f32 * scale as f32).round_ties_even() as i128
        }
        _ => scaled(scheme, v as i32, m, s),
    }
}

/// Adds the zero point to a scaled value, and fits both into int32.
fn placed(overflow: Overflow, scaled: i128, zero_point: i32) -> i32 {
    fit(overflow, i128::from(fit(overflow, scaled)) + i128::from(zero_point))
}

fn fit(overflow: Overflow, v: i128) -> i32 {
    match overflow {
        Overflow::Saturate => v.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        _ => v as i32,
    }
}

/// Applies a stage that accepts int32.
fn narrow(scheme: &str, overflow: Overflow, stage: &Stage, place: [usize; 2], v: i32) -> i32 {
    let fit = |v: i128| fit(overflow, v);
    match stage {
        Stage::Bias { along, values } => fit(i128::from(v) + i128::from(along.pick(values, place))),
        Stage::Down { offset, multiplier, shift } => {
            let product = fit(i128::from(fit(i128::from(v) + i128::from(*offset))) * i128::from(*multiplier));
            let half = if *shift < 0 { 1i64 << (-shift - 1) } else { 0 };
            let wide = i64::from(product);
            match scheme {
                "legacy" => fit((wide + half).into()) >> -shift,
                _ => (wide.signum() * ((wide.abs() + half) >> -shift)) as i32,
            }
        }
        Stage::Scale { .. } | Stage::Bias64 { .. } => unreachable!("the stage takes int64"),
        Stage::Clamp { min, max } => v.clamp(*min, *max),
        Stage::Tanh { zero_point, amplitude } => tanh(v, *zero_point, *amplitude, overflow == Overflow::Saturate),
        Stage::Cast { to } => v.clamp(*to.range().start(), *to.range().end()),
    }
}

/// Computes the sum in 64 bits, and each stage by its own definition.
pub(crate) fn apart(kernel: &Kernel, p: &Params, lhs: &[i32], rhs: &[i32]) -> Vec<i32> {
    let matmul::Params { m, n, k, lhs_offset, rhs_offset } = p.shape;
    let promise = |j: usize| {
        let inside = |region: Region| region.contains(j, n, 31);
        let deviation = kernel.contract.deviations.iter().find(|deviation| inside(deviation.region));
        deviation.map_or(kernel.contract.promise, |deviation| deviation.instead)
    };
    let one = |(i, j): (usize, usize)| {
        let product = |l: usize| {
            (i64::from(lhs[i * k + l]) + i64::from(lhs_offset)) * (i64::from(rhs[l * n + j]) + i64::from(rhs_offset))
        };
        let sum = (0..k).map(product).sum::<i64>();
        let sum = if p.is_wide() { sum } else { i64::from(sum as i32) };
        let promise = promise(j);
        p.stages.iter().fold(sum, |v, stage| staged(promise.scheme, promise.overflow, stage, [i, j], v)) as i32
    };
    (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(one).collect()
}

pub(crate) fn run(kernel: &Kernel, form: Form, p: &Params, lhs: &[i32], rhs: &[i32]) -> Vec<i32> {
    let operands = &kernel.contract.domain.operands;
    let pack = |element: Element, values: &[i32]| {
        let mut bytes = vec![0; element.size(values.len())];
        element.pack(values, &mut bytes);
        bytes
    };
    let mut out = vec![0; kernel.contract.domain.sizes(p).expect("a shape").outputs];
    kernel.run(form)(p, &pack(operands.lhs, lhs), &pack(operands.rhs, rhs), &mut out);
    out
}

/// Returns values of a type, including both ends.
fn elements(values: &RangeInclusive<i32>, len: usize, seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed);
    let (least, most) = (*values.start(), *values.end());
    let mut one = || match random.word() >> 1 {
        word if word % 7 == 0 => [least, most][word as usize / 7 % 2],
        word => least + (word % (most - least + 1) as u32) as i32,
    };
    (0..len).map(|_| one()).collect()
}

/// Returns every size with seeded parameters and tensors, and values around an end of `tanh` if the kernel accepts that stage.
pub(crate) fn cases(kernel: &Kernel) -> Vec<(Params, Vec<i32>, Vec<i32>)> {
    let operands = &kernel.contract.domain.operands;
    let mut out = Vec::new();
    for (at, sizes) in SIZES.into_iter().enumerate() {
        for turn in 0..6 {
            let seed = (6 * at + turn) as u64;
            let params = parameters(kernel, sizes, seed);
            assert!(kernel.contract.domain.takes_stages(&params).is_ok(), "{} {params:?}", kernel.name);
            let sizes = kernel.contract.domain.sizes(&params).expect("a shape");
            let lhs = elements(&operands.lhs_values, sizes.inputs[0], seed);
            out.push((params, lhs, elements(&operands.rhs_values, sizes.inputs[1], !seed)));
        }
    }
    if kernel.contract.domain.lists == Lists::Any {
        let shape = matmul::Params { m: 5, n: 6, k: 1, lhs_offset: 0, rhs_offset: 0 };
        let stages = vec![Stage::Tanh { zero_point: 0, amplitude: 2 }];
        out.push((Params { shape, stages }, vec![13, 14, 15, 16, 17], vec![1; 6]));
    }
    out
}

#[test]
fn fused_kernels_are_the_stages_apart() {
    for kernel in kernels() {
        for (params, lhs, rhs) in cases(kernel) {
            let expected = apart(kernel, &params, &lhs, &rhs);
            for form in [Form::Portable, Form::Native] {
                assert_eq!(run(kernel, form, &params, &lhs, &rhs), expected, "{} {params:?}", kernel.name);
            }
        }
    }
}

/// A fused kernel equals the project's product, followed by the requantization of the same system.
#[test]
fn fused_kernels_are_two_kernels_of_their_system() {
    for (fused, requantize) in [
        ("tflite-fully-connected-i8", "tflite-requantize-i8"),
        ("tflite-fully-connected-single-i8", "tflite-requantize-single-i8"),
        ("tflite-fully-connected-u8", "tflite-requantize-u8"),
        ("cmsis-nn-fully-connected-i8", "cmsis-nn-requantize-i8"),
        ("cmsis-nn-fully-connected-single-i8", "cmsis-nn-requantize-single-i8"),
        ("tvm-qnn-dense-i8", "tvm-requantize-i8"),
        ("gemmlowp-gemm-with-pipeline", "gemmlowp-pipeline"),
        ("gemmlowp-eight-bit-int-gemm", "gemmlowp-eight-bit-int"),
    ] {
        let fused = super::find(fused).expect(fused);
        let product = match fused.contract.domain.operands.lhs {
            Element::U8 => "arm-uadalp",
            _ => "arm-sadalp",
        };
        let product = matmul::find(product).expect("registered");
        let requantize = crate::requantize::find(requantize).expect(requantize);
        let mut compared = 0;
        for (params, lhs, rhs) in cases(fused) {
            let sums = matmul::tests::run(product, Form::Native, &params.shape, &lhs, &rhs, 0);
            let then = match (params.layer(), &params.stages[..]) {
                (Some(layer), _) => layer.requantize(sums.len(), params.shape.n),
                (None, [Stage::Down { offset, multiplier, shift }, Stage::Cast { to: Element::U8 }]) => {
                    crate::requantize::Params {
                        len: sums.len(),
                        channels: vec![Channel { multiplier: *multiplier, shift: *shift }],
                        bias: vec![*offset],
                        zero_point: 0,
                        min: 0,
                        max: 255,
                    }
                }
                _ => continue,
            };
            let mut out = vec![0; sums.len()];
            (requantize.portable)(&then, &sums, &mut out);
            assert_eq!(run(fused, Form::Native, &params, &lhs, &rhs), out, "{} {params:?}", fused.name);
            compared += 1;
        }
        assert!(compared >= 6, "{}", fused.name);
    }
}

/// Five inputs of gemmlowp, four of them in a vector. The last input, eight amplitudes of 2 less 1, saturates.
#[test]
fn the_largest_input_of_tanh_is_minus_the_amplitude_in_a_vector() {
    let kernel = super::find("gemmlowp-gemm-with-pipeline-neon").expect("registered");
    let shape = matmul::Params { m: 1, n: 5, k: 1, lhs_offset: 0, rhs_offset: 0 };
    let params = Params { shape, stages: vec![Stage::Tanh { zero_point: 0, amplitude: 2 }] };
    assert_eq!(run(kernel, Form::Native, &params, &[15], &[1; 5]), [-2, -2, -2, -2, 1]);
}

#[test]
fn what_a_kernel_does_not_take_is_refused() {
    let takes = |name: &str, stages: Vec<Stage>| {
        let domain: &Domain = &super::find(name).expect(name).contract.domain;
        let shape = matmul::Params { m: 2, n: 3, k: 1, lhs_offset: 0, rhs_offset: 0 };
        let params = Params { shape, stages };
        domain.sizes(&params).and_then(|_| domain.takes_stages(&params)).is_ok()
    };
    let (along, to) = (Along::Columns, Element::I8);
    let layer = |channels: usize, bias: usize, max: i32, to: Element| {
        vec![
            Stage::Bias { along, values: vec![0; bias] },
            Stage::Scale { along, channels: vec![Channel { multiplier: 1 << 30, shift: 0 }; channels], zero_point: 1 },
            Stage::Clamp { min: -1, max },
            Stage::Cast { to },
        ]
    };
    let wide = |channels: usize, bias: Vec<i64>, zero_point: i32| {
        let channels = vec![Channel { multiplier: 1 << 30, shift: 0 }; channels];
        let (min, max, output) = (-1, 300, Element::I16);
        Layer64 { bias: &bias, channels: &channels, zero_point, min, max, output }.stages()
    };
    let down = || vec![Stage::Down { offset: 0, multiplier: 1, shift: 0 }, Stage::Cast { to: Element::U8 }];
    for (name, stages, taken) in [
        ("tflite-fully-connected-i8", layer(3, 1, 127, to), true),
        ("tflite-fully-connected-i8", layer(2, 1, 127, to), false),
        ("tflite-fully-connected-i8", layer(1, 2, 127, to), false),
        ("tflite-fully-connected-i8", layer(1, 3, 128, to), false),
        ("tflite-fully-connected-i8", layer(1, 3, 127, Element::U8), false),
        ("tvm-qnn-dense-neon-i8", layer(3, 1, 127, to), false),
        ("tvm-qnn-dense-neon-i8", layer(1, 3, 127, to), true),
        ("tflite-fully-connected-i8", down(), false),
        ("gemmlowp-eight-bit-int-gemm", down(), true),
        ("gemmlowp-eight-bit-int-gemm", layer(1, 1, 127, to), false),
        ("gemmlowp-gemm-with-pipeline", layer(3, 3, 1000, Element::I16), true),
        ("gemmlowp-gemm-with-pipeline", vec![Stage::Tanh { zero_point: 0, amplitude: 0 }], false),
        ("gemmlowp-gemm-with-pipeline", vec![Stage::Cast { to }, Stage::Cast { to }], false),
        ("gemmlowp-gemm-with-pipeline", vec![Stage::Clamp { min: 1, max: 0 }], false),
        ("gemmlowp-gemm-with-pipeline", vec![Stage::Clamp { min: 1, max: 1 }], true),
        ("gemmlowp-gemm-with-pipeline", Vec::new(), true),
        ("gemmlowp-gemm-with-pipeline", wide(1, vec![0], 0), false),
        ("tflite-fully-connected-16x8", wide(3, vec![1 << 40; 3], 0), true),
        ("tflite-fully-connected-16x8", wide(1, vec![0; 2], 0), false),
        ("tflite-fully-connected-16x8", wide(1, vec![0], 1), false),
        ("tflite-fully-connected-16x8", wide(1, vec![0], 0)[..1].to_vec(), false),
        ("tflite-fully-connected-16x8", layer(1, 3, 127, Element::I16), false),
        ("cmsis-nn-fully-connected-i16", wide(3, vec![0], 0), false),
        ("onnxruntime-qlinearmatmul-i8", layer(1, 3, 127, to), false),
    ] {
        assert_eq!(takes(name, stages.clone()), taken, "{name} {stages:?}");
    }
}

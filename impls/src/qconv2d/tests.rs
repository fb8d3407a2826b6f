//! Every fused kernel equals the sums of the definition, followed by the requantization of the same scheme.

use super::{Domain, Kernel, Params, kernels};
use crate::Form;
use crate::contract::Region;
use crate::conv2d;
use crate::conv2d::tests::{definition, elements, shapes, transposed};
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::definitions::scaled;
use crate::qmatmul::tests::of_sum;
use crate::random::Random;

/// Returns the shapes that a kernel accepts, among them filters of one place and depth multipliers of 1 to 4.
fn taken(domain: &Domain) -> Vec<conv2d::Params> {
    let plain = conv2d::Params { height: 3, width: 4, ..conv2d::Params::default() };
    let depthwise = |channels: usize, multiplier: usize| conv2d::Params {
        channels,
        out_channels: channels * multiplier,
        groups: channels,
        kernel_h: 3,
        kernel_w: 2,
        top: 1,
        left: 1,
        right: 1,
        ..plain
    };
    let more = [
        conv2d::Params { channels: 7, out_channels: 9, ..plain },
        depthwise(3, 1),
        depthwise(5, 2),
        depthwise(2, 4),
        conv2d::Params { batches: 2, ..depthwise(2, 4) },
        conv2d::Params { dilation_h: 2, stride_w: 2, bottom: 3, ..depthwise(3, 8) },
        conv2d::Params { stride_h: 2, top: 2, ..depthwise(1, 4) },
    ];
    shapes().into_iter().chain(transposed()).chain(more).filter(|shape| domain.takes_shape(shape).is_ok()).collect()
}

/// Returns parameters for each output channel, as far as the kernel accepts them.
fn parameters(kernel: &Kernel, shape: conv2d::Params, seed: u64) -> Params {
    let domain = &kernel.contract.domain;
    let requantize = &domain.requantize;
    let mut random = Random::new(seed);
    let mut next = |n: i32| (random.word() >> 1) as i32 % n;
    let count = if requantize.channels.per_channel { shape.out_channels } else { 1 };
    let mut channel = || loop {
        let channel = Channel { multiplier: (1 << 30) + next(2) * next(1 << 30), shift: next(14) - 11 };
        if requantize.takes(channel) {
            return channel;
        }
    };
    let channels = (0..count).map(|_| channel()).collect();
    let range = requantize.output.range();
    let width = range.end() - range.start() + 1;
    let (a, b) = (range.start() + next(width), range.start() + next(width));
    let lhs = domain.operands.lhs.range();
    let bias: Vec<i32> = (0..shape.out_channels).map(|_| next(200_000) - 100_000).collect();
    let bias64 = bias.iter().map(|bias| (i64::from(*bias) << 8) + 77).collect();
    let (bias, bias64) = if domain.wide { (vec![0], bias64) } else { (bias, Vec::new()) };
    let point = [*lhs.start(), *lhs.end(), 3][next(3) as usize];
    Params {
        shape: conv2d::Params {
            input_zero_point: if domain.operands.lhs_offsets.contains(&-point) { point } else { 0 },
            weight_zero_point: if domain.operands.rhs_offsets.contains(&-5) { 5 } else { 0 },
            ..shape
        },
        channels,
        bias,
        bias64,
        zero_point: if requantize.zero_point { range.start() + next(width) } else { 0 },
        min: a.min(b),
        max: a.max(b),
    }
}

/// Returns the scheme of an output channel.
fn scheme(kernel: &Kernel, o: usize, outputs: usize) -> &'static str {
    let inside = |region: Region| region.contains(o, outputs, 31);
    let deviation = kernel.contract.deviations.iter().find(|deviation| inside(deviation.region));
    deviation.map_or(kernel.contract.promise.scheme, |deviation| deviation.instead.scheme)
}

/// Computes sum, bias, multiplication, zero point and clamp, each by its own definition.
pub(crate) fn apart(kernel: &Kernel, p: &Params, input: &[i32], weights: &[i32]) -> Vec<i32> {
    let outputs = p.shape.out_channels;
    let one = |(at, defined): (usize, conv2d::tests::Defined)| {
        let o = at % outputs;
        let Channel { multiplier, shift } = p.channel(o);
        if p.is_wide() {
            let biased =
                i64::try_from(defined.exact()).expect("an int64") + p.bias64[if p.bias64.len() == 1 { 0 } else { o }];
            return of_sum(scheme(kernel, o, outputs), biased, multiplier, shift).clamp(p.min.into(), p.max.into())
                as i32;
        }
        let biased = defined.by("exact").wrapping_add(p.bias(o));
        let multiplied = scaled(scheme(kernel, o, outputs), biased, multiplier, shift) as i32;
        multiplied.wrapping_add(p.zero_point).clamp(p.min, p.max)
    };
    definition(&p.shape, input, weights).into_iter().enumerate().map(one).collect()
}

pub(crate) fn run(kernel: &Kernel, form: Form, p: &Params, input: &[i32], weights: &[i32]) -> Vec<i32> {
    let operands = &kernel.contract.domain.operands;
    let pack = |element: Element, values: &[i32]| {
        let mut bytes = vec![0; values.len() * element.bytes()];
        element.pack(values, &mut bytes);
        bytes
    };
    let mut out = vec![0; kernel.contract.domain.sizes(p).expect("a shape").outputs];
    kernel.run(form)(p, &pack(operands.lhs, input), &pack(operands.rhs, weights), &mut out);
    out
}

/// Returns every shape that a kernel accepts, with seeded parameters and tensors.
pub(crate) fn cases(kernel: &Kernel) -> Vec<(Params, Vec<i32>, Vec<i32>)> {
    let operands = &kernel.contract.domain.operands;
    let shapes = taken(&kernel.contract.domain).into_iter().enumerate();
    let of = |(at, shape): (usize, conv2d::Params)| {
        let seeds = (0..4).map(move |turn| (4 * at + turn) as u64);
        let case = move |seed| {
            let params = parameters(kernel, shape, seed);
            let sizes = kernel.contract.domain.sizes(&params).expect("a shape");
            let input = elements(operands.lhs, sizes.inputs[0], seed);
            let mut weights = elements(operands.rhs, sizes.inputs[1], !seed);
            weights.iter_mut().for_each(|v| *v = (*v).max(*operands.rhs_values.start()));
            (params, input, weights)
        };
        seeds.map(case)
    };
    shapes.flat_map(of).collect()
}

#[test]
fn fused_kernels_are_the_kernels_apart() {
    for kernel in kernels() {
        let cases = cases(kernel);
        assert!(cases.len() >= 8, "{}", kernel.name);
        for (params, input, weights) in cases {
            let expected = apart(kernel, &params, &input, &weights);
            for form in [Form::Portable, Form::Native] {
                assert_eq!(run(kernel, form, &params, &input, &weights), expected, "{} {params:?}", kernel.name);
            }
        }
    }
}

/// A fused kernel of int8 equals the project's convolution, followed by the requantization of the same system.
#[test]
fn fused_kernels_are_two_kernels_of_their_system() {
    for (fused, requantize) in [
        ("tflite-conv-i8", "tflite-requantize-i8"),
        ("tflite-conv-single-i8", "tflite-requantize-single-i8"),
        ("tflite-depthwise-i8", "tflite-requantize-i8"),
        ("cmsis-nn-convolve-i8", "cmsis-nn-requantize-i8"),
        ("cmsis-nn-convolve-single-i8", "cmsis-nn-requantize-single-i8"),
        ("cmsis-nn-depthwise-i8", "cmsis-nn-requantize-i8"),
        ("tflite-transpose-conv-i8", "tflite-requantize-i8"),
        ("cmsis-nn-transpose-conv-i8", "cmsis-nn-requantize-i8"),
        ("cmsis-nn-transpose-conv-reverse-i8", "cmsis-nn-requantize-i8"),
    ] {
        let fused = super::find(fused).expect(fused);
        let transposed = fused.contract.domain.transposed.is_some();
        let convolution = if transposed { "tflite-transpose-conv" } else { "tflite-reference" };
        let convolution = conv2d::find(convolution).expect("registered");
        let requantize = crate::requantize::find(requantize).expect(requantize);
        for (params, input, weights) in cases(fused) {
            let sums = conv2d::tests::convolve(convolution, Form::Native, &params.shape, &input, &weights);
            let mut out = vec![0; sums.len()];
            (requantize.portable)(&params.requantize(sums.len()), &sums, &mut out);
            assert_eq!(run(fused, Form::Native, &params, &input, &weights), out, "{} {params:?}", fused.name);
        }
    }
}

/// A depth multiplier of 4 runs the wide loop for one image without dilation, and the generic loop for two images: the results of each image are the
/// same.
#[test]
fn both_depthwise_loops_of_cmsis_nn_agree() {
    let kernel = super::find("cmsis-nn-depthwise-i8").expect("registered");
    let shape = conv2d::Params {
        height: 5,
        width: 4,
        channels: 3,
        out_channels: 12,
        groups: 3,
        kernel_h: 3,
        kernel_w: 3,
        top: 1,
        left: 2,
        ..conv2d::Params::default()
    };
    let one = parameters(kernel, shape, 7);
    let two = Params { shape: conv2d::Params { batches: 2, ..one.shape }, ..one.clone() };
    let (image, weights) = (elements(Element::I8, 60, 1), elements(Element::I8, 108, 2));
    let whole = run(kernel, Form::Native, &one, &image, &weights);
    assert_eq!(
        run(kernel, Form::Native, &two, &[&image[..], &image].concat(), &weights),
        [&whole[..], &whole].concat()
    );
}

#[test]
fn what_a_kernel_does_not_take_is_refused_by_name() {
    let argument = |name: &str, params: &Params| {
        let domain = &super::find(name).expect(name).contract.domain;
        let sizes = domain.sizes(params).map(drop);
        sizes.and_then(|()| domain.takes_shape(&params.shape)).err().map(|error| error.argument)
    };
    let params = Params {
        shape: conv2d::Params { channels: 2, out_channels: 4, ..conv2d::Params::default() },
        channels: vec![Channel { multiplier: 1 << 30, shift: 0 }],
        bias: vec![0],
        bias64: Vec::new(),
        zero_point: 0,
        min: 0,
        max: 100,
    };
    let grouped = Params { shape: conv2d::Params { groups: 2, ..params.shape }, ..params.clone() };
    let wide = Params { shape: conv2d::Params { width: 2, kernel_w: 2, ..params.shape }, ..params.clone() };
    let each = Params { channels: vec![params.channels[0]; 4], ..params.clone() };
    for (name, params, refused) in [
        ("tflite-conv-i8", &params, None),
        ("tflite-conv-i8", &each, None),
        ("tflite-depthwise-i8", &params, Some("groups")),
        ("tflite-depthwise-i8", &grouped, None),
        ("gemmlowp-pointwise-u8", &grouped, Some("groups")),
        ("gemmlowp-pointwise-u8", &wide, Some("kernel_h")),
        ("tflite-conv-u8", &each, Some("channels")),
        ("tflite-conv-i8", &Params { bias: vec![0; 3], ..params.clone() }, Some("bias")),
        ("tflite-conv-i8", &Params { bias64: vec![1], ..params.clone() }, Some("bias64")),
        ("tflite-conv-16x8", &params, Some("bias64")),
        ("tflite-conv-16x8", &Params { bias64: vec![1 << 40], ..params.clone() }, None),
        ("tflite-conv-16x8", &Params { bias64: vec![1; 4], max: 300, ..params.clone() }, None),
        ("tflite-conv-16x8", &Params { bias64: vec![1; 3], ..params.clone() }, Some("bias64")),
        ("tflite-conv-16x8", &Params { bias64: vec![1], bias: vec![1], ..params.clone() }, Some("bias")),
        ("tflite-conv-16x8", &Params { bias64: vec![1], zero_point: 1, ..params.clone() }, Some("zero_point")),
        ("tflite-conv-16x8-bias32", &params, None),
        ("cmsis-nn-convolve-i16", &Params { bias64: vec![1], ..grouped.clone() }, Some("groups")),
        ("tflite-conv-i8", &Params { channels: Vec::new(), ..params.clone() }, Some("channels")),
        ("tflite-conv-i8", &Params { max: 128, ..params.clone() }, Some("max")),
        ("tflite-conv-i8", &Params { min: 101, ..params.clone() }, Some("min")),
    ] {
        assert_eq!(argument(name, params), refused, "{name} {params:?}");
    }
}

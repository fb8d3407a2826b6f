//! Every tensor mutant differs from its claim, and gives the buggy value at the witness of its report.

use super::requantize::logical_shift;
use super::tensor::Mutant;
use crate::Form;
use crate::element::Element;
use crate::elementwise::{self, add, mul, sub};
use crate::fpm::Channel;
use crate::{concat, conv2d, dequantize, dot, instruction, matmul, qconv2d, qmatmul, quantize, requantize, transform};

fn find<R, D>(name: &str, mutants: &'static [Mutant<R, D>]) -> &'static Mutant<R, D> {
    mutants.iter().find(|mutant| mutant.kernel.name == name).expect(name)
}

/// Returns runs of both extremes of a type, in an order that does not repeat after 16 or 4 elements.
fn elements(element: Element, len: usize) -> Vec<i32> {
    let (lo, hi) = (*element.range().start(), *element.range().end());
    (0..len).map(|i| [lo, lo, lo, hi, hi, hi, 1][(i + i / 7) % 7]).collect()
}

#[test]
fn names_are_unique_and_no_kernels() {
    fn names<R, D>(op: &str, mutants: &[Mutant<R, D>], kernels: &[crate::kernel::Kernel<R, D>]) {
        for (i, Mutant { kernel, class, origin, .. }) in mutants.iter().enumerate() {
            assert!(
                kernel.name.starts_with("mutant-") && !class.is_empty() && !origin.is_empty(),
                "{op} {}",
                kernel.name
            );
            assert!(mutants[..i].iter().all(|other| other.kernel.name != kernel.name), "{op} {}", kernel.name);
            assert!(kernels.iter().all(|other| other.name != kernel.name), "{op} {}", kernel.name);
        }
    }
    names("instruction", super::instruction::MUTANTS, instruction::kernels());
    names("dot", super::dot::MUTANTS, dot::kernels());
    names("matmul", super::matmul::MUTANTS, matmul::kernels());
    names("conv2d", super::conv2d::MUTANTS, conv2d::kernels());
    names("qconv2d", super::qconv2d::MUTANTS, qconv2d::kernels());
    names("qmatmul", super::qmatmul::MUTANTS, qmatmul::kernels());
    names("requantize", super::requantize::MUTANTS, requantize::kernels());
    names("concat", super::concat::MUTANTS, concat::kernels());
    names("add", super::add::MUTANTS, add::kernels());
    names("mul", super::mul::MUTANTS, mul::kernels());
    names("sub", super::sub::MUTANTS, sub::kernels());
    names("transform", super::transform::MUTANTS, transform::kernels());
    names("quantize", super::quantize::MUTANTS, quantize::kernels());
    names("dequantize", super::dequantize::MUTANTS, dequantize::kernels());
}

#[test]
fn dot_mutants_differ() {
    for mutant in super::dot::MUTANTS {
        let domain = &mutant.kernel.contract.domain;
        let (a, b) = (elements(domain.lhs, 32), elements(domain.rhs, 32));
        let acc = [i32::MAX, i32::MIN, 0, -5, i32::MAX - 3, i32::MIN + 3, 7, 1 << 20];
        let pack = |element: Element, values: &[i32]| {
            let mut bytes = vec![0; 32];
            element.pack(values, &mut bytes);
            bytes
        };
        let mut out = [0; 8];
        (mutant.kernel.portable)(&acc, &pack(domain.lhs, &a), &pack(domain.rhs, &b), &mut out);
        let promised = std::array::from_fn(|i| {
            let sum = i64::from(acc[i]) + (4 * i..4 * i + 4).map(|k| i64::from(a[k]) * i64::from(b[k])).sum::<i64>();
            match mutant.kernel.contract.promise.overflow {
                crate::contract::Overflow::Saturate => sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
                _ => sum as i32,
            }
        });
        assert_ne!(out, promised, "{}", mutant.kernel.name);
    }
}

/// One shape with tails on all sides, on which each mutant's step has an effect.
#[test]
fn matmul_mutants_differ() {
    for Mutant { kernel, .. } in super::matmul::MUTANTS {
        let domain = &kernel.contract.domain;
        let params = matmul::Params { m: 5, n: 7, k: 37, lhs_offset: 1 << 20, rhs_offset: -3 };
        let (lhs, rhs) = (elements(domain.lhs, 5 * 37), elements(domain.rhs, 37 * 7));
        let got = matmul::tests::run(kernel, Form::Native, &params, &lhs, &rhs, 1);
        assert_ne!(got, matmul::tests::expected(kernel, &params, &lhs, &rhs), "{}", kernel.name);
    }
}

/// Without tails, offsets and large values only mutants of layout and sign are wrong.
#[test]
fn matmul_mutants_are_right_elsewhere() {
    for Mutant { kernel, class, .. } in super::matmul::MUTANTS {
        if ["layout", "signedness"].contains(class) {
            continue;
        }
        let params = matmul::Params { m: 4, n: 8, k: 32, lhs_offset: 0, rhs_offset: 0 };
        let (lhs, rhs): (Vec<i32>, Vec<i32>) =
            ((0..4 * 32).map(|i| i % 7).collect(), (0..32 * 8).map(|i| i % 11).collect());
        let got = matmul::tests::run(kernel, Form::Native, &params, &lhs, &rhs, 0);
        assert_eq!(got, matmul::tests::expected(kernel, &params, &lhs, &rhs), "{}", kernel.name);
    }
}

/// One result of 9 products, in rows `(name, lhs, rhs, got)`. The 16-bit lanes hold products 0 and 8.
#[test]
fn matmul_witnesses_of_the_reports() {
    let table = [
        ("mutant-s8-pair-wrap", [-128, 0, -128], [-128, 0, -128], -32768),
        ("mutant-u8-pair-wrap", [255, 0, 255], [255, 0, 255], 64514),
        ("mutant-maddubs", [211, 171, 0], [71, 107, 0], 32767),
        ("mutant-u8-sign-extended", [200, 0, 0], [1, 0, 0], -56),
    ];
    let spread = |[first, second, last]: [i32; 3]| [first, second, 0, 0, 0, 0, 0, 0, last];
    for (name, lhs, rhs, got) in table {
        let Mutant { kernel, .. } = find(name, super::matmul::MUTANTS);
        let params = matmul::Params { m: 1, n: 1, k: 9, lhs_offset: 0, rhs_offset: 0 };
        let (lhs, rhs) = (spread(lhs), spread(rhs));
        assert_eq!(matmul::tests::run(kernel, Form::Native, &params, &lhs, &rhs, 0), [got], "{name}");
    }
    let Mutant { kernel, .. } = find("mutant-f32-accumulator", super::matmul::MUTANTS);
    let params = matmul::Params { m: 1, n: 1, k: 1, lhs_offset: (1 << 24) + 1, rhs_offset: 1 };
    assert_eq!(matmul::tests::run(kernel, Form::Native, &params, &[0], &[0], 0), [1 << 24]);
}

#[test]
fn conv2d_mutants_are_wrong_at_borders_only() {
    let inner =
        conv2d::Params { height: 4, width: 5, kernel_h: 3, kernel_w: 2, input_zero_point: 9, ..Default::default() };
    for Mutant { kernel, class, .. } in super::conv2d::MUTANTS {
        let domain = &kernel.contract.domain.operands;
        if kernel.contract.domain.transposed.is_some() {
            continue;
        }
        // Rounding to f32 changes large sums alone.
        let at_borders = *class != "f32-step";
        for (params, differs) in [(inner, false), (conv2d::Params { left: 1, bottom: 1, ..inner }, true)] {
            let (input, weights) = (elements(domain.lhs, 20), elements(domain.rhs, 6));
            let got = conv2d::tests::convolve(kernel, Form::Native, &params, &input, &weights);
            let defined = conv2d::tests::definition(&params, &input, &weights);
            let promised: Vec<i32> = defined.iter().map(|result| result.by("exact")).collect();
            assert_eq!(got != promised, differs && at_borders, "{} {params:?}", kernel.name);
        }
    }
}

/// The sum of 519 products of 255 by 127 is the least one that f32 does not hold. The sum of 517 products is right.
#[test]
fn sums_of_convolutions_beyond_f32_are_rounded() {
    let Mutant { kernel, .. } = find("mutant-s8s8-through-f32", super::conv2d::MUTANTS);
    for (channels, got) in [(517, 16_743_045), (519, 16_807_816)] {
        let params =
            conv2d::Params { height: 1, width: 1, channels, input_zero_point: -128, ..conv2d::Params::default() };
        let bytes = vec![127; channels];
        let defined = conv2d::tests::definition(&params, &bytes, &bytes);
        assert_eq!(defined[0].by("exact"), 255 * 127 * channels as i32);
        assert_eq!(
            conv2d::tests::convolve(kernel, Form::Native, &params, &bytes, &bytes),
            [got],
            "{channels} channels"
        );
    }
}

/// Each mutant is right on one shape and wrong on another.
#[test]
fn transposed_mutants_are_wrong_where_they_say() {
    let one =
        conv2d::Params { height: 3, width: 3, channels: 2, out_channels: 3, transposed: true, ..Default::default() };
    let filter = |kernel_h, kernel_w| conv2d::Params { kernel_h, kernel_w, stride_h: 2, stride_w: 2, ..one };
    let padded = conv2d::Params { top: 1, left: 1, bottom: 1, right: 1, ..filter(3, 3) };
    let table = [
        ("mutant-transpose-unflipped", filter(1, 1), filter(2, 1)),
        ("mutant-transpose-insert-zero", filter(3, 3), conv2d::Params { input_zero_point: 9, ..filter(3, 3) }),
        ("mutant-transpose-even-filter", filter(3, 3), filter(2, 3)),
        ("mutant-transpose-output-padding", padded, conv2d::Params { output_padding_w: 1, ..padded }),
        ("mutant-transpose-phase", filter(3, 2), padded),
    ];
    let transposed = super::conv2d::MUTANTS.iter().filter(|mutant| mutant.kernel.contract.domain.transposed.is_some());
    assert_eq!(transposed.count(), table.len());
    for (name, same, other) in table {
        let Mutant { kernel, .. } = find(name, super::conv2d::MUTANTS);
        let domain = &kernel.contract.domain.operands;
        for (params, differs) in [(same, false), (other, true)] {
            let [of_input, of_weights, _] = params.sizes().expect("a shape").inputs;
            let (input, weights) = (elements(domain.lhs, of_input), elements(domain.rhs, of_weights));
            let got = conv2d::tests::convolve(kernel, Form::Native, &params, &input, &weights);
            let defined = conv2d::tests::definition(&params, &input, &weights);
            let promised: Vec<i32> = defined.iter().map(|result| result.by("exact")).collect();
            assert_eq!(got != promised, differs, "{name} {params:?}");
        }
    }
}

#[test]
fn s8s8_witness_of_the_report() {
    let Mutant { kernel, .. } = find("mutant-s8s8-pad-zero", super::conv2d::MUTANTS);
    let params = conv2d::Params { kernel_w: 3, left: 1, right: 1, ..Default::default() };
    assert_eq!(conv2d::tests::convolve(kernel, Form::Native, &params, &[5], &[3, -2, 7]), [-1290]);
}

#[test]
fn requantize_mutants_differ_and_run_on_their_whole_domain() {
    for Mutant { kernel, .. } in super::requantize::MUTANTS {
        let mut random = crate::random::Random::new(7);
        let mut differences = 0;
        for mut params in requantize::tests::batches(&kernel.contract.domain, &mut random) {
            let corners = [i32::MIN, -300, -3, -1, 0, 1, 300, 1 << 24 | 1, i32::MAX];
            let acc: Vec<i32> = corners.into_iter().chain((0..20).map(|_| random.int32_of_any_size())).collect();
            params.len = acc.len();
            kernel.contract.domain.sizes(&params).expect("in the domain");
            let mut out = vec![0; acc.len()];
            (kernel.portable)(&params, &acc, &mut out);
            for (i, (acc, got)) in acc.iter().zip(out).enumerate() {
                assert!((params.min..=params.max).contains(&got));
                differences += usize::from(got != requantize::tests::promised(kernel, &params, i, *acc));
            }
        }
        assert!(differences > 0, "{}", kernel.name);
    }
}

/// Rows are `(name, (acc, multiplier, shift, zero point), got, promised)`.
#[test]
fn requantize_witnesses_of_the_reports() {
    assert_eq!(logical_shift(-3, 1), 2147483646);
    const ONE: i32 = i32::MAX;
    let table = [
        ("mutant-logical-shift", (-3, 1, -1, 0), 127, -1),
        ("mutant-cast-before-zero-point", (231, ONE, 0, -128), -128, 103),
        ("mutant-clamp-before-zero-point", (231, ONE, 0, -128), -1, 103),
        ("mutant-legacy-wraps", (1 << 21, 1 << 10, -25, 0), -64, 63),
        ("mutant-requantize-truncates", (1, 1 << 30, 0, 0), 0, 1),
        // 5/2 rounds down to even instead of up.
        ("mutant-requantize-f32", (10, 1 << 30, -1, 0), 2, 3),
    ];
    for (name, (acc, multiplier, shift, zero_point), got, promised) in table {
        let Mutant { kernel, .. } = find(name, super::requantize::MUTANTS);
        let channels = vec![Channel { multiplier, shift }];
        let params = requantize::Params { len: 1, channels, bias: vec![0], zero_point, min: -128, max: 127 };
        let mut out = [0];
        (kernel.portable)(&params, &[acc], &mut out);
        assert_eq!((out[0], requantize::tests::promised(kernel, &params, 0, acc)), (got, promised), "{name}");
    }
}

#[test]
fn transform_mutants_differ_where_they_say() {
    let matrix = |rows, columns| transform::Params::Matrix { batches: 1, rows, columns };
    let batched = |rows, columns| transform::Params::Matrix { batches: 2, rows, columns };
    let pad = |top, left| {
        let pad = transform::pad::Params { height: 2, width: 2, top, left, zero_point: -5, ..Default::default() };
        transform::Params::Pad(transform::pad::Params { right: 1, bottom: 1, ..pad })
    };
    let packed = |columns, word, bits, signed| {
        transform::Params::Packed(transform::packing::Params { rows: 2, columns, bits, word, signed })
    };
    let conv = |left| {
        let shape =
            conv2d::Params { height: 3, width: 3, kernel_w: 2, left, input_zero_point: -5, ..Default::default() };
        transform::Params::Conv2d(shape)
    };
    let several = conv2d::Params { width: 3, channels: 2, kernel_w: 2, out_channels: 3, ..Default::default() };
    let outputs = transform::Params::Conv2d(several);
    let map = |stride, column_major| {
        transform::Params::Map(transform::map::Params { rows: 2, columns: 3, stride, column_major })
    };
    let table = [
        ("mutant-block-transpose-rows", "tvm-block-transpose", matrix(16, 1), matrix(3, 6)),
        ("mutant-im2col-pad-zero", "tvm-im2col", conv(0), conv(1)),
        ("mutant-interleave-tail", "tvm-interleave", matrix(5, 32), matrix(5, 33)),
        ("mutant-data-pack-pad-zero", "tvm-data-pack", conv(0), conv(1)),
        ("mutant-kernel-pack-transposed", "tvm-kernel-pack", conv(0), outputs),
        ("mutant-weight-prepack-channels-first", "tvm-weight-prepack", conv(1), outputs),
        ("mutant-spatial-unpack-nhwc", "tvm-spatial-unpack", conv(1), outputs),
        ("mutant-interleave-batch-stride", "tvm-interleave", batched(4, 16), batched(3, 16)),
        ("mutant-map-stride-ignored", "gemmlowp-matrix-map", map(3, false), map(4, false)),
        ("mutant-map-order-ignored", "gemmlowp-matrix-map", map(3, false), map(3, true)),
        ("mutant-pad-zero", "tflite-pad", transform::Params::Pad(Default::default()), pad(1, 1)),
        ("mutant-pad-sides-exchanged", "tflite-pad", pad(1, 1), pad(1, 0)),
        ("mutant-pad-other-axis", "tflite-pad-image", pad(1, 1), pad(1, 0)),
        ("mutant-int4-pack-odd", "onnx-int4-pack", packed(4, 8, 4, false), packed(3, 8, 4, false)),
        ("mutant-int4-unpack-unsigned", "onnx-int4-unpack", packed(8, 8, 4, false), packed(32, 8, 4, true)),
    ];
    // A wrong order of bits shows in every shape.
    let everywhere = [
        ("mutant-int4-pack-order", "onnx-int4-pack", packed(2, 8, 4, false)),
        ("mutant-bitpack-reversed", "tvm-bitpack", packed(8, 8, 2, false)),
    ];
    assert_eq!(table.len() + everywhere.len(), super::transform::MUTANTS.len());
    let shapes = table
        .into_iter()
        .flat_map(|(name, correct, same, other)| [(name, correct, same, false), (name, correct, other, true)]);
    let shapes = shapes.chain(everywhere.map(|(name, correct, params)| (name, correct, params, true)));
    for (name, correct, params, differs) in shapes {
        let (Mutant { kernel, .. }, correct) =
            (find(name, super::transform::MUTANTS), transform::find(correct).expect(correct));
        let sizes = kernel.contract.domain.sizes(&params).expect("a shape");
        let input: Vec<i32> = (1..).take(sizes.input()).collect();
        let (mut got, mut promised) = (vec![-1; sizes.outputs], vec![-2; sizes.outputs]);
        (kernel.portable)(&params, &input, &mut got);
        (correct.portable)(&params, &input, &mut promised);
        assert_eq!(got != promised, differs, "{name} {params:?}");
    }
}

#[test]
fn add_mutants_differ() {
    let claims = [
        ("tflite", "tflite-add-i8"),
        ("tflite-single", "tflite-add-single-i8"),
        ("pytorch", "pytorch-qadd-i8"),
        ("tvm-upward", "tvm-qnn-add-i8"),
        ("tvm-tonearest", "tvm-qnn-add-tonearest-i8"),
    ];
    sums_differ(super::add::MUTANTS, &claims.map(|(scheme, name)| (scheme, add::find(name).expect("registered"))));
}

#[test]
fn sub_mutants_differ() {
    let claims = [("tflite", "tflite-sub-i8"), ("tvm-upward", "tvm-qnn-subtract-i8")];
    sums_differ(super::sub::MUTANTS, &claims.map(|(scheme, name)| (scheme, sub::find(name).expect("registered"))));
}

/// Checks all pairs of 8 bits with the scales of each claim: each mutant differs, and the kernel of the claimed scheme gives the claimed results.
fn sums_differ(mutants: &[Mutant<add::Run, add::Domain>], claims: &[(&str, &add::Kernel)]) {
    let all: Vec<(i32, i32)> = (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b))).collect();
    let (lhs, rhs): (Vec<i32>, Vec<i32>) = all.into_iter().unzip();
    for Mutant { kernel, .. } in mutants {
        let correct = claims.iter().find(|(scheme, _)| *scheme == kernel.contract.promise.scheme).expect("a kernel");
        let correct = correct.1;
        let mut differences = 0;
        for (lhs_scale, rhs_scale, out_scale) in [
            (0.0235, 0.3, 0.31),
            (0.5, 0.5, 1.0),
            (0.007, 3.0, 0.02),
            (0.1, 0.7, 0.9),
            (0.21, 0.13, 0.34),
            (1.0, 1.0, 1.0 / 256.0),
        ] {
            let p =
                elementwise::tests::params(Element::I8, [(lhs_scale, 3), (rhs_scale, -7), (out_scale, 5)], lhs.len());
            if kernel.contract.domain.sizes(&p).is_err() || correct.contract.domain.sizes(&p).is_err() {
                continue;
            }
            let got = elementwise::tests::run(kernel, Form::Native, &p, &lhs, &rhs);
            let promised = elementwise::tests::run(correct, Form::Native, &p, &lhs, &rhs);
            assert!(got.iter().all(|v| (-128..=127).contains(v)), "{}", kernel.name);
            differences += got.iter().zip(promised).filter(|(got, promised)| **got != *promised).count();
        }
        assert!(differences > 0, "{}", kernel.name);
    }
}

/// Returns convolutions with sums and biases beyond int32, and with multipliers whose lower half counts.
fn wide_convolutions(transposed: bool) -> Vec<(qconv2d::Params, Vec<i32>, Vec<i32>)> {
    let of = |(bias, multiplier, shift, channels, [l, r]): (i64, i32, i32, usize, [i32; 2])| {
        let params = qconv2d::Params {
            shape: conv2d::Params { channels, transposed, ..conv2d::Params::default() },
            channels: vec![Channel { multiplier, shift }],
            bias: vec![0],
            bias64: vec![bias],
            zero_point: 0,
            min: -32768,
            max: 32767,
        };
        (params, vec![l; channels], vec![r; channels])
    };
    let table = [
        (1 << 33, 1 << 30, -20, 1, [1, 1]),
        (0, (1 << 30) + 0x8000, 1, 1, [30_000, 1]),
        (0, 1 << 30, -16, 517, [-32768, -127]),
    ];
    table.map(of).to_vec()
}

/// Each mutant differs from its claim on one of the shapes of its operation.
#[test]
fn qconv2d_mutants_differ() {
    for Mutant { kernel, .. } in super::qconv2d::MUTANTS {
        // One quarter, in five output channels: two roundings give 1.
        let quarter = qconv2d::Params {
            shape: conv2d::Params { out_channels: 5, ..conv2d::Params::default() },
            channels: vec![Channel { multiplier: 1 << 30, shift: -1 }],
            bias: vec![0],
            bias64: Vec::new(),
            zero_point: 0,
            min: -128,
            max: 127,
        };
        let mut cases = qconv2d::tests::cases(kernel);
        cases.push((quarter, vec![1], vec![1; 5]));
        if kernel.contract.domain.wide {
            cases = wide_convolutions(kernel.contract.domain.transposed.is_some());
        }
        let differs = cases.iter().any(|(params, input, weights)| {
            let got = qconv2d::tests::run(kernel, Form::Native, params, input, weights);
            got != qconv2d::tests::apart(kernel, params, input, weights)
        });
        assert!(differs, "{}", kernel.name);
    }
}

/// Returns products with sums and biases beyond int32, with multipliers whose lower half counts, and with 512 products of -32768 by -128.
fn wide_cases() -> Vec<(qmatmul::Params, Vec<i32>, Vec<i32>)> {
    let of = |(bias, multiplier, shift, k, [l, r]): (i64, i32, i32, usize, [i32; 2])| {
        let channels = [Channel { multiplier, shift }];
        let (min, max, output) = (-32768, 32767, Element::I16);
        let layer = qmatmul::Layer64 { bias: &[bias], channels: &channels, zero_point: 0, min, max, output };
        let shape = matmul::Params { m: 1, n: 1, k, lhs_offset: 0, rhs_offset: 0 };
        (qmatmul::Params { shape, stages: layer.stages() }, vec![l; k], vec![r; k])
    };
    let table = [
        (1 << 33, 1 << 30, -20, 1, [1, 1]),
        (1000, 1 << 30, -3, 1, [1, 1]),
        (0, (1 << 30) + 0x8000, 1, 1, [30_000, 1]),
        (0, i32::MAX, 0, 1, [100, 1]),
        (0, 1 << 30, -16, 512, [-32768, -128]),
    ];
    table.map(of).to_vec()
}

#[test]
fn qmatmul_mutants_differ() {
    for Mutant { kernel, .. } in super::qmatmul::MUTANTS {
        // One quarter, in five columns: two roundings give 1.
        let layer: qmatmul::Layer<'_> = qmatmul::Layer {
            bias: &[0],
            channels: &[Channel { multiplier: 1 << 30, shift: -1 }],
            zero_point: 0,
            min: -128,
            max: 127,
            output: Element::I8,
        };
        let shape = matmul::Params { m: 1, n: 5, k: 1, lhs_offset: 0, rhs_offset: 0 };
        let mut cases = qmatmul::tests::cases(kernel);
        if kernel.contract.domain.lists == qmatmul::Lists::Layer {
            cases.push((qmatmul::Params { shape, stages: layer.stages() }, vec![1], vec![1; 5]));
            // Halves of even and odd numbers, and an odd zero point; and a product just below 3.5, which f32 rounds to 3.5.
            for (multiplier, shift, zero_point, lhs) in [(1 << 30, 0, 1, [5, 7]), (9_786_709 << 7, 1, 0, [3, 6])] {
                let channels = [Channel { multiplier, shift }];
                let layer = qmatmul::Layer { channels: &channels, zero_point, ..layer };
                let shape = matmul::Params { m: 2, n: 2, ..shape };
                cases.push((qmatmul::Params { shape, stages: layer.stages() }, lhs.to_vec(), vec![1; 2]));
            }
        }
        if kernel.contract.domain.lists == qmatmul::Lists::Layer64 {
            cases.extend(wide_cases());
        }
        let differs = cases.iter().any(|(params, lhs, rhs)| {
            let got = qmatmul::tests::run(kernel, Form::Native, params, lhs, rhs);
            got != qmatmul::tests::apart(kernel, params, lhs, rhs)
        });
        assert!(differs, "{}", kernel.name);
    }
}

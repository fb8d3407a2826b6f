//! Invariant 2 for the composed convolution: both forms agree on every small operand and on random operands of full width, and both equal the
//! convolution and then the requantization of the oracle.

use proptest::prelude::*;
use rug::Integer;
use tiebreak_oracle::conv2d::{self, Convolution};
use tiebreak_oracle::matmul::Product;
use tiebreak_oracle::qconv2d::{self, Quantized, Scheme};
use tiebreak_oracle::qmatmul::{self, Along, Stage};
use tiebreak_oracle::requantize::Definition;
use tiebreak_oracle::shape::ShapeError;

/// Creates a convolution of one pixel, with one filter of this many elements.
fn point(channels: usize, out_channels: usize, groups: usize) -> Convolution {
    Convolution {
        batches: 1,
        height: 1,
        width: 1,
        channels,
        kernel_h: 1,
        kernel_w: 1,
        out_channels,
        groups,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        top: 0,
        bottom: 0,
        left: 0,
        right: 0,
        input_zero_point: 0,
        weight_zero_point: 0,
        transposed: false,
        output_padding_h: 0,
        output_padding_w: 0,
    }
}

fn small(values: Vec<Option<Integer>>) -> Vec<Option<i32>> {
    values.into_iter().map(|v| v.map(|v| v.to_i32().expect("a fitted result is an int32"))).collect()
}

/// Checks that both forms agree, and equal the two separate operations.
fn agree(scheme: &Scheme, p: &Quantized, input: &[i32], weights: &[i32]) {
    let label = scheme.label();
    let expected = qconv2d::expected(scheme, p, input, weights).expect("a shape");
    assert_eq!(small(qconv2d::exact(scheme, p, input, weights).expect("a shape")), expected, "{label} {p:?}");
    if p.is_wide() {
        return assert_eq!(stages(scheme, p, input, weights), expected, "{label} {p:?}");
    }
    let sums = conv2d::expected(&qconv2d::product(scheme), &p.convolution, input, weights).expect("a shape");
    let known: Vec<i32> = sums.iter().map(|sum| sum.unwrap_or_default()).collect();
    let apart = scheme.expected(&p.output(), &known).expect("a channel");
    let apart: Vec<Option<i32>> = apart.into_iter().zip(&sums).map(|(v, sum)| sum.and(v)).collect();
    assert_eq!(apart, expected, "{label} {p:?}");
}

/// Applies the stages of the product to the sums of 64 bits.
fn stages(scheme: &Scheme, p: &Quantized, input: &[i32], weights: &[i32]) -> Vec<Option<i32>> {
    let sums = p.convolution.wide_sums(input, weights).expect("a shape");
    let (along, n) = (Along::Columns, p.convolution.out_channels);
    let product = Product { m: sums.len() / n, n, k: 1, lhs_offset: 0, rhs_offset: 0 };
    let stages = vec![
        Stage::Bias64 { along, values: p.bias64.clone() },
        Stage::Scale { along, channels: p.channels.clone(), zero_point: p.zero_point },
        Stage::Clamp { min: p.min, max: p.max },
    ];
    qmatmul::finished_wide(scheme, &qmatmul::Quantized { product, stages }, &sums).expect("a shape")
}

/// Replaces shifts by shifts that the definition accepts.
fn taken(scheme: &Scheme, p: &Quantized) -> Quantized {
    let shift = |s: i32| if scheme.definition.shifts().contains(&s) { s } else { -s };
    Quantized { channels: p.channels.iter().map(|(m, s)| (*m, shift(*s))).collect(), ..p.clone() }
}

#[test]
fn forms_agree_on_every_two_bit_operand() {
    let mut cases = 0;
    for elements in 0..4i32.pow(4) {
        let element = |at: u32| elements / 4i32.pow(at) % 4 - 2;
        let (input, weights) = ([element(0), element(1)], [element(2), element(3)]);
        for bias in -2..=2 {
            for (multiplier, shift) in [(1 << 30, 0), (1 << 30, -1), (3 << 29, -2), (-(1 << 30), 1)] {
                let p = Quantized {
                    convolution: Convolution { input_zero_point: -1, ..point(2, 1, 1) },
                    channels: vec![(multiplier, shift)],
                    bias: vec![bias],
                    bias64: Vec::new(),
                    zero_point: 1,
                    min: -2,
                    max: 3,
                };
                for scheme in Scheme::every() {
                    agree(&scheme, &taken(&scheme, &p), &input, &weights);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 256 * 5 * 4 * Scheme::every().count());
}

/// Returns every scheme for sums of 64 bits.
fn schemes_of_wide() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|scheme| matches!(scheme.definition, Definition::Fpm(_)))
}

/// Every 2-bit sum with a bias of 64 bits, multipliers around the ends of 16 bits, and shifts of every kind.
#[test]
fn forms_agree_on_small_sums_with_a_bias_of_64_bits() {
    let mut cases = 0;
    for bias in [0, (1 << 31) - 2, -(1 << 31) + 3, (1 << 47) - 2, -(1 << 47) + 2, i64::MAX, i64::MIN] {
        for multiplier in [0x7FFF, 3 << 29, 0x7FFE_8000, 0x7FFF_0000, i32::MAX, i32::MIN] {
            for shift in [-31, -16, -1, 0, 7, 15, 31] {
                let p = Quantized {
                    convolution: point(2, 4, 2),
                    channels: vec![(multiplier, shift)],
                    bias: vec![0],
                    bias64: vec![bias, -1, 3 - bias / 2, 1],
                    zero_point: 0,
                    min: -32768,
                    max: 32767,
                };
                for scheme in schemes_of_wide() {
                    agree(&scheme, &p, &[2, -2], &[-1, 1, 1, -2]);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 7 * 6 * 7 * schemes_of_wide().count());
}

/// Sources: tensorflow/tensorflow lite/kernels/internal/common.cc; ARM-software/CMSIS-NN arm_nn_requantize_s64.
#[test]
fn sums_of_64_bits_are_those_of_their_sources() {
    let of = |name: &str, bias: i64, channel: (i32, i32), input: i32| {
        let p = Quantized {
            convolution: point(1, 1, 1),
            channels: vec![channel],
            bias: vec![0],
            bias64: vec![bias],
            zero_point: 0,
            min: -32768,
            max: 32767,
        };
        let scheme = Scheme::parse(name).expect("registered");
        agree(&scheme, &p, &[input], &[1]);
        qconv2d::expected(&scheme, &p, &[input], &[1]).expect("a shape")[0]
    };
    let (tflite, cmsis) = ("tflite-int16-multiplier", "cmsis-nn-int16-multiplier");
    for (name, bias, channel, input, result) in [
        (tflite, 1 << 33, (1 << 30, -20), 0, Some(4096)),
        (tflite, 100, (i32::MAX, 0), 0, Some(100)),
        (tflite, 1 << 24, (1 << 30, 7), 0, Some(32767)),
        (cmsis, 1 << 24, (1 << 30, 7), 0, Some(-32768)),
        (tflite, (1 << 47) - 1, (1 << 30, -31), 0, Some(32767)),
        (tflite, (1 << 47) - 1, (1 << 30, -31), 1, None),
        (cmsis, -(1 << 47), (1 << 30, -31), 0, Some(-32768)),
        (cmsis, -(1 << 47), (1 << 30, -31), -1, None),
    ] {
        assert_eq!(of(name, bias, channel, input), result, "{name} {bias} {channel:?} {input}");
    }
}

/// Output channel `o` of a depthwise convolution reads input channel `o / multiplier`, with the parameters of `o`.
#[test]
fn a_depthwise_multiplier_repeats_input_channels() {
    let scheme = Scheme::parse("ties-up").expect("registered");
    let p = Quantized {
        convolution: point(2, 4, 2),
        channels: vec![(1 << 30, 1), (1 << 30, 0), (1 << 30, 1), (1 << 30, -1)],
        bias: vec![0, 0, 5, 0],
        bias64: Vec::new(),
        zero_point: -1,
        min: -128,
        max: 127,
    };
    let results = qconv2d::expected(&scheme, &p, &[3, 7], &[1, 1, 1, 1]).expect("a shape");
    // 3, 3/2, 7 + 5 and 7/4, each minus 1.
    assert_eq!(results, [Some(2), Some(1), Some(11), Some(1)]);
}

/// ReLU6 is a pair of bounds: results below the zero point become the zero point, and results above 6 the stored 6.
#[test]
fn an_activation_is_a_pair_of_bounds() {
    let scheme = Scheme::parse("gemmlowp-double").expect("registered");
    let relu6 = Quantized {
        convolution: point(1, 1, 1),
        channels: vec![(1 << 30, 1)],
        bias: vec![0],
        bias64: Vec::new(),
        zero_point: -128,
        min: -128,
        max: -128 + 60,
    };
    for (input, result) in [(-5, -128), (0, -128), (17, -111), (59, -69), (60, -68), (61, -68), (127, -68)] {
        assert_eq!(qconv2d::expected(&scheme, &relu6, &[input], &[1]), Ok(vec![Some(result)]), "{input}");
    }
}

#[test]
fn parameters_are_one_or_one_for_each_output_channel() {
    let scheme = Scheme::parse("ties-up").expect("registered");
    let p = Quantized {
        convolution: point(1, 3, 1),
        channels: vec![(1, 0); 3],
        bias: vec![0],
        bias64: Vec::new(),
        zero_point: 0,
        min: -128,
        max: 127,
    };
    let argument = |p: &Quantized| p.check(scheme.definition).map_err(|ShapeError { argument, .. }| argument);
    assert_eq!(argument(&p), Ok([1, 3, 3]));
    assert_eq!(argument(&Quantized { channels: vec![(1, 0); 2], ..p.clone() }), Err("channels"));
    assert_eq!(argument(&Quantized { channels: Vec::new(), ..p.clone() }), Err("channels"));
    assert_eq!(argument(&Quantized { bias: vec![0; 4], ..p.clone() }), Err("bias"));
    assert_eq!(argument(&Quantized { bias64: vec![1; 2], ..p.clone() }), Err("bias64"));
    assert_eq!(argument(&Quantized { bias64: vec![1], bias: vec![1], ..p.clone() }), Err("bias"));
    let legacy = Scheme::parse("legacy").expect("registered");
    let wide = Quantized { bias64: vec![1; 3], channels: vec![(1, 0)], ..p.clone() };
    assert_eq!((argument(&wide), wide.check(legacy.definition).is_err()), (Ok([1, 3, 3]), true));
    assert_eq!(argument(&Quantized { min: 1, max: 0, ..p.clone() }), Err("min"));
    assert_eq!(argument(&Quantized { channels: vec![(1, 32)], ..p }), Err("shift"));
}

fn word() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -300..=300i32, 2 => -200_000..=200_000i32, 1 => Just(i32::MIN), 1 => Just(i32::MAX), 2 => any::<i32>()]
}

prop_compose! {
    fn convolution()(
        (batches, height, width) in (1usize..=2, 1usize..=4, 1usize..=4),
        (groups, channels, out_channels) in (1usize..=3, 1usize..=3, 1usize..=3),
        (kernel_h, kernel_w) in (1usize..=3, 1usize..=3),
        (stride_h, stride_w, dilation_h, dilation_w) in (1usize..=2, 1usize..=2, 1usize..=2, 1usize..=2),
        [top, bottom, left, right] in prop::array::uniform4(0usize..=2),
        (input_zero_point, weight_zero_point) in (word(), word()),
        transposed in any::<bool>(),
    ) -> Convolution {
        let [output_padding_h, output_padding_w] = [stride_h, stride_w].map(|stride| usize::from(transposed) * (stride - 1));
        Convolution {
            batches, height, width, channels: channels * groups, kernel_h, kernel_w, out_channels: out_channels * groups, groups,
            stride_h, stride_w, dilation_h, dilation_w, top, bottom, left, right, input_zero_point, weight_zero_point,
            transposed, output_padding_h, output_padding_w,
        }
    }
}

prop_compose! {
    fn quantized()(
        convolution in convolution().prop_filter("a shape", |p| p.check().is_ok()),
        (one_channel, one_bias) in (any::<bool>(), any::<bool>()),
        channels in prop::collection::vec((word(), -31..=31i32), 9),
        bias in prop::collection::vec(word(), 9),
        zero_point in word(),
        (a, b) in prop_oneof![Just((-128, 127)), Just((0, 255)), (word(), word())],
    ) -> Quantized {
        let some = |one: bool| if one { 1 } else { convolution.out_channels };
        Quantized {
            channels: channels[..some(one_channel)].to_vec(),
            bias: bias[..some(one_bias)].to_vec(),
            bias64: Vec::new(),
            convolution, zero_point, min: a.min(b), max: a.max(b),
        }
    }
}

fn posed() -> impl Strategy<Value = (Quantized, Vec<i32>, Vec<i32>)> {
    quantized().prop_flat_map(|p| {
        let [input, weights, _] = p.convolution.check().expect("a shape");
        let bytes = || prop_oneof![6 => -128..=255i32, 1 => word()];
        (Just(p), prop::collection::vec(bytes(), input), prop::collection::vec(bytes(), weights))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn forms_agree_with_each_other_and_with_the_operations_apart((p, input, weights) in posed()) {
        for scheme in Scheme::every() {
            agree(&scheme, &taken(&scheme, &p), &input, &weights);
        }
    }

    #[test]
    fn forms_agree_on_any_bias_of_64_bits(
        (p, input, weights) in posed(),
        one in any::<bool>(),
        bias in prop::collection::vec(prop_oneof![4 => -(1i64 << 47)..=1i64 << 47, 1 => any::<i64>()], 9),
    ) {
        let count = if one { 1 } else { p.convolution.out_channels };
        let p = Quantized { bias: vec![0], bias64: bias[..count].to_vec(), ..p };
        for scheme in schemes_of_wide() {
            agree(&scheme, &p, &input, &weights);
        }
    }

    /// A result without rounding, wrap or clamp is the exact value.
    #[test]
    fn integers_are_the_exact_value((p, input, weights) in posed()) {
        let scheme = Scheme::parse("ties-up").expect("registered");
        let wide = Quantized { channels: vec![(1 << 30, 1)], min: i32::MIN, max: i32::MAX, ..p };
        let exact = qconv2d::rational(&scheme, &wide, &input, &weights).expect("a shape");
        let results = qconv2d::expected(&scheme, &wide, &input, &weights).expect("a shape");
        for (exact, result) in exact.into_iter().zip(results).filter(|(_, result)| result.is_some()) {
            prop_assert_eq!(exact.into_numer_denom().0.to_i32(), result);
        }
    }
}

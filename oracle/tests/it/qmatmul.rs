//! Invariant 2 for the product with output stages: both forms agree on every small operand under every list of two stages, and on random operands of
//! full width; and a list of the usual stages equals the requantization.

use proptest::prelude::*;
use rug::Integer;
use tiebreak_oracle::matmul::Product;
use tiebreak_oracle::qmatmul::{self, Along, Quantized, Scheme, Stage, Tanh};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::requantize;
use tiebreak_oracle::shape::ShapeError;

const PLAIN: Product = Product { m: 1, n: 1, k: 1, lhs_offset: 0, rhs_offset: 0 };
const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

fn agree(scheme: &Scheme, p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Vec<Option<i32>> {
    let expected = qmatmul::expected(scheme, p, lhs, rhs).expect("a shape");
    let exact = qmatmul::exact(scheme, p, lhs, rhs).expect("a shape");
    let exact: Vec<_> =
        exact.into_iter().map(|v| v.map(|v| v.to_i32().expect("a fitted result is an int32"))).collect();
    assert_eq!(exact, expected, "{} {p:?}", scheme.label());
    let sums = p.product.sums(lhs, rhs).expect("a shape");
    let walked = |(at, sum): (usize, &Integer)| {
        let steps = qmatmul::walk(scheme, p, at, sum);
        assert_eq!(steps.len(), p.stages.len() + 1);
        steps.last().cloned().flatten().and_then(|v| v.to_i32())
    };
    assert_eq!(sums.iter().enumerate().map(walked).collect::<Vec<_>>(), expected, "{} {p:?}", scheme.label());
    expected
}

fn few_stages() -> Vec<Stage> {
    vec![
        Stage::Bias { along: Along::Columns, values: vec![-3] },
        Stage::Down { offset: 1, multiplier: 3, shift: -2 },
        Stage::Scale { along: Along::Rows, channels: vec![(3 << 29, -1)], zero_point: 1 },
        Stage::Scale { along: Along::Columns, channels: vec![(1 << 30, 2)], zero_point: 0 },
        Stage::Clamp { min: -4, max: 5 },
        Stage::Tanh(Tanh { zero_point: 1, amplitude: 4 }),
        Stage::Cast(U8),
    ]
}

#[test]
fn forms_agree_on_small_operands_under_every_list_of_two_stages() {
    let mut cases = 0;
    for first in few_stages().into_iter().filter(|stage| !stage.is_cast()) {
        for second in few_stages() {
            let p = Quantized {
                product: Product { n: 8, k: 2, lhs_offset: 1, rhs_offset: -1, ..PLAIN },
                stages: vec![first.clone(), second],
            };
            let rhs: Vec<i32> = (0..16).map(|at| [at % 8 - 4, 3][at as usize / 8]).collect();
            for lhs in -4..4 {
                for scheme in Scheme::every() {
                    agree(&scheme, &p, &[lhs, 2 - lhs], &rhs);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 6 * 7 * 8 * Scheme::every().count());
}

/// Every value around and beyond both ends, for amplitudes of every kind.
#[test]
fn forms_of_tanh_agree_and_follow_the_real_function() {
    let scheme = Scheme::parse("gemmlowp-double:saturate").expect("registered");
    for amplitude in [1, 2, 3, 4, 5, 7, 8, 100, 127, 128, 1 << 10, (1 << 10) + 1] {
        let stages = vec![Stage::Tanh(Tanh { zero_point: -3, amplitude })];
        let p = Quantized { product: Product { n: 20 * amplitude as usize, ..PLAIN }, stages };
        let values: Vec<i32> = (-10 * amplitude..10 * amplitude).map(|v| v - 3).collect();
        let results = agree(&scheme, &p, &[1], &values);
        for (v, result) in values.iter().zip(results) {
            let real = f64::from(amplitude) * (f64::from(v + 3) / f64::from(amplitude)).tanh();
            let result = f64::from(result.expect("saturates") + 3);
            // The last shift floors, and the scaled input is rounded to half a step of the amplitude.
            assert!((result - real).abs() < 2.5, "{amplitude}: {v} gives {result}, not {real}");
        }
    }
}

/// Eight amplitudes of a power of two, minus 1: the input rounds to 8, which does not fit in int32 with three integer bits.
#[test]
fn the_largest_input_of_tanh_leaves_int32() {
    for power in 1..=20 {
        let amplitude = 1 << power;
        let p = Quantized { product: PLAIN, stages: vec![Stage::Tanh(Tanh { zero_point: 0, amplitude })] };
        let of = |policy: &str, v: i32| {
            let scheme = Scheme::parse(&format!("gemmlowp-double{policy}")).expect("registered");
            agree(&scheme, &p, &[1], &[v])[0]
        };
        let largest = 8 * amplitude - 1;
        assert_eq!(of("", largest), None);
        assert_eq!(of(":wrap", largest), Some(-amplitude));
        assert_eq!(of(":saturate", largest), Some(amplitude - 1));
        assert_eq!(of(":wrap", largest + 1), Some(amplitude));
        assert!(of("", largest - 1).is_some_and(|v| v >= amplitude - 1), "{power}");
    }
}

/// Every 4-bit sum with a bias, multipliers around the ends of 16 bits, and shifts of every kind.
#[test]
fn forms_agree_on_small_sums_with_a_bias_of_64_bits() {
    let multipliers = [0x7FFF, 1 << 15, 3 << 29, 0x7FFE_8000, 0x7FFE_FFFF, 0x7FFF_0000, i32::MAX, i32::MIN];
    let shifts = [-31, -16, -1, 0, 1, 7, 14, 15, 31];
    let mut cases = 0;
    for bias in [0, (1 << 31) - 2, -(1 << 31) + 7, 1 << 40, (1 << 47) - 2, -(1 << 47) + 2, i64::MAX] {
        for (multiplier, shift) in multipliers.iter().flat_map(|m| shifts.map(move |s| (*m, s))) {
            let p = wide(bias, (multiplier, shift));
            let sums: Vec<i32> = (-8..8).collect();
            let p = Quantized { product: Product { n: 16, ..PLAIN }, ..p };
            for scheme in Scheme::every() {
                agree(&scheme, &p, &[1], &sums);
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 7 * 8 * 9 * Scheme::every().count());
}

fn wide(bias: i64, channel: (i32, i32)) -> Quantized {
    let along = Along::Columns;
    let stages = vec![
        Stage::Bias64 { along, values: vec![bias] },
        Stage::Scale { along, channels: vec![channel], zero_point: 0 },
        Stage::Clamp { min: -32768, max: 32767 },
        Stage::Cast(I16),
    ];
    Quantized { product: PLAIN, stages }
}

/// Sources: tensorflow/tensorflow lite/kernels/internal/common.cc; ARM-software/CMSIS-NN arm_nn_requantize_s64; both require 48 bits.
#[test]
fn sums_of_64_bits_are_those_of_their_sources() {
    let of = |name: &str, bias: i64, channel: (i32, i32), lhs: i32| {
        agree(&Scheme::parse(name).expect("registered"), &wide(bias, channel), &[lhs], &[1])[0]
    };
    let (tflite, cmsis) = ("tflite-int16-multiplier", "cmsis-nn-int16-multiplier");
    // A bias of 34 bits, the saturated multiplier, and a product that leaves int32 before its last place.
    for (name, bias, channel, result) in [
        (tflite, 1 << 33, (1 << 30, -20), Some(4096)),
        (tflite, 100, (i32::MAX, 0), Some(100)),
        (tflite, 1 << 24, (1 << 30, 7), Some(32767)),
        (cmsis, 1 << 24, (1 << 30, 7), Some(-32768)),
        (tflite, (1 << 47) - 1, (1 << 30, -31), Some(32767)),
        (tflite, 1 << 47, (1 << 30, -31), None),
        (cmsis, -(1 << 47) - 1, (1 << 30, -31), None),
    ] {
        assert_eq!(of(name, bias, channel, 0), result, "{name} {bias} {channel:?}");
    }
    assert_eq!(
        (of(tflite, (1 << 47) - 1, (1 << 30, -31), 1), of(cmsis, -(1 << 47), (1 << 30, -31), 0)),
        (None, Some(-32768))
    );
}

/// Every machine float of a sum and a scale equals the definition: the machine's f32 rounds to nearest, ties to even.
#[test]
fn the_scheme_in_f32_is_that_of_the_machine() {
    let scheme = Scheme::parse("xnnpack-fp32:wrap").expect("registered");
    let mut word = 1u32;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (word ^ (word >> 15)) as i32
    };
    let mut ties = 0;
    for at in 0..40_000 {
        let sum = next() >> (at % 31);
        let multiplier =
            (1 << 30 | next() & 0x3FFF_FF80) >> if at % 2 == 0 { 0 } else { 20 } << if at % 2 == 0 { 0 } else { 20 };
        let shift = -(at % 31);
        let channel = (multiplier, shift);
        let p = Quantized {
            stages: vec![Stage::Scale { along: Along::Rows, channels: vec![channel], zero_point: 0 }],
            product: PLAIN,
        };
        let scaled = sum as f32 * (multiplier as f32 * f32::exp2((shift - 31) as f32));
        ties += usize::from((scaled - scaled.trunc()).abs() == 0.5);
        assert_eq!(
            agree(&scheme, &p, &[sum], &[1]),
            [Some(scaled.round_ties_even().clamp(-1_073_741_824.0, 1_073_741_824.0) as i32)]
        );
    }
    assert!(ties > 100, "{ties}");
}

#[test]
fn parameters_are_one_or_one_for_each_row_or_column() {
    let rows = |n| Stage::Bias { along: Along::Rows, values: vec![1; n] };
    let columns = |n| Stage::Scale { along: Along::Columns, channels: vec![(1 << 30, 0); n], zero_point: 0 };
    let rule = |stages: Vec<Stage>| {
        let p = Quantized { product: Product { m: 2, n: 3, ..PLAIN }, stages };
        p.check().map(|_| ()).map_err(|ShapeError { argument, .. }| argument)
    };
    for good in [vec![], vec![rows(1), columns(1)], vec![rows(2), columns(3), Stage::Cast(I8)]] {
        assert_eq!(rule(good), Ok(()));
    }
    for wrong in [
        vec![rows(3)],
        vec![columns(2)],
        vec![columns(0)],
        vec![Stage::Cast(U8), rows(1)],
        vec![Stage::Clamp { min: 1, max: 0 }],
        vec![Stage::Down { offset: 0, multiplier: 1, shift: 1 }],
        vec![Stage::Scale { along: Along::Rows, channels: vec![(1, 32)], zero_point: 0 }],
        vec![Stage::Tanh(Tanh { zero_point: 0, amplitude: 0 })],
        vec![Stage::Tanh(Tanh { zero_point: 1 << 25, amplitude: 1 })],
        vec![rows(1); 17],
        vec![rows(1), wide(0, (1, 0)).stages.remove(0), columns(1)],
        vec![wide(0, (1, 0)).stages.remove(0), rows(1)],
        vec![wide(0, (1, 0)).stages.remove(0)],
    ] {
        assert_eq!(rule(wrong.clone()), Err("stages"), "{wrong:?}");
    }
}

fn word() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -300..=300i32, 2 => -200_000..=200_000i32, 1 => Just(i32::MIN), 1 => Just(i32::MAX), 2 => any::<i32>()]
}

fn along() -> impl Strategy<Value = Along> {
    prop_oneof![Just(Along::Rows), Just(Along::Columns)]
}

/// Generates a stage for a result of `m` rows and `n` columns.
fn stage([m, n]: [usize; 2]) -> impl Strategy<Value = Stage> {
    let count = move |along: Along, one: bool| match along {
        _ if one => 1,
        Along::Rows => m,
        Along::Columns => n,
    };
    let words = prop::collection::vec(word(), 4);
    let channels = prop::collection::vec((word(), -31..=31i32), 4);
    prop_oneof![
        (along(), any::<bool>(), words)
            .prop_map(move |(along, one, values)| Stage::Bias { along, values: values[..count(along, one)].to_vec() }),
        (word(), word(), -31..=0i32).prop_map(|(offset, multiplier, shift)| Stage::Down { offset, multiplier, shift }),
        (along(), any::<bool>(), channels, word()).prop_map(move |(along, one, channels, zero_point)| Stage::Scale {
            along,
            channels: channels[..count(along, one)].to_vec(),
            zero_point
        }),
        (word(), word()).prop_map(|(a, b)| Stage::Clamp { min: a.min(b), max: a.max(b) }),
        (-(1 << 24)..=1 << 24i32, 1..=1 << 20i32)
            .prop_map(|(zero_point, amplitude)| Stage::Tanh(Tanh { zero_point, amplitude })),
    ]
}

fn posed() -> impl Strategy<Value = (Quantized, Vec<i32>, Vec<i32>)> {
    let shape = (1usize..=4, 1usize..=4, 1usize..=5, word(), word());
    shape.prop_flat_map(|(m, n, k, lhs_offset, rhs_offset)| {
        let bytes = || prop_oneof![6 => -128..=255i32, 1 => word()];
        let cast = prop_oneof![Just(None), Just(Some(U8)), Just(Some(I8)), Just(Some(I16))];
        let values = prop::collection::vec(prop_oneof![4 => -(1i64 << 47)..=1i64 << 47, 1 => any::<i64>()], n);
        let channel = (word(), -31..=31i32, word());
        let begun = prop_oneof![3 => Just(None), 1 => (values, channel).prop_map(Some)];
        let lists = (begun, prop::collection::vec(stage([m, n]), 0..=4), cast);
        let tensors = (prop::collection::vec(bytes(), m * k), prop::collection::vec(bytes(), k * n));
        (lists, tensors).prop_map(move |((begun, mut stages, cast), (lhs, rhs))| {
            if let Some((values, (multiplier, shift, zero_point))) = begun {
                let along = Along::Columns;
                let scale = Stage::Scale { along, channels: vec![(multiplier, shift)], zero_point };
                stages.splice(0..0, [Stage::Bias64 { along, values }, scale]);
            }
            stages.extend(cast.map(Stage::Cast));
            (Quantized { product: Product { m, n, k, lhs_offset, rhs_offset }, stages }, lhs, rhs)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn forms_agree_on_any_list((p, lhs, rhs) in posed()) {
        for scheme in Scheme::every() {
            agree(&scheme, &p, &lhs, &rhs);
        }
    }

    /// Bias, scale, clamp and cast along columns equal the requantization of the sums.
    #[test]
    fn the_usual_list_is_the_requantization(
        (p, lhs, rhs) in posed(),
        channels in prop::collection::vec((word(), -31..=31i32), 4),
        bias in prop::collection::vec(word(), 4),
        (zero_point, a, b) in (-128..=127i32, -128..=127i32, -128..=127i32),
    ) {
        let (channels, bias) = (channels[..p.product.n].to_vec(), bias[..p.product.n].to_vec());
        let (min, max) = (a.min(b), a.max(b));
        let stages = vec![
            Stage::Bias { along: Along::Columns, values: bias.clone() },
            Stage::Scale { along: Along::Columns, channels: channels.clone(), zero_point },
            Stage::Clamp { min, max },
            Stage::Cast(I8),
        ];
        let p = Quantized { stages, ..p };
        let output = requantize::Parameters { channels, bias, zero_point, min, max };
        for scheme in Scheme::every().filter(|scheme| scheme.definition.shifts().contains(&1)) {
            let sums = qmatmul::product(&scheme).expected(&p.product, &lhs, &rhs).expect("a shape");
            let known: Vec<i32> = sums.iter().map(|sum| sum.unwrap_or_default()).collect();
            let apart = scheme.expected(&output, &known).expect("a channel");
            let apart: Vec<Option<i32>> = apart.into_iter().zip(&sums).map(|(v, sum)| sum.and(v)).collect();
            prop_assert_eq!(agree(&scheme, &p, &lhs, &rhs), apart);
        }
    }
}

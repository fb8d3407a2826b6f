//! Invariant 2 for concatenation: rationals placed by coordinates, and machine integers fetched by runs, give the same results.

use proptest::prelude::*;
use rug::{Integer, Rational};
use tiebreak_oracle::concat::{Concatenation, Input, Scheme};
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

fn operand(scale: f32, zero_point: i32) -> Operand {
    Operand { scale: scale.to_bits(), zero_point }
}

/// Creates a concatenation of inputs of these sizes along an axis.
fn along(storage: Storage, shape: &[usize], axis: usize, inputs: &[(usize, Operand)], out: Operand) -> Concatenation {
    let inputs: Vec<Input> = inputs.iter().map(|(size, operand)| Input { size: *size, operand: *operand }).collect();
    let mut shape = shape.to_vec();
    shape[axis] = inputs.iter().map(|input| input.size).sum();
    Concatenation { shape, axis, inputs, out, storage }
}

fn once() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|scheme| scheme.overflow == Overflow::OutOfDomain)
}

/// Computes both forms of a scheme, and checks that they agree.
fn agree(scheme: &Scheme, p: &Concatenation, values: &[i32]) -> Vec<i32> {
    let exact = scheme.exact(p, values).expect("in the domain");
    let expected = scheme.expected(p, values).expect("in the domain");
    for (at, (exact, expected)) in exact.iter().zip(&expected).enumerate() {
        assert_eq!(exact, expected, "{} at {at} of {values:?}, {p:?}", scheme.label());
    }
    expected
}

/// Every 8-bit value of each input, for every scheme.
#[test]
fn forms_agree_on_all_values_of_8_bits() {
    let scales = [0.5f32, 0.3, 1.0, 0.0235, 0.31, 3.0, 0.007, 0.05, 64.0];
    for (i, own) in scales.into_iter().enumerate() {
        for (j, out) in scales.into_iter().enumerate() {
            let storage = if (i + j) % 2 == 0 { I8 } else { U8 };
            let (lo, hi) = (storage.min() as i32, storage.max() as i32);
            let point = |k: usize| [lo, hi, 0.max(lo + 1), 17, hi - 4][k % 5];
            let inputs =
                [(256, operand(own, point(i))), (256, operand(out, point(j))), (256, operand(own, point(j + 2)))];
            let p = along(storage, &[0], 0, &inputs, operand(out, point(j)));
            let values: Vec<i32> = (lo..=hi).chain(lo..=hi).chain(lo..=hi).collect();
            for scheme in once().filter(|scheme| !scheme.definition.is_copy()) {
                let results = agree(&scheme, &p, &values);
                // An input with the output's scale and zero point is unchanged by each scheme.
                assert_eq!(results[256..512], values[256..512], "{}", scheme.label());
            }
        }
    }
}

/// Each value is rounded by the rule, computed only with rationals.
#[test]
fn the_ideal_schemes_round_the_reals() {
    let p = along(I8, &[0], 0, &[(256, operand(0.1, 3)), (256, operand(0.35, -7))], operand(0.2, -5));
    let values: Vec<i32> = (-128..=127).chain(-128..=127).collect();
    for rule in RoundingRule::ALL {
        let results = Scheme::ideal(rule).expected(&p, &values).expect("in the domain");
        for (at, (value, result)) in values.iter().zip(results).enumerate() {
            let Input { operand, .. } = p.inputs[at / 256];
            let real = operand.exact_scale() * Integer::from(value - operand.zero_point) / p.out.exact_scale();
            let rounded: Integer = rule.round(&real) - 5;
            assert_eq!(rounded.clamp(&-128, &127), result, "{} {value}", rule.name());
        }
        let reals = p.rationals(&values).expect("in the domain");
        assert_eq!(reals[0], p.inputs[0].operand.exact_scale() * Rational::from(-131) / p.out.exact_scale() - 5u32);
    }
}

/// Ties of both signs, and the zero point before or after the rounding.
#[test]
fn ties_go_where_each_scheme_takes_them() {
    let p = along(I8, &[0], 0, &[(2, operand(0.5, 0)), (1, operand(0.5, 0))], operand(1.0, 1));
    for (name, results) in [
        ("nearest-even", [1, 1, 3]),
        ("nearest-away", [2, 0, 3]),
        ("q31-nearest-up", [2, 1, 3]),
        ("q31-nearest-away", [2, 0, 3]),
        ("zero-point-first-nearest-even", [2, 0, 2]),
        ("zero-point-first-nearest-away", [2, 1, 3]),
        ("tflite", [2, 0, 3]),
        ("tflite-zero-point-first", [2, 1, 3]),
        ("onnx", [1, 1, 3]),
        ("xnnpack", [2, 1, 3]),
    ] {
        assert_eq!(agree(&Scheme::parse(name).expect("registered"), &p, &[1, -1, 3]), results, "{name}");
    }
}

/// Every axis of a small tensor, with results written out.
#[test]
fn elements_go_along_each_axis() {
    let plain = operand(1.0, 0);
    let of = |shape: &[usize], axis, sizes: [usize; 2], values: &[i32]| {
        let p = along(I8, shape, axis, &[(sizes[0], plain), (sizes[1], plain)], plain);
        agree(&Scheme::parse("copy").expect("registered"), &p, values)
    };
    assert_eq!(of(&[0], 0, [2, 1], &[1, 2, 3]), [1, 2, 3]);
    assert_eq!(of(&[0, 2], 0, [1, 2], &[1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(of(&[2, 0], 1, [1, 2], &[1, 2, 3, 4, 5, 6]), [1, 3, 4, 2, 5, 6]);
    assert_eq!(of(&[2, 0, 2], 1, [1, 2], &(1..=12).collect::<Vec<_>>()), [1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12]);
    assert_eq!(of(&[1, 2, 1, 0], 3, [1, 1], &[1, 2, 3, 4]), [1, 3, 2, 4]);
}

/// Parameters outside the domain are rejected by name.
#[test]
fn other_parameters_are_refused() {
    let plain = operand(1.0, 0);
    let good = along(I8, &[2, 0], 1, &[(1, plain), (2, plain)], plain);
    assert_eq!(good.check(), Ok(6));
    let refused = |p: Concatenation, argument: &str| {
        assert_eq!(p.check().map_err(|error| error.argument), Err(argument), "{p:?}");
    };
    refused(Concatenation { axis: 2, ..good.clone() }, "axis");
    refused(Concatenation { shape: vec![2, 4], ..good.clone() }, "shape");
    refused(Concatenation { shape: vec![0, 3], ..good.clone() }, "shape");
    refused(Concatenation { shape: vec![1, 1, 1, 1, 3], axis: 4, ..good.clone() }, "shape");
    refused(Concatenation { inputs: good.inputs[..1].to_vec(), ..good.clone() }, "inputs");
    refused(Concatenation { out: operand(70_000.0, 0), ..good.clone() }, "inputs");
    refused(Concatenation { out: operand(1.0, 200), ..good.clone() }, "out");
    refused(Concatenation { storage: Storage { bits: 7, signed: true }, ..good.clone() }, "storage");
    assert_eq!(Concatenation { out: operand(65_536.0, 0), ..good.clone() }.check(), Ok(6));
    let copy = Scheme::parse("copy").expect("registered");
    let other = Concatenation { out: operand(1.0, 1), ..good.clone() };
    assert_eq!(copy.expected(&other, &[0; 6]).map_err(|error| error.argument), Err("out"));
    assert_eq!(copy.expected(&good, &[0, 0, 0, 128, 0, 0]).map_err(|error| error.argument), Err("inputs"));
    assert_eq!(copy.exact(&good, &[0; 5]).map_err(|error| error.argument), Err("inputs"));
}

fn operands(storage: Storage) -> impl Strategy<Value = Operand> {
    let significand = prop_oneof![3 => 0u32..1 << 23, 1 => Just(0), 1 => Just((1 << 23) - 1)];
    let scale = (significand, 119u32..=134).prop_map(|(n, e)| e << 23 | n);
    (scale, storage.min() as i32..=storage.max() as i32).prop_map(|(scale, zero_point)| Operand { scale, zero_point })
}

fn batch() -> impl Strategy<Value = (Concatenation, Vec<i32>)> {
    prop_oneof![Just(I8), Just(U8), Just(I16)].prop_flat_map(|storage| {
        let inputs = prop::collection::vec((1usize..4, operands(storage)), 2..=4);
        let shape = (1usize..=4).prop_flat_map(|rank| (prop::collection::vec(1usize..4, rank), 0..rank));
        (inputs, shape, operands(storage)).prop_flat_map(move |(inputs, (shape, axis), out)| {
            let p = along(storage, &shape, axis, &inputs, out);
            let elements = p.check().expect("a small shape");
            let values = prop::collection::vec(storage.min() as i32..=storage.max() as i32, elements);
            values.prop_map(move |values| (p.clone(), values))
        })
    })
}

proptest! {
    #[test]
    fn forms_agree_on_random_batches((p, values) in batch()) {
        for scheme in once() {
            let p = match scheme.definition.is_copy() {
                true => Concatenation { inputs: p.inputs.iter().map(|i| Input { operand: p.out, ..*i }).collect(), ..p.clone() },
                false => p.clone(),
            };
            agree(&scheme, &p, &values);
            let trace = scheme.trace(&p, &values, 0).expect("in the domain").expect("a result");
            let last = trace.steps.last().map_or(Rational::from(trace.stored), |(_, _, value)| value.clone());
            prop_assert_eq!(last, Rational::from(agree(&scheme, &p, &values)[0]));
        }
    }
}

//! Tests of additions against the exact sum in doubles, at known values, and at every position.

use super::*;
use crate::Form;
use crate::elementwise::tests::{self, every_kernel_computes, moved, params, run};
use crate::fpm::tflite::quantize_multiplier;
use crate::quantized::Scale;

/// All pairs of 8-bit values: each result is the sum in doubles, rounded; if the sum is near a half, the result is within 1 of the sum.
#[test]
fn every_kernel_adds() {
    let scales =
        [[(0.1, 3), (0.1, 3), (0.2, -5)], [(0.0235, -1), (0.3, 17), (0.31, 4)], [(0.05, 127), (0.04, -128), (0.03, 0)]];
    // 16-bit operands are shifted left by 15, so a sum of 2^16 has an error of about 2^-14.
    let near = |element| if element == Element::I16 { 0.1 } else { 1e-3 };
    // TVM rounds each operand to a step of the output, and then adds.
    let wider = |name: &str| if name.starts_with("tvm-qnn-add") { 1.5 } else { 0.5 };
    every_kernel_computes(kernels(), scales, moved, |a, b| a + b, near, wider);
}

/// The same pair gives the same result at every index of every length.
#[test]
fn every_place_and_length_gives_the_same() {
    tests::every_place_and_length_gives_the_same(kernels(), |_, zero_point| zero_point);
}

/// Checks the rounding of 1.5 and -1.5. Both operands have one scale, half of the output's scale.
#[test]
fn ties_go_where_each_kernel_takes_them() {
    let table = [
        ("tflite-add-i8", [2, -2]),
        ("tflite-add-single-i8", [2, -1]),
        ("tosa-add-double-i8", [2, -2]),
        ("tosa-add-single-i8", [2, -1]),
        ("arm-elementwise-add-s8", [2, -2]),
        ("xnnpack-qs8-vadd", [2, -1]),
        ("xnnpack-qs8-vadd-neon", [2, -1]),
        ("onnx-qlinearadd-fixed-i8", [2, -2]),
        ("onnx-qlinearadd-i8", [2, -2]),
        ("pytorch-qadd-i8", [2, -2]),
    ];
    for (name, expected) in table {
        let kernel = find(name).expect(name);
        let p = params(Element::I8, [(0.5, 0), (0.5, 0), (1.0, 0)], 2);
        assert_eq!(run(kernel, Form::Portable, &p, &[1, -1], &[2, -2]), expected, "{name}");
    }
}

/// ONNX Runtime adds the zero point before rounding, PyTorch after rounding. With an odd zero point, ties to even differ.
#[test]
fn a_zero_point_before_the_rounding_moves_ties() {
    let p = params(Element::I8, [(0.5, 0), (0.5, 0), (1.0, 1)], 1);
    let of = |name| run(find(name).expect(name), Form::Portable, &p, &[1], &[0]);
    assert_eq!((of("onnx-qlinearadd-i8"), of("pytorch-qadd-i8")), (vec![2], vec![1]));
}

#[test]
fn multipliers_are_those_of_the_sources() {
    assert_eq!(quantize_multiplier(0.5), (1 << 30, 0));
    assert_eq!(quantize_multiplier(1.0), (1 << 30, 1));
    assert_eq!(quantize_multiplier(1.0 - f64::EPSILON), (1 << 30, 1));
    assert_eq!(quantize_multiplier(2f64.powi(-33)), (0, 0));
    let p = params(Element::I8, [(0.3, 0), (0.1, 0), (0.2, 0)], 1);
    let by = xnnpack::fixed(&p, 20);
    assert_eq!((by.lhs, by.rhs, by.shift), (1_572_864, 524_288, 20));
}

#[test]
fn what_cannot_be_is_named() {
    let domain = |name: &str| &find(name).expect(name).contract.domain;
    let argument = |name: &str, p: Params| domain(name).sizes(&p).expect_err("no such batch").argument;
    let sound = params(Element::I8, [(1.0, 0), (1.0, 0), (1.0, 0)], 1);
    assert_eq!(argument("tflite-add-i8", Params { len: 0, ..sound }), "len");
    assert_eq!(argument("tflite-add-u8", sound), "element");
    let scale = |scale: f64| Operand { scale: Scale(scale), zero_point: 0 };
    for bad in [0.0, -1.0, 0.1, f64::NAN, f64::INFINITY, 1e-40] {
        assert_eq!(argument("pytorch-qadd-i8", Params { rhs: scale(bad), ..sound }), "rhs_scale", "{bad}");
    }
    assert_eq!(argument("pytorch-qadd-i8", Params { out: scale(2f64.powi(-41)), ..sound }), "out_scale");
    assert_eq!(argument("tflite-add-i8", Params { out: scale(2f64.powi(-19)), ..sound }), "out_scale");
    assert_eq!(argument("xnnpack-qs8-vadd", Params { out: scale(2f64.powi(-8)), ..sound }), "out_scale");
    assert_eq!(argument("xnnpack-qs8-vadd", Params { rhs: scale(2f64.powi(-11)), ..sound }), "out_scale");
    // `(kernel, scale of lhs, scale of rhs, scale of the result, true if accepted)`, on both sides of each limit.
    let below = |x: f64| f64::from((x as f32).next_down());
    let above = |x: f64| f64::from((x as f32).next_up());
    let [far, least, ten] = [-40, -14, -10].map(|power| 2f64.powi(power));
    for (kernel, lhs, rhs, out, taken) in [
        ("pytorch-qadd-i8", 1.0, 1.0, far, true),
        ("pytorch-qadd-i8", 1.0, above(1.0), far, false),
        ("tflite-add-i8", 1.0, 1.0, 1.5 * 2f64.powi(-19), true),
        ("tflite-add-i8", 1.0, 1.0, 0.75 * 2f64.powi(-19), false),
        ("onnx-qlinearadd-fixed-i8", 1.0, least, 1.0, true),
        ("onnx-qlinearadd-fixed-i8", 1.0, below(least), 1.0, false),
        ("onnx-qlinearadd-fixed-i8", ten, ten, 1.0, true),
        ("onnx-qlinearadd-fixed-i8", below(ten), below(ten), 1.0, false),
        ("onnx-qlinearadd-fixed-i8", 1.5 * ten, 1.5 * ten, 1.0, true),
        // The multiplier of 22 bits rounds up to 23 bits.
        ("onnx-qlinearadd-fixed-i8", below(2.0), 1.0, 1.0, false),
    ] {
        let [lhs, rhs, out] = [lhs, rhs, out].map(scale);
        assert_eq!(
            domain(kernel).sizes(&Params { lhs, rhs, out, ..sound }).is_ok(),
            taken,
            "{kernel} {lhs:?} {rhs:?} {out:?}"
        );
    }
    assert!(domain("onnx-qlinearadd-fixed-i8").sizes(&Params { rhs: scale(2f64.powi(-11)), ..sound }).is_ok());
    let out = Operand { zero_point: 128, ..sound.out };
    assert_eq!(argument("tflite-add-i8", Params { out, ..sound }), "out_zero_point");
    assert_eq!(argument("tflite-add-i8", Params { min: 1, max: 0, ..sound }), "min");
    assert!(domain("tflite-add-i8").sizes(&Params { min: 1, max: 1, ..sound }).is_ok());
    assert_eq!(argument("pytorch-qadd-i8", Params { max: 3, ..sound }), "min");
}

//! Tests of multiplications against the exact product in doubles, at known values, and at every position.

use super::*;
use crate::Form;
use crate::elementwise::tests::{self, every_kernel_computes, moved, params, run};
use crate::quantized::Scale;

/// Adapts a zero point to any type: 0 for 16 bits, otherwise as [`moved`].
fn centred(element: Element, zero_point: i32) -> i32 {
    if element == Element::I16 { 0 } else { moved(element, zero_point) }
}

/// All pairs of 8-bit values: each result is the product in doubles, rounded; near a half, the result is within 1 of the product.
#[test]
fn every_kernel_multiplies() {
    let scales =
        [[(0.1, 3), (0.1, 3), (0.2, -5)], [(0.0235, -1), (0.3, 17), (0.31, 4)], [(0.05, 127), (0.04, -128), (0.3, 0)]];
    // Double rounding first rounds the product to at least 4 fractional bits. A multiplier of 24 bits gives a result of 2^15 an error of 2^-9.
    let near = |_| 1.0 / 31.0;
    let wider = |_: &str| 0.5;
    every_kernel_computes(kernels(), scales, centred, |a, b| a * b, near, wider);
}

/// The same pair gives the same result at every index of every length.
#[test]
fn every_place_and_length_gives_the_same() {
    tests::every_place_and_length_gives_the_same(kernels(), centred);
}

/// Checks the rounding of 0.5, -0.5, 1.5 and -1.5, from a quotient of scales of a quarter.
#[test]
fn ties_go_where_each_kernel_takes_them() {
    let table = [
        ("tflite-mul-i8", [1, -1, 2, -2]),
        ("tflite-mul-single-i8", [1, 0, 2, -1]),
        ("tflite-micro-mul-i8", [1, -1, 2, -2]),
        ("arm-elementwise-mul-s8", [1, -1, 2, -2]),
        ("arm-elementwise-mul-single-s8", [1, 0, 2, -1]),
        ("tosa-mul-double-i8", [1, -1, 2, -2]),
        ("tosa-mul-single-i8", [1, 0, 2, -1]),
        ("xnnpack-qs8-vmul", [0, 0, 2, -2]),
        ("xnnpack-qs8-vmul-neon", [1, 0, 2, -1]),
        ("onnx-qlinearmul-i8", [0, 0, 2, -2]),
        ("onnx-qlinearmul-neon-i8", [0, 0, 2, -2]),
        ("pytorch-qmul-i8", [0, 0, 2, -2]),
    ];
    for (name, expected) in table {
        let kernel = find(name).expect(name);
        let p = params(Element::I8, [(0.5, 0), (0.5, 0), (1.0, 0)], 4);
        assert_eq!(run(kernel, Form::Portable, &p, &[1, -1, 3, -3], &[2, 2, 2, 2]), expected, "{name}");
    }
}

/// ONNX Runtime's kernels add the zero point before rounding, the other kernels after rounding. With an odd zero point, ties to even differ.
#[test]
fn a_zero_point_before_the_rounding_moves_ties() {
    let p = params(Element::I8, [(0.5, 0), (0.5, 0), (1.0, 1)], 1);
    let of = |name| run(find(name).expect(name), Form::Portable, &p, &[1], &[2]);
    assert_eq!([of("onnx-qlinearmul-i8"), of("onnx-qlinearmul-neon-i8")], [[2], [2]]);
    assert_eq!([of("xnnpack-qs8-vmul"), of("pytorch-qmul-i8")], [[1], [1]]);
}

/// The product of the scales is rounded in float, and not in double.
#[test]
fn multipliers_are_those_of_the_sources() {
    let p = params(Element::I8, [(0.1, 0), (0.3, 0), (0.7, 0)], 1);
    let (single, double) = (tflite::single_multiplier(&p), tflite::double_multiplier(&p));
    assert_eq!(single.0 % 128, 0, "24 bits");
    assert_eq!((single.1, double.1), (-4, -4));
    assert!(single.0 != double.0 && single.0.abs_diff(double.0) < 256, "{single:?} {double:?}");
}

#[test]
fn what_cannot_be_is_named() {
    let domain = |name: &str| &find(name).expect(name).contract.domain;
    let argument = |name: &str, p: Params| domain(name).sizes(&p).expect_err("no such batch").argument;
    let sound = params(Element::I8, [(1.0, 0), (1.0, 0), (1.0, 0)], 1);
    assert_eq!(argument("tflite-mul-i8", Params { len: 0, ..sound }), "len");
    assert_eq!(argument("tflite-mul-u8", sound), "element");
    let scale = |scale: f64| Operand { scale: Scale(scale), zero_point: 0 };
    for bad in [0.0, -1.0, 0.1, f64::NAN, f64::INFINITY, 1e-40] {
        assert_eq!(argument("pytorch-qmul-i8", Params { rhs: scale(bad), ..sound }), "rhs_scale", "{bad}");
    }
    assert_eq!(argument("pytorch-qmul-i8", Params { out: scale(2f64.powi(-14)), ..sound }), "out_scale");
    assert!(domain("pytorch-qmul-i8").sizes(&Params { out: scale(2f64.powi(-13)), ..sound }).is_ok());
    assert_eq!(argument("xnnpack-qs8-vmul", Params { out: scale(2f64.powi(-8)), ..sound }), "out_scale");
    assert_eq!(argument("xnnpack-qs8-vmul", Params { rhs: scale(2f64.powi(-17)), ..sound }), "out_scale");
    let wide = params(Element::I16, [(1.0, 0), (1.0, 0), (2.0, 0)], 1);
    assert!(domain("tflite-mul-i16").sizes(&wide).is_ok());
    assert_eq!(argument("tflite-mul-i16", Params { out: scale(1.0), ..wide }), "out_scale");
    let placed = Operand { zero_point: 1, ..wide.rhs };
    assert_eq!(argument("tflite-mul-i16", Params { rhs: placed, ..wide }), "rhs_zero_point");
    let out = Operand { zero_point: 128, ..sound.out };
    assert_eq!(argument("tflite-mul-i8", Params { out, ..sound }), "out_zero_point");
    assert_eq!(argument("tflite-mul-i8", Params { min: 1, max: 0, ..sound }), "min");
    assert_eq!(argument("pytorch-qmul-i8", Params { max: 3, ..sound }), "min");
}

//! Tests of subtractions against the exact difference in doubles, at known values, and at every position.

use super::*;
use crate::Form;
use crate::element::Element;
use crate::elementwise::tests::{self, every_kernel_computes, moved, params, run};

/// All pairs of 8-bit values: each result is the difference in doubles, rounded; near a half, the result is within 1 of the difference.
#[test]
fn every_kernel_subtracts() {
    let scales =
        [[(0.1, 3), (0.1, 3), (0.2, -5)], [(0.0235, -1), (0.3, 17), (0.31, 4)], [(0.05, 127), (0.04, -128), (0.03, 0)]];
    let near = |element| if element == Element::I16 { 0.1 } else { 1e-3 };
    // TVM rounds each operand to a step of the output, and then subtracts.
    let wider = |name: &str| if name.starts_with("tvm-qnn-subtract") { 1.5 } else { 0.5 };
    every_kernel_computes(kernels(), scales, moved, |a, b| a - b, near, wider);
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
        ("tflite-sub-i8", [2, -2]),
        ("tflite-sub-negated-i8", [2, -2]),
        ("tflite-sub-single-i8", [2, -1]),
        ("tosa-sub-double-i8", [2, -2]),
        ("tosa-sub-single-i8", [2, -1]),
        ("xnnpack-qs8-vsub", [2, -1]),
        ("xnnpack-qs8-vsub-neon", [2, -1]),
        ("onnx-dequantize-sub-i8", [2, -2]),
    ];
    for (name, expected) in table {
        let kernel = find(name).expect(name);
        let p = params(Element::I8, [(0.5, 0), (0.5, 0), (1.0, 0)], 2);
        assert_eq!(run(kernel, Form::Portable, &p, &[1, -1], &[-2, 2]), expected, "{name}");
    }
}

/// A high product rounds ties up for either sign of the multiplier, so SUB by ADD and SUB are different functions.
#[test]
fn a_negated_multiplier_is_another_function() {
    let p = params(Element::I8, [(0.5, 0), (0.3, 0), (1.0, 0)], 1);
    let of = |name| run(find(name).expect(name), Form::Portable, &p, &[-127], &[-20]);
    assert_eq!((of("tflite-sub-i8"), of("tflite-sub-negated-i8")), (vec![-58], vec![-57]));
}

/// Results of -128 - -128, 0 - -128 and -1 - -128.
#[test]
fn the_least_value_has_a_negative() {
    for kernel in kernels().iter().filter(|kernel| kernel.contract.domain.element == Element::I8) {
        let p = params(Element::I8, [(1.0, 0), (1.0, 0), (1.0, 0)], 3);
        assert_eq!(
            run(kernel, Form::Native, &p, &[-128, 0, -1], &[-128, -128, -128]),
            [0, 127, 127],
            "{}",
            kernel.name
        );
    }
}

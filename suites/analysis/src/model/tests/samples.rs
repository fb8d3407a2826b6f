//! Operators of small models.

use super::build::{Operator, Options, Tensor, model};

const UINT8: i8 = 3;
const INT8: i8 = 9;

fn tensor(shape: &[i32], kind: i8, zero_points: &[i64], name: &'static str) -> Tensor {
    Tensor { shape: shape.to_vec(), kind, zero_points: zero_points.to_vec(), name, ..Tensor::default() }
}

/// Convolution with a 3x3 filter, stride 2 over rows and 3 over columns, SAME.
pub(crate) fn conv() -> Operator {
    Operator {
        code: 3,
        tensors: [
            tensor(&[1, 8, 7, 4], INT8, &[-128], "x"),
            tensor(&[6, 3, 3, 2], INT8, &[0; 6], "w"),
            tensor(&[1, 4, 3, 6], INT8, &[3], "model/conv"),
        ],
        options: Some(Options { kind: 1, bytes: vec![(0, 0)], ints: vec![(1, 3), (2, 2)] }),
        ..Operator::default()
    }
}

/// Depthwise convolution with a 2x3 filter, dilated by 3 and 2, two outputs a channel, VALID.
pub(crate) fn depthwise() -> Operator {
    Operator {
        code: 4,
        tensors: [
            tensor(&[2, 9, 8, 3], UINT8, &[12], "x"),
            tensor(&[1, 2, 3, 6], UINT8, &[131], "w"),
            tensor(&[2, 6, 4, 6], UINT8, &[0], ""),
        ],
        options: Some(Options { kind: 2, bytes: vec![(0, 1)], ints: vec![(1, 1), (2, 1), (3, 2), (5, 2), (6, 3)] }),
        ..Operator::default()
    }
}

/// Fully connected layer that keeps three dimensions: 2*5 rows of 4.
pub(crate) fn fully_connected() -> Operator {
    Operator {
        code: 9,
        tensors: [
            tensor(&[2, 5, 4], INT8, &[-1], "x"),
            tensor(&[7, 4], INT8, &[0], "w"),
            tensor(&[2, 5, 7], INT8, &[0], "dense"),
        ],
        options: Some(Options { kind: 8, bytes: vec![(2, 1)], ints: vec![] }),
        ..Operator::default()
    }
}

/// `ADD` without zero points, which is no layer. Its options are not read.
pub(crate) fn add() -> Operator {
    let x = tensor(&[1], 0, &[], "x");
    Operator { code: 0, tensors: [x.clone(), x.clone(), x], ..Operator::default() }
}

const INT32: i8 = 2;

fn quantized(shape: &[i32], scales: &[f32], zero_point: i64) -> Tensor {
    let zero_points = vec![zero_point; scales.len()];
    Tensor {
        shape: shape.to_vec(),
        kind: INT8,
        zero_points,
        name: "layer",
        scales: scales.to_vec(),
        ..Tensor::default()
    }
}

fn bytes(values: &[i8]) -> Vec<u8> {
    values.iter().map(|v| *v as u8).collect()
}

/// Model of a convolution of two channels by a 1x1 filter with RELU, a depthwise convolution, a matrix product, an addition, a multiplication by a
/// constant, a requantization, and a `SOFTMAX`.
pub(crate) fn every() -> Vec<u8> {
    model(&each())
}

/// Operators of [`every`].
pub(crate) fn each() -> Vec<Operator> {
    let bias = |values: &[i32]| Tensor {
        shape: vec![values.len() as i32],
        kind: INT32,
        data: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ..Tensor::default()
    };
    let window = |kind, more: &[(usize, i32)], activation: (usize, i8)| {
        Some(Options { kind, bytes: vec![(0, 1), activation], ints: [&[(1, 1), (2, 1)], more].concat() })
    };
    let (x, y) = (quantized(&[1, 2, 2, 2], &[0.1019], -128), quantized(&[1, 2, 2, 2], &[0.0517], -10));
    let conv = Operator {
        code: 3,
        tensors: [
            x.clone(),
            Tensor { data: bytes(&[3, -7, 11, 5]), ..quantized(&[2, 1, 1, 2], &[0.0139, 0.0071], 0) },
            y.clone(),
        ],
        bias: Some(bias(&[-20, 1000])),
        options: window(1, &[], (3, 1)),
    };
    let depthwise = Operator {
        code: 4,
        tensors: [
            x.clone(),
            Tensor { data: bytes(&[2, 5, -4, 5]), dimension: 3, ..quantized(&[1, 2, 1, 2], &[0.0139, 0.0071], 0) },
            Tensor { shape: vec![1, 1, 2, 2], ..y.clone() },
        ],
        options: window(2, &[(3, 1)], (4, 0)),
        ..Operator::default()
    };
    let dense = Operator {
        code: 9,
        tensors: [
            quantized(&[3, 2], &[0.1019], 4),
            Tensor { data: bytes(&[9, -4]), ..quantized(&[1, 2], &[0.0213], 0) },
            quantized(&[3, 1], &[0.0517], 7),
        ],
        options: Some(Options { kind: 8, bytes: vec![], ints: vec![] }),
        ..Operator::default()
    };
    let plain = |kind| Some(Options { kind, bytes: vec![(0, 0)], ints: vec![] });
    // The result's scale is twice the operands', so that every other sum is a tie.
    let [lhs, rhs, sum] =
        [(0.25, 3), (0.25, -5), (0.5, -20)].map(|(scale, point)| quantized(&[1, 2, 2, 2], &[scale], point));
    let add = Operator { code: 0, tensors: [lhs, rhs, sum], options: plain(11), ..Operator::default() };
    let constant = Tensor { data: bytes(&[1, 1, 1, 9, 1, 1, 1, 1]), ..y.clone() };
    let mul =
        Operator { code: 18, tensors: [x.clone(), constant, y.clone()], options: plain(21), ..Operator::default() };
    let rescale = Operator { code: 114, tensors: [x.clone(), x.clone(), y.clone()], ..Operator::default() };
    let softmax = Operator { code: 25, tensors: [x.clone(), x, y], ..Operator::default() };
    vec![conv, depthwise, dense, add, mul, rescale, softmax]
}

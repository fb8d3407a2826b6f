//! Operators of small models.

use super::build::{Operator, Options, Tensor};

const UINT8: i8 = 3;
const INT8: i8 = 9;

fn tensor(shape: &[i32], kind: i8, zero_points: &[i64], name: &'static str) -> Tensor {
    Tensor { shape: shape.to_vec(), kind, zero_points: zero_points.to_vec(), name, ..Tensor::default() }
}

/// 3x3 filter, stride 2 over rows and 3 over columns, SAME.
pub(super) fn conv() -> Operator {
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

/// 2x3 filter, dilated by 3 and 2, two outputs a channel, VALID.
pub(super) fn depthwise() -> Operator {
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

/// Three dimensions that are kept: 2*5 rows of 4.
pub(super) fn fully_connected() -> Operator {
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

/// An `ADD`, which is no layer: its tensors have no zero points and its options are not read.
pub(super) fn add() -> Operator {
    let x = tensor(&[1], 0, &[], "x");
    Operator { code: 0, tensors: [x.clone(), x.clone(), x], ..Operator::default() }
}

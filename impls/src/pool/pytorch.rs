//! PyTorch's quantized `avg_pool2d` of contiguous tensors. The int32 sum, less the zero points of the elements in the image, is multiplied by (input
//! scale / output scale) / divisor, computed in double and rounded to f32. Product and sum with the zero point are in f32, rounded to nearest, ties
//! to even. With `count_include_pad` the divisor is the whole window.
//!
//! Source: pytorch/pytorch `aten/src/ATen/native/quantized/cpu/AveragePool2d.cpp` (avg_pool2d_out_frame).

use super::windows::{clamp, each};
use super::{Domain, Kernel, Params, Run, onnx};
use crate::contract::{Overflow, Promise};
use crate::element::Element::{self, I8, U8};

/// Average of qint8.
pub(super) const AVERAGE_I8: Kernel =
    average("pytorch-qavg-pool2d-i8", I8, |params, input, out| run(params, I8, input, out));

/// Average of quint8.
pub(super) const AVERAGE_U8: Kernel =
    average("pytorch-qavg-pool2d-u8", U8, |params, input, out| run(params, U8, input, out));

const fn average(name: &'static str, element: Element, run: Run) -> Kernel {
    Kernel::scalar(
        name,
        "PyTorch quantized avg_pool2d: int32 sum times a float, plus the zero point in f32, nearest even",
        Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain },
        Domain { element, ..onnx::IN_F32 },
        "pytorch/pytorch aten/src/ATen/native/quantized/cpu/AveragePool2d.cpp",
        run,
    )
}

#[inline(always)]
fn run(params: &Params, element: Element, input: &[u8], out: &mut [i32]) {
    let factor = params.input.scale.0 / params.out.scale.0;
    each(params, element, input, out, |window| {
        let multiplier = (factor / window.divisor() as f64) as f32;
        let sum = window.sum() - window.inside() as i32 * params.input.zero_point;
        let placed = sum as f32 * multiplier + params.out.zero_point as f32;
        clamp(placed.round_ties_even() as i32, params)
    });
}

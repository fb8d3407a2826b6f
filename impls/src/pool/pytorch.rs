//! PyTorch's quantized `avg_pool2d` of contiguous tensors. The int32 sum, less the zero points of the elements in the image, is multiplied by (input
//! scale / output scale) / divisor, computed in double and rounded to f32. Product and sum with the zero point are in f32, rounded to nearest, ties
//! to even. With `count_include_pad` the divisor is the whole window.
//!
//! Source: pytorch/pytorch `aten/src/ATen/native/quantized/cpu/AveragePool2d.cpp` (avg_pool2d_out_frame).

use super::windows::{clamp, each};
use super::{Domain, Kernel, Params, onnx};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::kernel::of_elements;

of_elements! {
    "PyTorch quantized avg_pool2d: int32 sum times a float, plus the zero point in f32, nearest even",
    Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..onnx::IN_F32 },
    "pytorch/pytorch aten/src/ATen/native/quantized/cpu/AveragePool2d.cpp",
    |params, input, out| run(params, ELEMENT, input, out);
    AVERAGE_I8 = "pytorch-qavg-pool2d-i8", I8;
    AVERAGE_U8 = "pytorch-qavg-pool2d-u8", U8;
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

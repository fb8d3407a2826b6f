//! ONNX: `Sub` between `DequantizeLinear` and `QuantizeLinear`, as executed by a runtime without a quantized subtraction. The operands are
//! dequantized and subtracted in f32; the difference is divided by the output's scale and rounded to nearest even; the zero point is added to the
//! integer.
//!
//! Source: ONNX operators, DequantizeLinear, Sub, QuantizeLinear; microsoft/onnxruntime `onnxruntime/core/mlas/lib/quantize.cpp`, which has no
//! QLinearSub.

use super::{Domain, Kernel, Operand, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::kernel::of_elements;

const SOURCE: &str = "ONNX operators, DequantizeLinear, Sub, QuantizeLinear; microsoft/onnxruntime onnxruntime/core/mlas/lib/quantize.cpp";

of_elements! {
    "ONNX DequantizeLinear, Sub, QuantizeLinear in f32, nearest even",
    Promise { scheme: "onnx", overflow: Overflow::OutOfDomain },
    Domain { element: ELEMENT, scales: Scales::Any, clamp: false }, SOURCE,
    |params, lhs, rhs, out| run(params, ELEMENT, lhs, rhs, out);
    I8 = "onnx-dequantize-sub-i8", I8;
    U8 = "onnx-dequantize-sub-u8", U8;
}

#[inline(always)]
fn run(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let real = |stored: i32, operand: Operand| (stored - operand.zero_point) as f32 * operand.single();
    each(element, lhs, rhs, out, |lhs, rhs| {
        let difference = real(lhs, params.lhs) - real(rhs, params.rhs);
        // The cast saturates. Saturated values are far beyond every bound.
        let scaled = (difference / params.out.single()).round_ties_even() as i32;
        clamp(scaled.saturating_add(params.out.zero_point), params)
    });
}

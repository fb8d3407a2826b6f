//! ONNX: `Sub` between `DequantizeLinear` and `QuantizeLinear`, as executed by a runtime without a quantized subtraction. The operands are
//! dequantized and subtracted in f32; the difference is divided by the output's scale and rounded to nearest even; the zero point is added to the
//! integer.
//!
//! Source: ONNX operators, DequantizeLinear, Sub, QuantizeLinear; microsoft/onnxruntime `onnxruntime/core/mlas/lib/quantize.cpp`, which has no
//! QLinearSub.

use super::{Domain, Kernel, Operand, Params, Run, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};

const SOURCE: &str = "ONNX operators, DequantizeLinear, Sub, QuantizeLinear; microsoft/onnxruntime onnxruntime/core/mlas/lib/quantize.cpp";

/// int8.
pub(super) const I8: Kernel = kernel("onnx-dequantize-sub-i8", Element::I8, |params, lhs, rhs, out| {
    run(params, Element::I8, lhs, rhs, out);
});

/// Unsigned bytes.
pub(super) const U8: Kernel = kernel("onnx-dequantize-sub-u8", Element::U8, |params, lhs, rhs, out| {
    run(params, Element::U8, lhs, rhs, out);
});

const fn kernel(name: &'static str, element: Element, run: Run) -> Kernel {
    let promise = Promise { scheme: "onnx", overflow: Overflow::OutOfDomain };
    let summary = "ONNX DequantizeLinear, Sub, QuantizeLinear in f32, nearest even";
    Kernel::scalar(name, summary, promise, Domain { element, scales: Scales::Any, clamp: false }, SOURCE, run)
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

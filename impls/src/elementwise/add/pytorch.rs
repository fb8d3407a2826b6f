//! PyTorch: `qadd`, the scalar form. Both operands are dequantized and added in f32, and the sum is quantized by the reciprocal of the output's
//! scale.
//!
//! (The vector form distributes the zero point over the product, and fuses the multiplication and addition on AVX2.)
//!
//! Source: pytorch/pytorch `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`, `qadd_kernel`;
//! `aten/src/ATen/native/quantized/AffineQuantizerBase.cpp`, `dequantize_val`, `quantize_val`.

use super::{Domain, Kernel, Operand, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::kernel::of_elements;

const SOURCE: &str = "pytorch/pytorch aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp, qadd_kernel";

of_elements! {
    "PyTorch qadd: dequantize, add, times 1/scale in f32, nearest even",
    Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain },
    Domain { element: ELEMENT, scales: Scales::Any, clamp: false }, SOURCE,
    |params, lhs, rhs, out| run(params, ELEMENT, lhs, rhs, out);
    QADD_I8 = "pytorch-qadd-i8", I8;
    QADD_U8 = "pytorch-qadd-u8", U8;
}

#[inline(always)]
fn run(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let real = |stored: i32, operand: Operand| (stored - operand.zero_point) as f32 * operand.single();
    let reciprocal = 1.0 / params.out.single();
    each(element, lhs, rhs, out, |lhs, rhs| {
        let sum = real(lhs, params.lhs) + real(rhs, params.rhs);
        // The cast saturates, and so does the addition of the zero point. Saturated values are far beyond every bound.
        let scaled = (sum * reciprocal).round_ties_even() as i32;
        clamp(scaled.saturating_add(params.out.zero_point), params)
    });
}

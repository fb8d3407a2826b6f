//! PyTorch: `qadd`, the scalar form. Both operands are dequantized and added in f32, and the sum is quantized by the reciprocal of the output's
//! scale.
//!
//! (The vector form distributes the zero point over the product, and fuses the multiplication and addition on AVX2.)
//!
//! Source: pytorch/pytorch `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`, `qadd_kernel`;
//! `aten/src/ATen/native/quantized/AffineQuantizerBase.cpp`, `dequantize_val`, `quantize_val`.

use super::{Domain, Kernel, Operand, Params, Run, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};

const SOURCE: &str = "pytorch/pytorch aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp, qadd_kernel";

/// int8.
pub(super) const QADD_I8: Kernel = qadd("pytorch-qadd-i8", Element::I8, |params, lhs, rhs, out| {
    run(params, Element::I8, lhs, rhs, out);
});

/// Unsigned bytes.
pub(super) const QADD_U8: Kernel = qadd("pytorch-qadd-u8", Element::U8, |params, lhs, rhs, out| {
    run(params, Element::U8, lhs, rhs, out);
});

const fn qadd(name: &'static str, element: Element, run: Run) -> Kernel {
    let promise = Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain };
    let domain = Domain { element, scales: Scales::Any, clamp: false };
    Kernel::scalar(
        name,
        "PyTorch qadd: dequantize, add, times 1/scale in f32, nearest even",
        promise,
        domain,
        SOURCE,
        run,
    )
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

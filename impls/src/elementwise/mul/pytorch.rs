//! PyTorch: `qmul`. The int32 product is multiplied by one float multiplier and rounded; then the zero point is added, and the result is clamped. The
//! multiplier is the product of both operands' scales and the reciprocal of the output's scale.
//!
//! Source: pytorch/pytorch `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`, `qmul_kernel`;
//! `aten/src/ATen/native/quantized/AffineQuantizerBase.cpp`, `requantize_from_int`.

use super::{Domain, Kernel, Params, Run, Scales, product};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};

const SOURCE: &str = "pytorch/pytorch aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp, qmul_kernel";

pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Rescaled, clamp: false };

/// int8.
pub(super) const QMUL_I8: Kernel = qmul("pytorch-qmul-i8", Element::I8, |params, lhs, rhs, out| {
    scaled(params, Element::I8, lhs, rhs, out, multiplier(params));
});

/// Unsigned bytes.
pub(super) const QMUL_U8: Kernel = qmul("pytorch-qmul-u8", Element::U8, |params, lhs, rhs, out| {
    scaled(params, Element::U8, lhs, rhs, out, multiplier(params));
});

const fn qmul(name: &'static str, element: Element, run: Run) -> Kernel {
    let promise = Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain };
    let summary = "PyTorch qmul: integer product times a float multiplier with 1/scale, nearest even";
    Kernel::scalar(name, summary, promise, Domain { element, ..DOMAIN }, SOURCE, run)
}

#[inline(always)]
pub(crate) fn multiplier(params: &Params) -> f32 {
    let inverse = 1.0 / params.out.single();
    params.lhs.single() * params.rhs.single() * inverse
}

/// Computes `requantize_from_int` for each product.
#[inline(always)]
fn scaled(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32], multiplier: f32) {
    each(element, lhs, rhs, out, |lhs, rhs| {
        let rounded = (product(params, lhs, rhs) as f32 * multiplier).round_ties_even() as i32;
        clamp(rounded + params.out.zero_point, params)
    });
}

//! PyTorch: `qmul`. The int32 product is multiplied by one float multiplier and rounded; then the zero point is added, and the result is clamped. The
//! multiplier is the product of both operands' scales and the reciprocal of the output's scale.
//!
//! Source: pytorch/pytorch `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`, `qmul_kernel`;
//! `aten/src/ATen/native/quantized/AffineQuantizerBase.cpp`, `requantize_from_int`.

use super::{Domain, Kernel, Params, Scales, product};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::kernel::of_elements;

const SOURCE: &str = "pytorch/pytorch aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp, qmul_kernel";

pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Rescaled, clamp: false };

of_elements! {
    "PyTorch qmul: integer product times a float multiplier with 1/scale, nearest even",
    Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| scaled(params, ELEMENT, lhs, rhs, out, multiplier(params));
    QMUL_I8 = "pytorch-qmul-i8", I8;
    QMUL_U8 = "pytorch-qmul-u8", U8;
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

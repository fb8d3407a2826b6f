//! ONNX Runtime: MLAS's QLinearMul. The C++ form dequantizes both operands, multiplies and divides in f32. The NEON and SSE2 forms multiply the
//! differences as integers and scale the product by one quotient in f32. All forms add the zero point in f32 before they round.
//!
//! The C++ form clamps in f32 before it adds the zero point; the vector forms saturate when they narrow. Every product in the domain fits in int32;
//! beyond int32, NEON and SSE2 differ.
//!
//! Source: microsoft/onnxruntime `onnxruntime/core/mlas/lib/qlmul.cpp`, `MlasQLinearMulKernel`, `MlasQLinearMulVectorS16`.

use super::{Domain, Kernel, Params, Run, Scales, product, ratio};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each, in_f32};

const SOURCE: &str = "microsoft/onnxruntime onnxruntime/core/mlas/lib/qlmul.cpp";

/// int8, in f32.
pub(super) const RAW_I8: Kernel = raw("onnx-qlinearmul-i8", Element::I8, |params, lhs, rhs, out| {
    in_f32(params, Element::I8, lhs, rhs, out, |lhs, rhs| lhs * rhs);
});

/// Unsigned bytes, in f32.
pub(super) const RAW_U8: Kernel = raw("onnx-qlinearmul-u8", Element::U8, |params, lhs, rhs, out| {
    in_f32(params, Element::U8, lhs, rhs, out, |lhs, rhs| lhs * rhs);
});

/// int8, as on NEON.
pub(super) const NEON_I8: Kernel = neon("onnx-qlinearmul-neon-i8", Element::I8, |params, lhs, rhs, out| {
    by_ratio(params, Element::I8, lhs, rhs, out);
});

/// Unsigned bytes, as on NEON.
pub(super) const NEON_U8: Kernel = neon("onnx-qlinearmul-neon-u8", Element::U8, |params, lhs, rhs, out| {
    by_ratio(params, Element::U8, lhs, rhs, out);
});

const fn raw(name: &'static str, element: Element, run: Run) -> Kernel {
    let summary = "ONNX Runtime QLinearMul: dequantize, multiply, divide, clamp and place in f32, nearest even";
    kernel(name, summary, "onnx", element, run)
}

const fn neon(name: &'static str, element: Element, run: Run) -> Kernel {
    let summary = "ONNX Runtime QLinearMul as MLAS has it on NEON and SSE2: integer product, scale and place in f32";
    kernel(name, summary, "onnx-neon", element, run)
}

const fn kernel(name: &'static str, summary: &'static str, scheme: &'static str, element: Element, run: Run) -> Kernel {
    let domain = Domain { element, scales: Scales::Rescaled, clamp: false };
    Kernel::scalar(name, summary, Promise { scheme, overflow: Overflow::OutOfDomain }, domain, SOURCE, run)
}

#[inline(always)]
fn by_ratio(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let (ratio, zero_point) = (ratio(params), params.out.zero_point as f32);
    each(element, lhs, rhs, out, |lhs, rhs| {
        let placed = zero_point + ratio * product(params, lhs, rhs) as f32;
        clamp(placed.round_ties_even() as i32, params)
    });
}

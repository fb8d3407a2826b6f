//! ONNX Runtime: MLAS's QLinearMul. The C++ form dequantizes both operands, multiplies and divides in f32. The NEON and SSE2 forms multiply the
//! differences as integers and scale the product by one quotient in f32. All forms add the zero point in f32 before they round.
//!
//! The C++ form clamps in f32 before it adds the zero point; the vector forms saturate when they narrow. Every product in the domain fits in int32;
//! beyond int32, NEON and SSE2 differ.
//!
//! Source: microsoft/onnxruntime `onnxruntime/core/mlas/lib/qlmul.cpp`, `MlasQLinearMulKernel`, `MlasQLinearMulVectorS16`.

use super::{Domain, Kernel, Params, Scales, product, ratio};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each, in_f32};
use crate::kernel::of_elements;

const SOURCE: &str = "microsoft/onnxruntime onnxruntime/core/mlas/lib/qlmul.cpp";

const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Rescaled, clamp: false };

of_elements! {
    "ONNX Runtime QLinearMul: dequantize, multiply, divide, clamp and place in f32, nearest even",
    Promise { scheme: "onnx", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| in_f32(params, ELEMENT, lhs, rhs, out, real_product);
    RAW_I8 = "onnx-qlinearmul-i8", I8;
    RAW_U8 = "onnx-qlinearmul-u8", U8;
}

of_elements! {
    "ONNX Runtime QLinearMul as MLAS has it on NEON and SSE2: integer product, scale and place in f32",
    Promise { scheme: "onnx-neon", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| by_ratio(params, ELEMENT, lhs, rhs, out);
    NEON_I8 = "onnx-qlinearmul-neon-i8", I8;
    NEON_U8 = "onnx-qlinearmul-neon-u8", U8;
}

/// Multiplies two real numbers.
#[inline(always)]
fn real_product(lhs: f32, rhs: f32) -> f32 {
    lhs * rhs
}

#[inline(always)]
fn by_ratio(params: &Params, element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let (ratio, zero_point) = (ratio(params), params.out.zero_point as f32);
    each(element, lhs, rhs, out, |lhs, rhs| {
        let placed = zero_point + ratio * product(params, lhs, rhs) as f32;
        clamp(placed.round_ties_even() as i32, params)
    });
}

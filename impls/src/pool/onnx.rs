//! ONNX Runtime. QLinearAveragePool dequantizes each element to f32, adds, and divides by the count. It then divides by the output's scale, adds the
//! zero point, and rounds to nearest, ties to even; each step is in f32. With `count_include_pad` the divisor is the whole window; padding adds 0.
//! QLinearGlobalAveragePool adds differences in int32. On NEON it multiplies the sum by the 24-bit significand of the scale and shifts once, ties
//! away from zero. On SSE2 it multiplies in f32 and converts, ties to even.
//!
//! Source: microsoft/onnxruntime `onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc` (QLinearPoolNhwc2DTask, quantize_value),
//! `onnxruntime/core/mlas/lib/qlgavgpool.cpp` (MlasQLinearGlobalAveragePool, RequantizeBiasedSum); MaxPool-12 of int8 and uint8.

use super::qnnpack::requantized;
use super::tflite::{DOMAIN, MAX, max};
use super::windows::{clamp, each, single};
use super::{Counted, Domain, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::kernel::{of_elements, scalar};

const POOL: &str = "microsoft/onnxruntime onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc";
const GLOBAL: &str = "microsoft/onnxruntime onnxruntime/core/mlas/lib/qlgavgpool.cpp";
pub(crate) const IN_F32: Domain =
    Domain { element: I8, scales: Scales::Quotient, counted: Counted::Either, global: false, clamp: false };
const WHOLE: Domain = Domain { element: U8, counted: Counted::Never, global: true, ..IN_F32 };

of_elements! {
    "ONNX Runtime QLinearAveragePool: dequantize, add, divide and quantize in f32",
    Promise { scheme: "onnx", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..IN_F32 }, POOL,
    |params, input, out| run(params, ELEMENT, input, out);
    AVERAGE_I8 = "onnx-qlinearaveragepool-i8", I8;
    AVERAGE_U8 = "onnx-qlinearaveragepool-u8", U8;
}

/// Average of unsigned bytes over the whole image, on NEON.
pub(super) const GLOBAL_U8: Kernel = Kernel::scalar(
    "onnx-qlinearglobalaveragepool-u8",
    "ONNX Runtime QLinearGlobalAveragePool on NEON: int32 sum, multiplier of 24 bits, one rounding shift, ties away",
    Promise { scheme: "qnnpack", overflow: Overflow::OutOfDomain },
    WHOLE,
    GLOBAL,
    |params, input, out| {
        let by = single(params, params.area());
        let bias = -params.input.zero_point * params.area() as i32;
        each(params, U8, input, out, |window| requantized(params, by, window.sum() + bias));
    },
);

/// Average of int8 over the whole image, on SSE2.
pub(super) const GLOBAL_SSE2_I8: Kernel = Kernel::scalar(
    "onnx-qlinearglobalaveragepool-sse2-i8",
    "ONNX Runtime QLinearGlobalAveragePool on SSE2: int32 sum, product in f32, converted to nearest even",
    Promise { scheme: "xnnpack-fp32", overflow: Overflow::OutOfDomain },
    Domain { element: I8, ..WHOLE },
    GLOBAL,
    |params, input, out| {
        let by = single(params, params.area());
        let bias = -params.input.zero_point * params.area() as i32;
        each(params, I8, input, out, |window| {
            let scaled = ((window.sum() + bias) as f32 * by).round_ties_even();
            clamp(scaled as i32 + params.out.zero_point, params)
        });
    },
);

/// Maximum of int8.
pub(super) const MAX_I8: Kernel = scalar!(
    "onnx-maxpool-i8", "ONNX Runtime MaxPool of int8: padding left out",
    MAX on Domain { clamp: false, ..DOMAIN }, from "microsoft/onnxruntime onnxruntime/core/providers/cpu/nn/pool.cc",
    |params, input, out| max(params, I8, input, out)
);

#[inline(always)]
fn run(params: &Params, element: Element, input: &[u8], out: &mut [i32]) {
    let (scale, zero_point) = (params.input.single(), params.input.zero_point);
    each(params, element, input, out, |window| {
        let sum = window.fold(0f32, |sum, value| sum + scale * (value - zero_point) as f32);
        let average = sum / window.divisor() as f32;
        let placed = average / params.out.single() + params.out.zero_point as f32;
        clamp(placed.round_ties_even() as i32, params)
    });
}

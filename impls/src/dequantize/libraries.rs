//! Libraries that subtract in integers: TensorFlow Lite, ONNX Runtime, PyTorch, XNNPACK.
//!
//! With 8- and 16-bit stored values the difference has at most 17 bits, so an f32 holds it and only the product with the scale rounds: all four
//! libraries are correctly rounded. They would disagree on a wider difference, which no domain here contains.

use super::{Kernel, each};
use crate::contract::{Overflow, Promise};
use crate::kernel::scalar;
use crate::quantize::Domain;
use crate::quantized::{Finest, I8, I16, Params, U8, U16};

const DOMAIN: Domain = Domain::BYTES;

/// Per layer: the difference in int32, times the scale in double, then rounded to f32. Per channel: the product in f32.
pub(super) const TFLITE: Kernel = Kernel::scalar(
    "tflite-dequantize",
    "TFLite reference: the difference in int32, times the scale in double, rounded to f32",
    Promise { scheme: "ideal", overflow: Overflow::OutOfDomain },
    Domain { storage: &[I8, U8, I16], finest: Finest::Channel, ..DOMAIN },
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/dequantize.h",
    |params, stored, out| {
        if params.quantized.scales.len() == 1 {
            let product = |difference: i32, scale: f32| (f64::from(scale) * f64::from(difference)) as f32;
            each(params, stored, out, |stored, scale, zero_point| product(stored - zero_point, scale));
        } else {
            difference_first(params, stored, out);
        }
    },
);

/// ONNX DequantizeLinear; blocks (`block_size`, since opset 21) take the same steps.
pub(super) const ONNX: Kernel = scalar!(
    "onnx-dequantizelinear", "ONNX Runtime: the difference in int32, converted, times the scale in f32",
    "ideal" OutOfDomain on Domain { storage: &[I8, U8, I16, U16], finest: Finest::OneAxis, ..DOMAIN },
    from "ONNX operators, DequantizeLinear; microsoft/onnxruntime onnxruntime/core/providers/cpu/quantization/quantize_linear.cc",
    difference_first
);

/// `fbgemm::Dequantize`: qint8 and quint8 to f32.
pub(super) const PYTORCH: Kernel = scalar!(
    "pytorch-dequantize", "PyTorch: the difference in int32, converted, times the scale in f32",
    "integer-difference" OutOfDomain on Domain { finest: Finest::Channel, ..DOMAIN },
    from "pytorch/FBGEMM include/fbgemm/QuantUtils.h, Dequantize", difference_first
);

/// Conversions qs8 and qu8 to f32.
pub(super) const XNNPACK: Kernel = scalar!(
    "xnnpack-dequantize", "XNNPACK: the difference in int32, converted, times the scale in f32",
    "integer-difference" OutOfDomain on DOMAIN, from "google/XNNPACK src/qs8-f32-vcvt/scalar.c.in",
    difference_first
);

/// `scale * q + (-zero_point * scale)`, with both products and the sum rounded to f32. Vector code over the general `Vectorized` computes this, with
/// the second product precomputed. (The AVX2 form of `Vectorized` fuses the first product with the sum.)
pub(super) const DISTRIBUTED: Kernel = scalar!(
    "distributed", "PyTorch Vectorized: q * scale - zero point * scale, every step rounded to f32",
    "distributed" OutOfDomain on DOMAIN,
    from "pytorch/pytorch issue 107030; aten/src/ATen/cpu/vec/vec256/vec256_qint.h, dequantize with scale_zp_premul",
    distributed
);

/// Subtracts in int32; only the product rounds.
#[inline(always)]
fn difference_first(params: &Params, stored: &[i32], out: &mut [i32]) {
    each(params, stored, out, |stored, scale, zero_point| (stored - zero_point) as f32 * scale);
}

/// Rounds three times: both products and their difference.
pub(crate) fn distributed(params: &Params, stored: &[i32], out: &mut [i32]) {
    each(params, stored, out, |stored, scale, zero_point| stored as f32 * scale - zero_point as f32 * scale);
}

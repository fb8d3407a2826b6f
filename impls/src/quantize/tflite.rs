//! TensorFlow Lite: `AffineQuantize` and `PerChannelQuantize` of the reference kernels. The quotient is an f32, rounded with ties away from zero;
//! zero point and clamp are in double. NaN reaches the cast to the output type, which C++ leaves undefined; here it gives 0.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/quantize.h`, `internal/cppmath.h`.

use super::{Domain, Kernel, each};
use crate::contract::{Overflow, Promise};
use crate::quantized::{Finest, I8, I16, U8};

/// Reference kernel.
pub(super) const AFFINE: Kernel = Kernel::scalar(
    "tflite-quantize",
    "TFLite reference: x / scale in f32, ties away, then zero point and clamp in double",
    Promise { scheme: "tflite", overflow: Overflow::OutOfDomain },
    Domain { storage: &[I8, U8, I16], finest: Finest::Channel, ..Domain::BYTES },
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/quantize.h",
    |params, x, out| {
        let [min, max] = [params.quantized.min, params.quantized.max].map(|bound| bound as f64);
        each(
            params,
            x,
            out,
            |scale, zero_point| (scale, zero_point as f64),
            |x, (scale, zero_point)| (f64::from((x / scale).round()) + zero_point).clamp(min, max) as i32,
        );
    },
);

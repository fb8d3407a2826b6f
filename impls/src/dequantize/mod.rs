//! Dequantization: stored integers to expressed (floating-point) values, by MLIR's `quant.dcast` and by libraries.

pub(crate) mod libraries;
pub(crate) mod mlir;
mod mlir_opt;
#[cfg(test)]
pub(crate) mod tests;

use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::quantize::Domain;
use crate::quantized::Params;
use crate::shape::{ShapeError, Sizes};

/// Kernel function `run(params, stored, out)`: stored values to words of expressed values. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// Dequantization under test. Its sizes are [`Params::dequantize_sizes`].
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation from stored integers to floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequantize {}

impl TensorOperation for Dequantize {
    common_items!(dequantize, own sizes);

    fn sizes(_: &Domain, params: &Params) -> Result<Sizes, ShapeError> {
        params.dequantize_sizes()
    }

    fn elsewhere(domain: &Domain) -> Option<&'static str> {
        domain.elsewhere()
    }

    fn takes_ranges(_: &Domain, _: &Params) -> bool {
        true
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        (call.code)(call.params, call.tensors[0], call.output);
        Ok(())
    }
}

lookups! {
    mlir: DCAST;
    mlir_opt: O0 O2;
    libraries: TFLITE ONNX PYTORCH XNNPACK DISTRIBUTED;
}

/// Applies `f(stored, scale, zero_point)` to every stored value, for values and zero points of 8 or 16 bits and scales rounded to f32.
#[inline(always)]
pub(crate) fn each(params: &Params, stored: &[i32], out: &mut [i32], f: impl Fn(i32, f32, i32) -> f32) {
    let quantized = &params.quantized;
    let at = |i: usize| (quantized.scales[i].0 as f32, quantized.zero_points[i] as i32);
    if quantized.scales.len() == 1 {
        let (scale, zero_point) = at(0);
        stored.iter().zip(out).for_each(|(stored, out)| *out = f(*stored, scale, zero_point).to_bits() as i32);
        return;
    }
    for (i, (stored, out)) in stored.iter().zip(out).enumerate() {
        let (scale, zero_point) = at(params.scale_of(i));
        *out = f(*stored, scale, zero_point).to_bits() as i32;
    }
}

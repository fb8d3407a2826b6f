//! MLIR `quant.dcast`, as `--lower-quant-ops` lowers it: stored value and zero point are converted to the expressed type, then subtracted and
//! multiplied in that type. Nothing is clamped.
//!
//! The lowering skips the subtraction of a zero point of 0 per layer and keeps it per channel. The result is the same, since no integer converts to
//! -0. Conversions are correctly rounded here, as in the RFC's steps. (For x86 llc 22 converts i32 to bf16 through f32, which rounds twice: 16842753
//! becomes 16777216 and not 16908288.)
//!
//! Source: MLIR RFC "Improvements in the 'quant' dialect", `quant.dcast` and `--lower-quant-ops`; llvm/llvm-project
//! `mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp`.

use super::Kernel;
use crate::contract::{Overflow, Promise};
use crate::expressed::{Real, with_real};
use crate::quantize::mlir::{DOMAIN, constants};
use crate::quantize::mlir_loops::rows;
use crate::quantized::Params;

/// Lowering of `quant.dcast`, the same for all targets.
pub(crate) const DCAST: Kernel = Kernel::scalar(
    "mlir-dcast",
    "quant.dcast lowered: both converted, subtracted and multiplied in the expressed type",
    Promise { scheme: "mlir-dcast", overflow: Overflow::OutOfDomain },
    DOMAIN,
    "MLIR RFC quant dialect, --lower-quant-ops; mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp",
    |params, stored, out| with_real!(params.quantized.expressed, lowered::<_>(params, stored, out)),
);

fn lowered<T: Real>(params: &Params, stored: &[i32], out: &mut [i32]) {
    let storage = params.quantized.storage;
    let constants = constants::<T>(&params.quantized);
    rows(params, |row| {
        let elements = row.elements.clone();
        let out = &mut out[elements.start * T::WORDS..elements.end * T::WORDS];
        for (place, (stored, out)) in stored[elements].iter().zip(out.chunks_exact_mut(T::WORDS)).enumerate() {
            let (scale, zero_point) = constants[row.scale(place)];
            let value = T::integer(storage.low_bits((*stored).into()));
            let difference = zero_point.map_or(value, |zero_point| value.minus(zero_point));
            difference.times(scale).store(out);
        }
    });
}

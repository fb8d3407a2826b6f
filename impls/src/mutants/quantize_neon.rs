//! Known bugs of TFLite's quantization in vectors: wrong in whole vectors, or in the elements after the last whole vector.

use super::tensor::Mutant;
use crate::contract::Contract;
use crate::kernel::Kernel;
use crate::quantize::tflite_neon::{DEVIATIONS, DOMAIN, PROMISE, changed, padded};
use crate::quantize::{Domain, Run};
use crate::simd::{Float, Portable, Vector};

/// Makes a mutant with the deviation that the kernel declares.
const fn mutant(
    name: &'static str,
    [class, summary]: [&'static str; 2],
    origin: &'static str,
    run: Run,
) -> Mutant<Run, Domain> {
    let contract = Contract { promise: PROMISE, domain: DOMAIN, deviations: DEVIATIONS, source: origin };
    let kernel = Kernel { name, summary, contract, portable: run, native: None };
    Mutant { kernel, class, origin, witnesses: &[] }
}

/// `vqaddq_s32` instead of `vaddq_s32`.
pub(super) const SATURATES: Mutant<Run, Domain> = mutant(
    "mutant-tflite-neon-saturates",
    ["saturation", "the sum with the zero point saturates where it wraps"],
    "of our own: vqaddq_s32 for vaddq_s32, as a repair of google-ai-edge/LiteRT 2.3.0, QUANTIZE (finding 25), has it",
    |params, x, out| changed(params, x, out, Float::fcvtns, Vector::sqadd),
);

/// `vcvtaq_s32_f32` instead of `vcvtnq_s32_f32`.
pub(super) const TIES_AWAY: Mutant<Run, Domain> = mutant(
    "mutant-tflite-neon-ties-away",
    ["tie-direction", "whole vectors round ties away from zero too"],
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/optimized/neon_tensor_utils.cc, RoundToNearest, which is vcvtaq_s32_f32, beside that of optimized_ops.h",
    |params, x, out| changed(params, x, out, fcvtas, Vector::add),
);

/// Multiplication by the reciprocal also after the last whole vector, where TFLite divides.
pub(super) const PADDED: Mutant<Run, Domain> = mutant(
    "mutant-tflite-neon-padded",
    ["stale-deviation", "the elements behind the last whole vector are padded to one and take its code"],
    "of our own: the reciprocal and fcvtns for every element, as google/XNNPACK src/f32-qs8-vcvt/neonv8.c.in has it",
    padded,
);

/// Converts f32 to the nearest int32, ties away from zero. Saturates; NaN gives 0.
fn fcvtas(v: Portable) -> Portable {
    let mut lanes = [0; crate::simd::LANES];
    v.store(&mut lanes);
    Portable::load(&lanes.map(|bits| f32::from_bits(bits as u32).round() as i32))
}

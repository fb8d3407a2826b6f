//! TensorFlow Lite: `AffineQuantize` of the optimized kernels, f32 to int8, uint8 and int16.
//!
//! Whole vectors of 8 multiply by the reciprocal of the scale in f32, and convert the product to int32 by `fcvtns`: ties to even, saturation, NaN to
//! 0. `add` then adds the zero point and wraps: a product beyond 2^31 less the zero point gives the smallest stored value, and the other way round.
//! The sum is clamped, and narrowed without loss. The elements after the last whole vector are divided in double, rounded with ties away from zero,
//! cast to int32, and added to the zero point in int32. C++ leaves cast and sum undefined beyond int32, for infinities and for NaN; the kernel has a
//! saturating cast and a wrapping sum. The contract declares these elements as a deviation, so one tensor has two rules.
//!
//! The reciprocal is a quotient in double, rounded to f32. A quotient of two f32 is either a tie of f32 or at least 2^-49 of its value away from a
//! tie, so the rounding to double changes no reciprocal.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/optimized/optimized_ops.h`, `AffineQuantize` and `RoundToNearest`; `internal/cppmath.h`,
//! `TfLiteRound`.

use super::{Domain, Kernel, Run};
use crate::contract::{Contract, Deviation, Overflow, Promise, Region};
use crate::quantized::{I8, I16, Params, U8};
use crate::simd::form::params_form;
use crate::simd::{Float, LANES, Portable};

/// Values per step.
const STEP: usize = 2 * LANES;

/// Promise for whole vectors.
pub(crate) const PROMISE: Promise = Promise { scheme: "tflite-neon", overflow: Overflow::OutOfDomain };

/// Deviation for the elements after the last whole vector.
pub(crate) const DEVIATIONS: &[Deviation] = &[Deviation {
    class: "position",
    region: Region::VectorTail { lanes: STEP },
    instead: Promise { scheme: "tflite-double", overflow: Overflow::OutOfDomain },
    reason: "the elements of a tensor after the last whole vector of 8 are divided in double and rounded ties away from zero",
}];

/// Domain of whole types of 8 and 16 bits, per tensor.
pub(crate) const DOMAIN: Domain = Domain { storage: &[I8, U8, I16], ..Domain::BYTES };

/// Optimized kernel.
pub(super) const AFFINE: Kernel = Kernel {
    name: "tflite-quantize-neon",
    summary: "TFLite optimized: x * (1/scale), fcvtns, zero point with wrap, clamp; behind vectors of 8 x / scale in f64, ties away",
    contract: Contract {
        promise: PROMISE,
        domain: DOMAIN,
        deviations: DEVIATIONS,
        source: "tensorflow/tensorflow tensorflow/lite/kernels/internal/optimized/optimized_ops.h, AffineQuantize",
    },
    portable: run::<Portable>,
    native: Some(params_form!("tiebreak_quantize_tflite_neon", ["fmul", "fcvtns", "add"], run(x: i32))),
};

#[inline(always)]
fn run<V: Float>(params: &Params, x: &[i32], out: &mut [i32]) {
    let whole = x.len() - x.len() % STEP;
    vectors::<V>(params, &x[..whole], &mut out[..whole], V::fcvtns, V::add);
    behind(params, &x[whole..], &mut out[whole..]);
}

/// Computes whole vectors: `convert` converts the product, and `add` adds the zero point.
#[inline(always)]
pub(crate) fn vectors<V: Float>(
    params: &Params,
    x: &[i32],
    out: &mut [i32],
    convert: impl Fn(V) -> V,
    add: impl Fn(V, V) -> V,
) {
    let quantized = &params.quantized;
    let reciprocal = (1.0 / f64::from(quantized.scales[0].0 as f32)) as f32;
    let (reciprocal, zero_point) = (V::splat(reciprocal.to_bits() as i32), V::splat(quantized.zero_points[0] as i32));
    let [min, max] = bounds(params);
    let (x, out) = (x.as_chunks::<LANES>().0, out.as_chunks_mut::<LANES>().0);
    for (x, out) in x.iter().zip(out) {
        add(convert(V::load(x).fmul(reciprocal)), zero_point).store(out);
        out.iter_mut().for_each(|v| *v = (*v).clamp(min, max));
    }
}

/// Computes the elements after the last whole vector.
#[inline(always)]
fn behind(params: &Params, x: &[i32], out: &mut [i32]) {
    let quantized = &params.quantized;
    let (scale, zero_point) = (f64::from(quantized.scales[0].0 as f32), quantized.zero_points[0] as i32);
    let [min, max] = bounds(params);
    for (x, out) in x.iter().zip(out) {
        let rounded = (f64::from(f32::from_bits(*x as u32)) / scale).round();
        *out = (rounded as i32).wrapping_add(zero_point).clamp(min, max);
    }
}

/// Returns the smallest and largest stored value.
fn bounds(params: &Params) -> [i32; 2] {
    [params.quantized.min, params.quantized.max].map(|bound| bound as i32)
}

/// Computes whole vectors with the wrong `convert` or `add` of a mutant, and the elements after them as promised.
pub(crate) fn changed(
    params: &Params,
    x: &[i32],
    out: &mut [i32],
    convert: impl Fn(Portable) -> Portable,
    add: impl Fn(Portable, Portable) -> Portable,
) {
    let whole = x.len() - x.len() % STEP;
    vectors(params, &x[..whole], &mut out[..whole], convert, add);
    behind(params, &x[whole..], &mut out[whole..]);
}

/// Runs the vectors' code for all elements, with the last vector padded.
pub(crate) fn padded(params: &Params, x: &[i32], out: &mut [i32]) {
    for (x, out) in x.chunks(STEP).zip(out.chunks_mut(STEP)) {
        let (mut lanes, mut results) = ([0; STEP], [0; STEP]);
        lanes[..x.len()].copy_from_slice(x);
        vectors::<Portable>(params, &lanes, &mut results, Float::fcvtns, crate::simd::Vector::add);
        out.copy_from_slice(&results[..x.len()]);
    }
}

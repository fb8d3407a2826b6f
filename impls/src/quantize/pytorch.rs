//! PyTorch: `fbgemm::Quantize`, one value at a time. It deliberately multiplies by the rounded reciprocal of the scale: 0.273939937 at scale
//! 0.00214854861 gives 128, where division gives 127.
//!
//! With `LEGACY`, the template's default and the choice of `quantize_per_tensor`, the zero point is added in f32 before the rounding. Without it, as
//! in `quantize_val`, the zero point is added after the rounding. The clamp is in double. NaN reaches the cast to the output type, which C++ leaves
//! undefined; here it gives 0.
//!
//! `QuantizeAvx2` with `LEGACY` fuses product and sum into one rounding. `vminps` then returns its second operand for NaN, and keeps sums below 2^31.
//! `vcvtps2dq` gives the smallest int32 for sums below -2^31. The clamp is in int32. A masked load sends the tail through the same instructions, so
//! body and tail agree. The steps here process one value at a time, as each instruction does.
//!
//! Source: pytorch/FBGEMM `include/fbgemm/QuantUtils.h`, `Quantize`; pytorch/pytorch `AffineQuantizerBase.cpp`, `quantize_val`, and
//! `cpu/kernels/QuantizedOpKernels.cpp`, `quantize_tensor_per_tensor_affine_cpu`, in `aten/src/ATen/native/quantized`;
//! pytorch/FBGEMM `src/QuantUtilsAvx2.cc`, `QuantizeAvx2`.

use super::{Domain, Kernel, each};
use crate::contract::{Overflow, Promise};
use crate::quantized::{Finest, I8, I32, Params, U8};

const DOMAIN: Domain = Domain { storage: &[I8, U8, I32], finest: Finest::Channel, ..Domain::BYTES };

/// `quantize_val`: the zero point after the rounding.
pub(super) const QUANTIZE: Kernel = Kernel::scalar(
    "pytorch-quantize",
    "PyTorch quantize_val: x * (1/scale) in f32, nearest even, then the zero point in f32",
    Promise { scheme: "pytorch", overflow: Overflow::OutOfDomain },
    DOMAIN,
    "pytorch/FBGEMM include/fbgemm/QuantUtils.h, Quantize without LEGACY",
    |params, x, out| quantize(params, x, out, |scaled, zero_point| zero_point + scaled.round_ties_even()),
);

/// `quantize_per_tensor`: the zero point before the rounding.
pub(super) const LEGACY: Kernel = Kernel::scalar(
    "pytorch-quantize-legacy",
    "PyTorch quantize_per_tensor: x * (1/scale) and the zero point added in f32, then nearest even",
    Promise { scheme: "pytorch-legacy", overflow: Overflow::OutOfDomain },
    Domain { finest: Finest::Layer, ..DOMAIN },
    "pytorch/FBGEMM include/fbgemm/QuantUtils.h, Quantize with LEGACY",
    |params, x, out| quantize(params, x, out, |scaled, zero_point| (zero_point + scaled).round_ties_even()),
);

/// Largest f32 below 2^31.
const LARGEST: f32 = 2_147_483_520.0;

/// `QuantizeAvx2` of `quantize_per_tensor`.
pub(super) const FUSED: Kernel = Kernel::scalar(
    "pytorch-quantize-avx2",
    "PyTorch quantize_per_tensor on AVX2: x * (1/scale) + zero point rounded once to f32, then nearest even",
    Promise { scheme: "pytorch-fused", overflow: Overflow::OutOfDomain },
    Domain { storage: &[I8, U8], finest: Finest::Layer, ..DOMAIN },
    "pytorch/FBGEMM src/QuantUtilsAvx2.cc, QuantizeAvx2 with LEGACY",
    |params, x, out| {
        let [min, max] = [params.quantized.min, params.quantized.max].map(|bound| bound as i32);
        let constants = |scale: f32, zero_point: i64| (1.0 / scale, zero_point as f32);
        each(params, x, out, constants, |x, (reciprocal, zero_point)| {
            cvtps2dq(minps(x.mul_add(*reciprocal, *zero_point), LARGEST)).max(min).min(max)
        });
    },
);

/// Computes `vminps`, which returns the second operand if either is NaN.
fn minps(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Computes `vcvtps2dq`: nearest int32, ties to even, and the smallest int32 if that does not fit.
fn cvtps2dq(x: f32) -> i32 {
    let rounded = x.round_ties_even();
    if (-2_147_483_648.0..2_147_483_648.0).contains(&rounded) { rounded as i32 } else { i32::MIN }
}

/// Quantizes with `transform(scaled value, zero point)`.
#[inline(always)]
fn quantize(params: &Params, x: &[i32], out: &mut [i32], transform: impl Fn(f32, f32) -> f32) {
    let [min, max] = [params.quantized.min, params.quantized.max].map(|bound| bound as f64);
    each(
        params,
        x,
        out,
        |scale, zero_point| (1.0 / scale, zero_point as f32),
        |x, (reciprocal, zero_point)| f64::from(transform(x * reciprocal, *zero_point)).clamp(min, max) as i32,
    );
}

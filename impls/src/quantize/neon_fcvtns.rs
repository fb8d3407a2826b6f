//! NEON: product with the reciprocal, `fcvtns`, and saturating narrowing, eight values at a time.
//!
//! `fcvtns` saturates to 32 bits and turns NaN into 0, which becomes the zero point. `sqxtn` saturates to 16 bits before `sqadd` adds the zero point
//! in 16 bits. The result is the same, because a saturated value stays beyond 8 bits for every 8-bit zero point. The tail takes the same
//! instructions, so body and tail agree.
//!
//! Source: google/XNNPACK `src/f32-qs8-vcvt/neonv8.c.in`; the same body is in pytorch/pytorch
//! `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`, `quantize_tensor_arm_q8`.

use super::{Domain, Kernel, Run, contract};
use crate::contract::{Overflow, Promise};
use crate::quantized::Params;
use crate::simd::form::params_form;
use crate::simd::{Float, LANES, Portable};

/// Values per step.
const STEP: usize = 2 * LANES;

/// XNNPACK's f32 to qs8 and qu8 on Armv8.
pub(super) const FCVTNS: Kernel = Kernel {
    name: "neon-fcvtns",
    summary: "XNNPACK neonv8: fmul by 1/scale, fcvtns, sqxtn, sqadd of the zero point, sqxtn or sqxtun",
    contract: contract(
        Promise { scheme: "neon-fcvtns", overflow: Overflow::OutOfDomain },
        Domain::BYTES,
        "google/XNNPACK src/f32-qs8-vcvt/neonv8.c.in",
    ),
    portable: run::<Portable>,
    native: Some(
        params_form!("tiebreak_quantize_neon_fcvtns", ["fmul", "fcvtns", "sqxtn", "sqxtn2", "sqadd", "sqxtun"], run(x: i32)),
    ),
};

#[inline(always)]
fn run<V: Float>(params: &Params, x: &[i32], out: &mut [i32]) {
    let quantized = &params.quantized;
    let reciprocal = 1.0 / quantized.scales[0].0 as f32;
    let zero_point = quantized.zero_points[0] as i32 & 0xffff;
    let constants = (V::splat(reciprocal.to_bits() as i32), V::splat(zero_point << 16 | zero_point));
    let signed = quantized.storage.signed;
    for (x, out) in x.chunks(STEP).zip(out.chunks_mut(STEP)) {
        let mut lanes = [0; STEP];
        lanes[..x.len()].copy_from_slice(x);
        let bytes = eight(constants, &lanes, signed);
        for (byte, out) in bytes.into_iter().zip(out) {
            *out = if signed { i32::from(byte as i8) } else { i32::from(byte) };
        }
    }
}

/// Computes one step. Constants are the reciprocal of the scale and the zero point.
#[inline(always)]
fn eight<V: Float>((reciprocal, zero_point): (V, V), x: &[i32; STEP], signed: bool) -> [u8; STEP] {
    let (halves, _) = x.as_chunks::<LANES>();
    let [low, high] = [0, 1].map(|half| V::load(&halves[half]).fmul(reciprocal).fcvtns());
    let sum = low.sqxtn_4h().sqxtn2_8h(high).sqadd_8h(zero_point);
    let bytes = if signed { sum.sqxtn_8b() } else { sum.sqxtun_8b() };
    let mut lanes = [0; LANES];
    bytes.store(&mut lanes);
    let [a, b, ..] = lanes.map(i32::to_le_bytes);
    std::array::from_fn(|i| if i < 4 { a[i] } else { b[i - 4] })
}

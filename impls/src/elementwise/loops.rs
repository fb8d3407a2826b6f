//! Loops over pairs of elements.

use super::{Operand, Params};
use crate::element::Element;
use crate::simd::LANES;

/// Applies `f(lhs, rhs)` to every pair of elements of a type.
#[inline(always)]
pub(crate) fn each(element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32], f: impl Fn(i32, i32) -> i32) {
    let size = element.bytes();
    let elements = lhs.chunks_exact(size).zip(rhs.chunks_exact(size));
    elements.zip(out).for_each(|((lhs, rhs), out)| *out = f(element.read(lhs), element.read(rhs)));
}

/// Clamps to the bounds of `params`: `max(x, min)`, then `min(.., max)`, as in the sources.
#[inline(always)]
pub(crate) fn clamp(x: i32, params: &Params) -> i32 {
    x.max(params.min).min(params.max)
}

/// ONNX Runtime's portable form: both operands are dequantized, combined by `combine`, divided by the output's scale, clamped, and increased by the
/// zero point, each in f32. The sum is rounded to nearest even. Source: `MlasQLinearAddKernelRawHelper` and `MlasQLinearMulKernel`.
#[inline(always)]
pub(super) fn in_f32(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    combine: impl Fn(f32, f32) -> f32,
) {
    let real = |stored: i32, operand: Operand| operand.single() * (stored - operand.zero_point) as f32;
    let zero_point = params.out.zero_point;
    let [min, max] = [*element.range().start(), *element.range().end()].map(|end| (end - zero_point) as f32);
    each(element, lhs, rhs, out, |lhs, rhs| {
        let scaled = combine(real(lhs, params.lhs), real(rhs, params.rhs)) / params.out.single();
        (scaled.max(min).min(max) + zero_point as f32).round_ties_even() as i32
    });
}

/// XNNPACK's NEON loop over int8. `rounded` takes lanes of differences from the zero points. Its results are saturated to 16 bits, increased by the
/// output's zero point, saturated to 16 bits again, and clamped. The tail goes through whole vectors.
#[inline(always)]
pub(super) fn in_lanes(
    params: &Params,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    rounded: impl Fn([i32; LANES], [i32; LANES]) -> [i32; LANES],
) {
    let narrow = |v: i32| v.clamp(i16::MIN.into(), i16::MAX.into());
    for ((lhs, rhs), out) in lhs.chunks(LANES).zip(rhs.chunks(LANES)).zip(out.chunks_mut(LANES)) {
        let lanes = rounded(widened(lhs, params.lhs.zero_point), widened(rhs, params.rhs.zero_point));
        for (rounded, out) in lanes.into_iter().zip(out) {
            *out = clamp(narrow(narrow(rounded) + params.out.zero_point), params);
        }
    }
}

/// Subtracts a zero point from bytes, in lanes. A lane without a byte is 0.
#[inline(always)]
fn widened(bytes: &[u8], zero_point: i32) -> [i32; LANES] {
    std::array::from_fn(|i| bytes.get(i).map_or(0, |byte| i32::from(*byte as i8) - zero_point))
}

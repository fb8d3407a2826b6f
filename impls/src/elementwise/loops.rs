//! Loops over pairs of elements.

use super::{Operand, Params};
use crate::element::Element;
use crate::simd::LANES;

/// `f(lhs, rhs)` of every pair of elements of a type.
#[inline(always)]
pub(crate) fn each(element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32], f: impl Fn(i32, i32) -> i32) {
    let size = element.bytes();
    let elements = lhs.chunks_exact(size).zip(rhs.chunks_exact(size));
    elements.zip(out).for_each(|((lhs, rhs), out)| *out = f(element.read(lhs), element.read(rhs)));
}

/// `max(x, min)`, then `min(.., max)`, as the sources write it.
#[inline(always)]
pub(crate) fn clamp(x: i32, params: &Params) -> i32 {
    x.max(params.min).min(params.max)
}

/// ONNX Runtime's portable form of `combine`: both operands dequantized, combined, divided by the output's scale, clamped, and the zero point added,
/// each in f32; rounded to nearest even. `MlasQLinearAddKernelRawHelper` and `MlasQLinearMulKernel` are this function.
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

/// XNNPACK's NEON loop over int8: `rounded` of differences from zero points, in lanes, saturated to 16 bits before and after the output's zero point is
/// added, then clamped. The tail goes through whole vectors.
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

/// Differences of bytes from a zero point, in lanes; 0 in a lane without a byte.
#[inline(always)]
fn widened(bytes: &[u8], zero_point: i32) -> [i32; LANES] {
    std::array::from_fn(|i| bytes.get(i).map_or(0, |byte| i32::from(*byte as i8) - zero_point))
}

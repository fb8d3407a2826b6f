//! gemmlowp: `OutputStageTanh` for one value and for four lanes.
//!
//! The input less the zero point is multiplied by the inverse of the amplitude and shifted left to three integer bits. `|tanh(x)|` is `(1 - e^(2a)) /
//! (1 + e^(2a))` for `a = -|x|`, computed by the exponential and three steps of Newton-Raphson. The result is multiplied by the amplitude and shifted
//! right, which floors. Inputs of eight amplitudes or more give the ends.
//!
//! For an amplitude that is a power of two, the left shift of the largest input below eight amplitudes gives 2^31: the scalar `ShiftLeft` saturates,
//! and `vshlq` wraps.
//!
//! Source: google/gemmlowp `internal/output.h`, `fixedpoint/fixedpoint.h`.

use crate::exp::gemmlowp::exponential;
use crate::exp::vector::vector as exponential_of_lanes;
use crate::fpm::gemmlowp::saturating_rounding_doubling_high_mul as mul;
use crate::shape::{ShapeError, broken};
use crate::simd::Vector;
use crate::softmax::tflite::{newton, saturating_shift};

/// Integer bits of the double of a number with three integer bits.
const DOUBLED: i32 = 4;
/// One, with two integer bits.
const ONE: i32 = 1 << 29;

/// Checks that the source computes its constants without overflow, and that f64 gives the same as real numbers. An error names the invalid argument.
pub(super) fn check(zero_point: i32, amplitude: i32) -> Result<(), ShapeError> {
    if !(1..=1 << 20).contains(&amplitude) {
        return Err(broken("stages", format!("the amplitude of tanh, {amplitude}, is not in 1 to {}", 1 << 20)));
    }
    if zero_point.unsigned_abs() > 1 << 24 {
        return Err(broken("stages", format!("the zero point of tanh, {zero_point}, is more than 2^24 away from 0")));
    }
    Ok(())
}

/// Constants that `OutputStageEvalBufferImpl` precomputes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    zero_point: i32,
    cutoffs: [i32; 2],
    ends: [i32; 2],
    inverse: i32,
    left: u32,
    amplitude: i32,
    right: u32,
}

/// Computes `ToFixedPoint` without integer bits.
fn fixed_point(real: f64) -> i32 {
    (real * f64::from(1u32 << 31)).round().min(f64::from(i32::MAX)) as i32
}

impl Constants {
    #[inline(always)]
    pub(super) fn new(zero_point: i32, amplitude: i32) -> Self {
        let (mut inverse, mut exponent) = (1.0 / f64::from(amplitude), 0);
        while inverse < 0.5 {
            inverse *= 2.0;
            exponent += 1;
        }
        let (mut normalized, mut integer_bits) = (f64::from(amplitude), 0);
        while normalized >= 1.0 {
            normalized *= 0.5;
            integer_bits += 1;
        }
        Self {
            zero_point,
            cutoffs: [zero_point - 8 * amplitude, zero_point + 8 * amplitude],
            ends: [zero_point - amplitude, zero_point + amplitude],
            inverse: fixed_point(inverse),
            left: 28 - exponent,
            amplitude: fixed_point(normalized),
            right: 31 - integer_bits,
        }
    }

    /// Applies the stage to one value.
    #[inline(always)]
    pub(super) fn value(&self, v: i32, shift_left: fn(i32, u32) -> i32) -> i32 {
        let scaled = shift_left(mul(v.wrapping_sub(self.zero_point), self.inverse), self.left);
        let result = self.zero_point.wrapping_add(mul(tanh(scaled), self.amplitude) >> self.right);
        match v {
            v if v <= self.cutoffs[0] => self.ends[0],
            v if v >= self.cutoffs[1] => self.ends[1],
            _ => result,
        }
    }

    /// Applies the stage to four values.
    #[inline(always)]
    pub(super) fn lanes<V: Vector>(&self, v: V) -> V {
        let centred = v.add(V::splat(self.zero_point.wrapping_neg()));
        let scaled = centred.sqrdmulh(V::splat(self.inverse)).sshl(V::splat(self.left as i32));
        let high = tanh_of_lanes(scaled).sqrdmulh(V::splat(self.amplitude)).sshl(V::splat(-(self.right as i32)));
        let result = high.add(V::splat(self.zero_point));
        // Saturating sums, so that the sign shows on which side of a cutoff a value is.
        let [low, high] = self.cutoffs;
        let inside_low = V::splat(low).sqadd(negated(v)).sshr31();
        let inside_high = v.sqadd(V::splat(-high)).sshr31();
        let above = chosen(inside_high, result, V::splat(self.ends[1]));
        chosen(inside_low, above, V::splat(self.ends[0]))
    }
}

/// Returns `-v`, and the largest integer for the smallest: `-(v + 1) + 1`, with a saturating sum.
#[inline(always)]
fn negated<V: Vector>(v: V) -> V {
    v.add(V::splat(1)).mul(V::splat(-1)).sqadd(V::splat(1))
}

/// Selects `a` if the mask is all ones, and `b` if the mask is 0.
#[inline(always)]
fn chosen<V: Vector>(mask: V, a: V, b: V) -> V {
    b.add(mask.and(a.add(b.mul(V::splat(-1)))))
}

/// Computes `tanh` of a number with three integer bits; the result has no integer bits.
#[inline(always)]
fn tanh(a: i32) -> i32 {
    let negative = if a < 0 { a } else { a.wrapping_neg() };
    let magnitude = saturating_shift(newton(exponential(negative, DOUBLED)).wrapping_sub(ONE), 2);
    match a {
        0 => 0,
        a if a < 0 => magnitude.wrapping_neg(),
        _ => magnitude,
    }
}

#[inline(always)]
fn tanh_of_lanes<V: Vector>(a: V) -> V {
    let is_negative = a.sshr31();
    let minus = a.mul(V::splat(-1));
    let negative = chosen(is_negative, a, minus);
    let exponential = exponential_of_lanes(negative, DOUBLED);
    // `vrhaddq` with 2^31 - 1.
    let half = exponential.sshl(V::splat(-1)).add(V::splat(1 << 30));
    let mut x = V::splat(1_515_870_810).add(half.sqrdmulh(V::splat(-1_010_580_540)));
    for _ in 0..3 {
        let error = V::splat(ONE).add(half.sqrdmulh(x).mul(V::splat(-1)));
        x = x.add(x.sqrdmulh(error).sqshl(V::splat(2)));
    }
    let magnitude = x.add(V::splat(-ONE)).sqshl(V::splat(2));
    let signed = chosen(is_negative, magnitude.mul(V::splat(-1)), magnitude);
    // A value or its negative has a sign bit, unless the value is 0.
    chosen(negative.sshr31(), signed, V::splat(0))
}

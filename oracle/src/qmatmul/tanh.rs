//! gemmlowp's `OutputStageTanh`: `zero_point + amplitude * tanh((v - zero_point) / amplitude)` in fixed point, constant from eight amplitudes
//! on. For a <= 0, `tanh(a)` is `(1 - e^(2a)) / (1 + e^(2a))`, by the exponential of [`crate::exp`] and three steps of Newton-Raphson.
//!
//! One step can leave int32: the left shift to three integer bits, whose operand is rounded first. If the amplitude is a power of two, the largest
//! value below eight amplitudes becomes 8 itself. The policy of the scheme fits the result.
//!
//! Source: google/gemmlowp `internal/output.h`, `fixedpoint/fixedpoint.h` tanh, one_minus_x_over_one_plus_x_for_x_in_0_1.

use crate::exp::{Printed, printed};
use crate::rounding::RoundingRule::{TiesAway, TiesUp, TowardNegative};
use crate::shape::{ShapeError, broken};
use crate::softmax::{newton, newton_fast, times};
use crate::word::{INT32, Overflow};
use rug::{Integer, Rational};
use std::ops::RangeInclusive;

/// Parameters of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tanh {
    /// Stored int32 that represents 0. `real_zero_as_int32`.
    pub zero_point: i32,
    /// Distance from the zero point that represents 1. `real_amplitude_as_int32`.
    pub amplitude: i32,
}

/// Supported amplitudes. The source divides by the amplitude in f64, whose rounding has no effect for these divisors.
pub(super) const AMPLITUDES: RangeInclusive<i32> = 1..=1 << 20;
/// Supported zero points. No value within eight amplitudes of these leaves int32.
pub(super) const ZERO_POINTS: RangeInclusive<i32> = -(1 << 24)..=1 << 24;

/// Number of amplitudes from the zero point to the ends.
const ENDS: i32 = 8;
/// Integer bits of twice a number with three integer bits.
const DOUBLED: i32 = 4;

impl Tanh {
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        for (name, value, range) in
            [("amplitude", self.amplitude, AMPLITUDES), ("zero point", self.zero_point, ZERO_POINTS)]
        {
            if !range.contains(&value) {
                let rule = format!("the {name} of tanh, {value}, is not in {} to {}", range.start(), range.end());
                return Err(broken("stages", rule));
            }
        }
        Ok(())
    }

    /// Computes a value by rationals.
    pub(super) fn exact(&self, overflow: Overflow, v: Integer) -> Option<Integer> {
        let amplitude = Integer::from(self.amplitude);
        let centred: Integer = v - self.zero_point;
        let end: Integer = Integer::from(&amplitude) * ENDS;
        if centred <= Integer::from(-&end) {
            return Some(Integer::from(self.zero_point) - amplitude);
        }
        if centred >= end {
            return Some(amplitude + self.zero_point);
        }
        // 1 / amplitude is 2^-exponent times a number in [1/2, 1), or 1 for amplitude 1.
        let exponent = Integer::from(&amplitude - 1u32).significant_bits().saturating_sub(1);
        let inverse = TiesAway.round(&(Rational::from((Integer::from(1) << (31 + exponent), amplitude.clone()))));
        let scaled = product(&centred, &inverse.min(i32::MAX.into()));
        let placed = overflow.fit_exact(INT32, &(scaled << (28 - exponent)))?;
        let power = amplitude.significant_bits();
        let high = product(&hyperbolic(&placed), &(amplitude << (31 - power)));
        Some(TowardNegative.round(&(Rational::from(high) >> (31 - power))) + self.zero_point)
    }

    /// Computes a value by machine integers.
    pub(super) fn fast(&self, overflow: Overflow, v: i32) -> Option<i32> {
        let (zero, amplitude) = (i64::from(self.zero_point), i64::from(self.amplitude));
        let away = i64::from(v) - zero;
        if away.abs() >= amplitude * i64::from(ENDS) {
            return Some((zero + amplitude * away.signum()) as i32);
        }
        let exponent = (63 - (amplitude - 1).leading_zeros() as i32).max(0);
        let inverse = (((1i64 << (32 + exponent)) / amplitude + 1) / 2).min(i32::MAX.into());
        let placed = overflow.fit_int32(i128::from(times(away, inverse)) << (28 - exponent))?;
        let magnitude = match i64::from(placed) {
            0 => 0,
            negative if negative < 0 => -towards_one(Printed::AS_PRINTED.at(placed, DOUBLED)),
            positive => towards_one(Printed::AS_PRINTED.at(-positive as i32, DOUBLED)),
        };
        let power = 64 - amplitude.leading_zeros();
        Some(((times(magnitude, amplitude << (31 - power)) >> (31 - power)) + zero) as i32)
    }
}

/// Multiplies two numbers of 31 fractional bits.
fn product(a: &Integer, b: &Integer) -> Integer {
    TiesUp.round(&(Rational::from(a * b) >> 31))
}

/// Computes `tanh` of a number with three integer bits.
fn hyperbolic(a: &Integer) -> Integer {
    if a.is_zero() {
        return Integer::new();
    }
    let negative = -Integer::from(a.abs_ref());
    let exponential = printed::exact(negative.to_i32().expect("an int32"), DOUBLED);
    let one = Integer::from(1) << 29;
    // (1 - e) / (1 + e) is 2 / (1 + e) - 1.
    let magnitude = INT32.saturate_exact(&((newton(&exponential) - one) << 2u32));
    if a.is_negative() { -magnitude } else { magnitude }
}

/// Computes the magnitude of `tanh` from the exponential, by machine integers.
fn towards_one(exponential: i32) -> i64 {
    ((newton_fast(exponential.into(), 3) - (1 << 29)) << 2).clamp(i32::MIN.into(), i32::MAX.into())
}

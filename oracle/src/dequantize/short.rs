//! Schemes at fixed parameters, for every value of 32 bits, in 64-bit integers if the format keeps at most 24 bits.
//!
//! Conversions and differences of integers are integers below 2^34, even after rounding. The scale's significand has at most
//! 24 bits, so the product is an integer below 2^58 times the scale's power of two, and is rounded once, exactly.

use super::Scheme;
use crate::float::Format;
use crate::quantize::{Prepared, Quantization};

/// Factor's numerator before the product, as an exact integer; `None` if a step overflows.
pub(super) type Factor = fn(&Short, i64) -> Option<i64>;

/// Parameters as 64-bit integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    format: Format,
    /// Bits of a significand.
    precision: u32,
    /// Largest integer that is a number of the format; `i64::MAX` for a format that holds every integer here.
    most: i64,
    pub(super) zero_point: i64,
    /// Zero point rounded to the format.
    pub(super) zero_point_rounded: i64,
    /// Significand of the scale, which is `scale * 2^exponent`.
    scale: u64,
    exponent: i32,
}

/// Scheme at fixed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    scheme: Scheme,
    prepared: Prepared,
    short: Option<(Short, Factor)>,
}

/// Divides `n` by `2^bits`, ties to even.
fn shifted(n: u64, bits: u32) -> u64 {
    match bits {
        0 => n,
        1..64 => (n + (1 << (bits - 1)) - 1 + (n >> bits & 1)) >> bits,
        _ => 0,
    }
}

impl Short {
    fn new(q: &Quantization) -> Option<Self> {
        let format = q.format;
        let precision = format.precision();
        if precision > 24 {
            return None;
        }
        let (scale, exponent) = format.significand(q.scale);
        let most = if format == Format::F16 { 65504 } else { i64::MAX };
        let zero_point = q.zero_point;
        let short = Self { format, precision, most, zero_point, zero_point_rounded: 0, scale, exponent };
        Some(Self { zero_point_rounded: short.rounded(zero_point)?, ..short })
    }

    /// Rounds an integer to the format.
    pub(super) fn rounded(&self, v: i64) -> Option<i64> {
        let n = v.unsigned_abs();
        let bits = (u64::BITS - n.leading_zeros()).saturating_sub(self.precision);
        let n = (shifted(n, bits) << bits) as i64;
        (n <= self.most).then_some(if v < 0 { -n } else { n })
    }

    /// Returns the pattern of `v` times the scale.
    fn product(&self, v: i64) -> u64 {
        let n = v.unsigned_abs() * self.scale;
        if n == 0 {
            return 0;
        }
        let least = self.format.least_exponent();
        let length = (u64::BITS - n.leading_zeros()) as i32;
        let spacing = (self.exponent + length - self.precision as i32).max(least);
        let significand = match spacing - self.exponent {
            right @ 1.. => shifted(n, right as u32),
            left => n << -left,
        };
        let binade = spacing.abs_diff(least);
        let magnitude = (u64::from(binade) << (self.precision - 1)) + significand;
        magnitude.min(self.format.infinity()) | if v < 0 { self.format.sign() } else { 0 }
    }
}

impl Fixed {
    /// Computes [`Scheme::expected`], at a fraction of the cost.
    pub fn expected(&self, stored: i64) -> u64 {
        let product = |(short, factor): &(Short, Factor)| factor(short, stored).map(|v| short.product(v));
        match self.short.as_ref().and_then(product) {
            Some(bits) => bits,
            None => self.scheme.prepared(&self.prepared, stored),
        }
    }

    /// Writes the results of consecutive stored values from `first` on.
    pub fn fill(&self, first: i64, results: &mut [u64]) {
        results.iter_mut().zip(first..).for_each(|(result, stored)| *result = self.expected(stored));
    }
}

impl Scheme {
    /// Fixes the parameters, for many stored values.
    pub fn fixed(&self, q: &Quantization) -> Fixed {
        let short = Short::new(q).zip(self.definition.factor);
        Fixed { scheme: *self, prepared: Prepared::new(q), short }
    }
}

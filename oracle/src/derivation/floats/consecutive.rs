//! Outputs of a scheme in floats at consecutive accumulators. The exponents of the steps change at few accumulators. Between two changes each
//! step is a product, a shift and a sum of 64 bits. A third form, independent of the rationals and of dyadic numbers.

use super::{Scheme, Steps, ToInteger};
use crate::fpm::pieces::Output;

/// Largest bit length of a factor's significand: its product with an accumulator of 31 bits and a sign fits in 64 bits.
const NARROW: u32 = 32;
/// Number of places after the binary point from which every result is below one half.
const MOST_PLACES: i32 = 60;
/// Bits of a sum with a zero point, without its sign.
const SUM: i32 = 62;

/// Exponents shared by the accumulators of one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exponents {
    /// Bits of the accumulator beyond the format's precision.
    accumulator: u32,
    /// Bits of the product beyond the format's precision.
    product: u32,
}

/// Scheme whose steps fit in 64 bits.
struct Narrow<'a> {
    of: &'a Scheme,
    output: &'a Output,
    /// Magnitude of the factor: `significand * 2^exponent`.
    significand: u64,
    exponent: i32,
    is_negative: bool,
    /// Bits of the format's significand.
    bits: u32,
    /// Zero point, rounded to the format, if it is added before the rounding; otherwise 0.
    first: i64,
}

impl Scheme {
    /// Writes the outputs at `first`, `first + 1`, ..., all int32, equal to [`Scheme::fast`].
    pub fn fill(&self, first: i32, output: &Output, out: &mut [i64]) {
        let at = |i: usize| i64::from(first) + i as i64;
        let Some(narrow) = Narrow::new(self, output) else {
            return out.iter_mut().enumerate().for_each(|(i, out)| *out = self.fast(at(i) as i32, output).into());
        };
        // Magnitudes decrease up to zero and increase from there.
        let below = first.min(0).unsigned_abs() as usize;
        let (below, rest) = out.split_at_mut(below.min(out.len()));
        let from = at(below.len());
        narrow.intervals(first.into(), below);
        narrow.intervals(from, rest);
    }
}

impl<'a> Narrow<'a> {
    fn new(of: &'a Scheme, output: &'a Output) -> Option<Self> {
        let (n, bits) = (of.factor.fast.n, of.definition.format.precision());
        let length = 128 - n.unsigned_abs().leading_zeros();
        let takes = of.definition.steps == Steps::Multiplier && of.last.is_none() && length <= NARROW;
        let first = if of.definition.zero_point_first { rounded(output.zero_point.into(), bits) } else { 0 };
        takes.then_some(Self {
            of,
            output,
            significand: n.unsigned_abs() as u64,
            exponent: of.factor.fast.e,
            is_negative: n < 0,
            bits,
            first,
        })
    }

    /// Computes accumulators of one sign, one interval of equal exponents after another.
    fn intervals(&self, first: i64, mut out: &mut [i64]) {
        let mut x = first;
        while !out.is_empty() {
            let exponents = self.exponents(x);
            let same = |len: usize| self.exponents(x + len as i64 - 1) == exponents;
            let len = match same(out.len()) {
                true => out.len(),
                false => last_true(1, out.len(), same),
            };
            let (now, rest) = out.split_at_mut(len);
            self.interval(x, exponents, now);
            (x, out) = (x + len as i64, rest);
        }
    }

    fn exponents(&self, x: i64) -> Exponents {
        let beyond = |v: u64| (64 - v.leading_zeros()).saturating_sub(self.bits);
        let accumulator = beyond(x.unsigned_abs());
        Exponents { accumulator, product: beyond(self.product(x.unsigned_abs(), accumulator)) }
    }

    #[inline(always)]
    fn product(&self, magnitude: u64, beyond: u32) -> u64 {
        (even(magnitude, beyond) << beyond) * self.significand
    }

    fn interval(&self, first: i64, exponents: Exponents, out: &mut [i64]) {
        let Exponents { accumulator, product } = exponents;
        let places = -(product as i32 + self.exponent);
        let is_negative = self.is_negative != (first < 0);
        let xs = (first..).zip(out.iter_mut());
        // A product rounded up to a power of two has one bit more than the format.
        let significand = |x: i64| even(self.product(x.unsigned_abs(), accumulator), product) as i64;
        let signed = |v: i64| if is_negative { -v } else { v };
        let Output { zero_point, min, max } = *self.output;
        let (zero_point, min, max) = (i64::from(zero_point), i64::from(min), i64::from(max));
        let int32 = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into());
        let after = |v: i64| (int32(signed(v)) + zero_point).clamp(min, max);
        let rounding = self.of.definition.rounding;
        if self.of.definition.zero_point_first {
            let Some((up, places, zero_point)) = self.sum(places) else { return self.one_by_one(first, out) };
            let v = |x: i64| rounded((signed(significand(x)) << up) + zero_point, self.bits);
            let half = 1i64 << (places - 1);
            let before = |v: i64| int32(v).clamp(min, max);
            match rounding {
                ToInteger::TiesEven => xs.for_each(|(x, out)| {
                    let v = v(x);
                    *out = before(signed_even(v, places));
                }),
                ToInteger::AddHalf => xs.for_each(|(x, out)| *out = before(rounded(v(x) + half, self.bits) >> places)),
                ToInteger::AddHalfAway => xs.for_each(|(x, out)| {
                    let v = v(x);
                    let sum = rounded(v + v.signum() * half, self.bits);
                    *out = before(sum.signum() * (sum.abs() >> places));
                }),
                ToInteger::TiesAway => self.one_by_one(first, out),
            }
            return;
        }
        match (rounding, places) {
            (ToInteger::TiesEven | ToInteger::TiesAway, ..=0) => {
                let up = places.unsigned_abs().min(63);
                xs.for_each(|(x, out)| *out = after(lifted(significand(x), up)));
            }
            (ToInteger::TiesEven | ToInteger::TiesAway, MOST_PLACES..) => xs.for_each(|(_, out)| *out = after(0)),
            (ToInteger::TiesEven, places) => {
                let places = places as u32;
                xs.for_each(|(x, out)| *out = after(even(significand(x) as u64, places) as i64));
            }
            (ToInteger::TiesAway, places) => {
                let half = 1i64 << (places - 1);
                xs.for_each(|(x, out)| *out = after((significand(x) + half) >> places));
            }
            (ToInteger::AddHalf | ToInteger::AddHalfAway, _) => self.one_by_one(first, out),
        }
    }

    /// Returns the left shift that gives a product at least one place after the point, the number of places after this shift, and the zero point
    /// shifted to as many places. `None` if the sum may have more than 62 bits.
    fn sum(&self, places: i32) -> Option<(u32, u32, i64)> {
        let (up, places) = ((1 - places).max(0), places.max(1));
        let length = 64 - self.first.unsigned_abs().leading_zeros() as i32;
        let fits = up + self.bits as i32 + 1 < SUM && places < MOST_PLACES && places + length < SUM;
        fits.then(|| (up as u32, places as u32, self.first << places))
    }

    #[cold]
    fn one_by_one(&self, first: i64, out: &mut [i64]) {
        (first..).zip(out).for_each(|(x, out)| *out = self.of.fast(x as i32, self.output).into());
    }
}

/// Computes `v / 2^bits`, ties to even.
#[inline(always)]
fn even(v: u64, bits: u32) -> u64 {
    match bits {
        0 => v,
        _ => (v + ((1 << (bits - 1)) - 1) + ((v >> bits) & 1)) >> bits,
    }
}

/// Computes `v / 2^bits` for either sign, ties to even.
#[inline(always)]
fn signed_even(v: i64, bits: u32) -> i64 {
    (v + ((1 << (bits - 1)) - 1) + ((v >> bits) & 1)) >> bits
}

/// Rounds to `bits` bits of significand, ties to even.
#[inline(always)]
fn rounded(v: i64, bits: u32) -> i64 {
    let beyond = (64 - v.unsigned_abs().leading_zeros()).saturating_sub(bits);
    let magnitude = (even(v.unsigned_abs(), beyond) << beyond) as i64;
    if v < 0 { -magnitude } else { magnitude }
}

/// Computes `v * 2^up`, or a number beyond any int32 if that overflows.
#[inline(always)]
fn lifted(v: i64, up: u32) -> i64 {
    if up < v.leading_zeros() { v << up } else { i64::MAX >> 1 }
}

/// Returns the last index at which `holds` is true. `holds` is true at `from`, false at `to`, and changes once between.
fn last_true(mut from: usize, mut to: usize, holds: impl Fn(usize) -> bool) -> usize {
    while from + 1 < to {
        let middle = from.midpoint(to);
        if holds(middle) { from = middle } else { to = middle }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::floats::DEFINITIONS;
    use proptest::prelude::*;
    use rug::Rational;

    fn check(definition: usize, real: Rational, first: i32, output: &Output) {
        let Some(scheme) = DEFINITIONS[definition].of_multiplier(&real) else { return };
        let mut all = vec![0; 700];
        let len = (i64::from(i32::MAX) - i64::from(first) + 1).min(700) as usize;
        scheme.fill(first, output, &mut all[..len]);
        for (i, got) in all[..len].iter().enumerate() {
            let x = first + i as i32;
            assert_eq!(
                *got,
                i64::from(scheme.fast(x, output)),
                "{} {real} {x} {output:?}",
                DEFINITIONS[definition].name
            );
        }
    }

    const ANY: Output = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };

    /// Accumulators around 0, around the integers that the format holds exactly, and at both ends; factors from results below one half to saturation.
    #[test]
    fn consecutive_outputs_are_those_one_by_one() {
        let outputs = [ANY, Output { zero_point: -7, min: -128, max: 127 }, Output { zero_point: i32::MAX, ..ANY }];
        for e in (-75..=40).step_by(5).chain(-34..=3) {
            for m in [1i64, 3, (1 << 24) - 1, 1_395_864_371, -1_395_864_371, i32::MIN.into()] {
                for first in [i32::MIN, -(1 << 24) - 350, -350, (1 << 24) - 350, (1 << 25) - 350, i32::MAX - 699] {
                    for (definition, output) in (0..DEFINITIONS.len()).flat_map(|d| outputs.map(move |o| (d, o))) {
                        check(definition, Rational::from(m) << e, first, &output);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn consecutive_outputs_are_those_one_by_one_anywhere(
            definition in 0..DEFINITIONS.len(), m in any::<i32>(), e in -64..=2, first in any::<i32>(), narrow in 0u32..32,
            zero_point in any::<i32>(), small in 0u32..32,
        ) {
            let output = Output { zero_point: zero_point >> small, ..ANY };
            check(definition, Rational::from(m) << e, first >> narrow, &output);
        }
    }
}

//! TensorFlow Lite's composition, on rationals with derived constants, and on machine integers with the printed constants.

use super::Softmax;
use crate::exp::{Printed, printed};
use crate::rounding::RoundingRule::{TiesAway, TiesEven, TiesUp};
use rug::{Integer, Rational};
use std::collections::BTreeMap;

/// Integer bits of scaled differences, and of the sum of the exponentials.
const INTEGER_BITS: i32 = 5;
const ACCUMULATED: u32 = 12;

/// Multiplies two numbers of 31 fractional bits.
fn product(a: &Integer, b: &Integer) -> Integer {
    TiesUp.round(&(Rational::from(a * b) >> 31))
}

fn fitted(v: Integer) -> Integer {
    v.clamp(&i32::MIN, &i32::MAX)
}

/// Computes a row by rationals.
pub(super) fn exact(p: &Softmax, row: &[i32]) -> Vec<Integer> {
    let largest = row.iter().copied().max().unwrap_or_default();
    let multiplier = Integer::from(p.multiplier);
    let mut kept = BTreeMap::new();
    for x in row.iter().filter(|x| **x - largest >= p.diff_min) {
        kept.entry(*x).or_insert_with(|| {
            let shifted = Integer::from(x - largest) << p.left_shift as u32;
            let scaled = product(&shifted, &multiplier).to_i32().expect("a number of five integer bits");
            printed::exact(scaled, INTEGER_BITS)
        });
    }
    let sum: Integer =
        row.iter().filter_map(|x| kept.get(x)).map(|e| TiesAway.round(&(Rational::from(e) >> ACCUMULATED))).sum();
    // The sum is 2^power times a number in [1, 2).
    let power = sum.significant_bits() - 1 - (31 - ACCUMULATED);
    let over_one = Integer::from(&sum << (ACCUMULATED - power)) - (Integer::from(1) << 31);
    let reciprocal = reciprocal(&over_one);
    // Converts 31 fractional bits to steps of the output, and divides by 2^power.
    let exponent = (31 - p.out.bits) + power;
    let one = |x: &i32| match kept.get(x) {
        None => p.out.min().into(),
        Some(e) => {
            let steps = TiesAway.round(&(Rational::from(product(&reciprocal, e)) >> exponent));
            (steps + p.out.min()).clamp(&p.out.min(), &p.out.max())
        }
    };
    row.iter().map(one).collect()
}

/// Computes `2 / (1 + a)` with 29 fractional bits, for a number of 31 fractional bits in [0, 1): the line 48/17 - 32/17 d through half the
/// denominator, and three steps of Newton-Raphson.
pub(crate) fn newton(a: &Integer) -> Integer {
    let line = |n: i32| TiesEven.round(&(Rational::from((n, 17)) << 29));
    // 2^31 - 1 represents 1.
    let half = TiesUp.round(&(Rational::from(a + Integer::from(i32::MAX)) >> 1));
    let mut x = line(48) + product(&half, &line(-32));
    for _ in 0..3 {
        let error = (Integer::from(1) << 29) - product(&half, &x);
        x += fitted(product(&x, &error) << 2u32);
    }
    x
}

/// Computes `1 / (1 + a)`.
fn reciprocal(a: &Integer) -> Integer {
    fitted(newton(a) << 1u32)
}

/// Composition on machine integers, as printed or with changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composed {
    /// Integer bits of the sum of the exponentials; the reciprocal assumes twelve.
    pub accumulated: u32,
    /// True if terms of the sum are rounded, false if truncated.
    pub rounds_terms: bool,
    /// Number of Newton-Raphson steps.
    pub newton: usize,
    /// Exponent of the power of two by which the result is too large.
    pub exponent_off: i32,
    /// True if the last division is rounded, false if truncated.
    pub rounds_result: bool,
    /// Lower bound of the largest element, if any.
    pub floor: Option<i32>,
    /// True if `diff_min` applies; otherwise no difference is too small.
    pub cut: bool,
    /// True if `diff_min` is held in eight bits.
    pub narrow_cut: bool,
    /// True if `diff_min` and differences are held in eight bits.
    pub narrow: bool,
    /// True if a difference equal to `diff_min` is omitted too, unless `diff_min` is 0.
    pub strict: bool,
    /// True if results are clamped; otherwise they wrap.
    pub clamp: bool,
    /// Exponential.
    pub exp: Printed,
}

const LINE: [i64; 2] = [1_515_870_810, -1_010_580_540];

/// Multiplies two numbers of 31 fractional bits.
#[inline]
pub(crate) fn times(a: i64, b: i64) -> i64 {
    (a * b + (1 << 30)) >> 31
}

impl Composed {
    /// Composition as printed.
    pub const AS_PRINTED: Self = Self {
        accumulated: ACCUMULATED,
        rounds_terms: true,
        newton: 3,
        exponent_off: 0,
        rounds_result: true,
        floor: None,
        cut: true,
        narrow_cut: false,
        narrow: false,
        strict: false,
        clamp: true,
        exp: Printed::AS_PRINTED,
    };

    /// Computes a row.
    pub fn row(&self, p: &Softmax, row: &[i32]) -> Vec<i32> {
        let largest = row.iter().copied().chain(self.floor).max().unwrap_or_default();
        let held = |v: i32, narrow: bool| if narrow { i32::from(v as i8) } else { v };
        let cut = held(p.diff_min, self.narrow || self.narrow_cut);
        let cut = if self.strict { (cut + 1).min(0) } else { cut };
        let power = |x: &i32| {
            let difference = held(x - largest, self.narrow);
            let kept = !self.cut || difference >= cut;
            // Exceeds int32 only if no difference is cut.
            let shifted = (i64::from(difference) << p.left_shift) as i32;
            let scaled = times(shifted.into(), p.multiplier.into()) as i32;
            // A difference that wraps may be positive, outside the domain of the composition.
            kept.then(|| i64::from(self.exp.at(scaled, INTEGER_BITS)))
        };
        let powers: Vec<Option<i64>> = row.iter().map(power).collect();
        let half = if self.rounds_terms { 1 << (self.accumulated - 1) } else { 0 };
        let sum = powers.iter().flatten().map(|e| (e + half) >> self.accumulated).sum::<i64>() as i32;
        let headroom = sum.leading_zeros();
        let over_one = sum.wrapping_shl(headroom).wrapping_sub(i32::MIN);
        let reciprocal = self.reciprocal(over_one.into());
        let exponent = ACCUMULATED as i32 - headroom as i32 + 31 - p.out.bits as i32 - self.exponent_off;
        let least = p.out.min();
        let one = |e: &Option<i64>| {
            let Some(e) = e else { return least as i32 };
            // Larger shifts of an int32 are undefined in the sources, so results of kernels for such shifts are not part of the scheme.
            let shift = exponent.clamp(0, 31);
            let half = if self.rounds_result && shift > 0 { 1i64 << (shift - 1) } else { 0 };
            let placed = ((times(reciprocal, *e) + half) >> shift) + least;
            let fitted = if self.clamp { placed.clamp(least, p.out.max()) } else { p.out.wrap(placed) };
            fitted as i32
        };
        powers.iter().map(one).collect()
    }

    /// Returns the reciprocal of one plus a number of 31 fractional bits.
    fn reciprocal(&self, over_one: i64) -> i64 {
        (newton_fast(over_one, self.newton) << 1).clamp(i32::MIN.into(), i32::MAX.into())
    }
}

/// Computes [`newton`] on machine integers, with any number of steps. For a row with sum 0, which only a bug causes, intermediates wrap.
pub(crate) fn newton_fast(over_one: i64, steps: usize) -> i64 {
    let fit = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into());
    let wrap = |v: i64| i64::from(v as i32);
    // 2^31 - 1 represents 1; a half rounds away from zero.
    let twice = over_one + i64::from(i32::MAX);
    let half = (twice + if twice < 0 { -1 } else { 1 }) / 2;
    let mut x = wrap(LINE[0] + times(half, LINE[1]));
    for _ in 0..steps {
        let error = wrap((1 << 29) - times(half, x));
        x = wrap(x + fit(times(x, error) << 2));
    }
    x
}

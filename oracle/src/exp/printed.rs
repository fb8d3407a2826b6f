//! gemmlowp's composition, on rationals with constants derived from `e`, and on machine integers with the printed constants.

use super::real;
use crate::rounding::RoundingRule::{self, *};
use rug::{Integer, Rational};

/// Largest result, which represents 1.
const ONE: i32 = i32::MAX;

/// Exponents of the factors: `e^(-2^k)`.
const POWERS: std::ops::RangeInclusive<i32> = -2..=4;

/// Rounds a value to a multiple of 2^-31.
fn rounded(v: Rational, rule: RoundingRule) -> Rational {
    Rational::from(rule.round(&(v << 31))) >> 31
}

/// Returns `e^(-2^power)`, rounded to the nearest multiple of 2^-31.
fn factor(power: i32) -> Rational {
    // With five integer bits, 26 bits are fractional.
    Rational::from(real::exact(-(1 << (26 + power)), 5, TiesEven)) >> 31
}

/// Computes a result by rationals.
pub(crate) fn exact(x: i32, integer_bits: i32) -> Integer {
    if x == 0 {
        return ONE.into();
    }
    let value = Rational::from(x) >> (31 - integer_bits);
    if integer_bits > 5 && value < -32 {
        return Integer::new();
    }
    let product = |a: &Rational, b: &Rational| rounded(Rational::from(a * b), TiesUp);
    let quarters = TowardNegative.round(&(Rational::from(&value * 4)));
    let rest = &value - Rational::from(&quarters) / 4 - Rational::from((1, 4));
    let y = rest + Rational::from((1, 8));
    let y2 = product(&y, &y);
    let (y3, y4) = (product(&y2, &y), product(&y2, &y2));
    let third = rounded(Rational::from((1, 3)), TiesEven);
    let inner = product(&(rounded(y4 / 4, TiesAway) + y3), &third) + y2;
    let eighth = factor(-3);
    let mut result: Rational = &eighth + product(&eighth, &(y + rounded(inner / 2, TiesAway)));
    // Quarters between 0 and the quarter of x.
    let whole = -quarters - 1u32;
    for power in POWERS.filter(|power| *power < integer_bits) {
        if whole.get_bit((power + 2) as u32) {
            result = product(&result, &factor(power));
        }
    }
    let units: Rational = result << 31;
    assert!(units.is_integer(), "a product is rounded to a unit");
    units.into_numer_denom().0
}

/// Composition on machine integers, as printed or with one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Rounding rule of high products.
    pub product: RoundingRule,
    /// True if inputs below -32 give 0.
    pub clamp: bool,
    /// True if 0 gives 1.
    pub one: bool,
    /// Number of factors used, from the smallest exponent on.
    pub factors: usize,
    /// Bits of the factors.
    pub bits: u32,
    /// Integer bits that the code assumes, if different from the input's.
    pub integer_bits: Option<i32>,
}

/// `e^(-1/8)` and 1/3.
const EIGHTH: i64 = 1_895_147_668;
const THIRD: i64 = 715_827_883;
/// `e^(-2^k)`, k from -2 to 4.
const FACTORS: [i64; 7] = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

impl Printed {
    /// Composition as printed.
    pub const AS_PRINTED: Self =
        Self { product: TiesUp, clamp: true, one: true, factors: FACTORS.len(), bits: 32, integer_bits: None };

    /// Computes a result.
    #[inline]
    pub fn at(&self, x: i32, integer_bits: i32) -> i32 {
        if x == 0 && self.one {
            return ONE;
        }
        let integer_bits = self.integer_bits.unwrap_or(integer_bits);
        let fraction = 31 - integer_bits;
        let x = i64::from(x);
        if self.clamp && integer_bits > 5 && x < -(32i64 << fraction) {
            return 0;
        }
        // Quarters between the quarter of x and 0; -1 for x = 0.
        let whole = -(x >> (fraction - 2)) - 1;
        let rest = (x & ((1 << (fraction - 2)) - 1)) << integer_bits;
        let times = |a: i64, b: i64| match self.product {
            TiesUp => (a * b + (1 << 30)) >> 31,
            rule => rule.shift_right(i128::from(a * b), 31) as i64,
        };
        // The unit is 2^-31; y is the rest, in [0, 1/4), minus an eighth.
        let y = rest - (1 << 28);
        let y2 = times(y, y);
        let (y3, y4) = (times(y2, y), times(y2, y2));
        // No dividend is negative, so a half rounds up.
        let inner = times(((y4 + 2) >> 2) + y3, THIRD) + y2;
        let mut result = EIGHTH + times(EIGHTH, y + ((inner + 1) >> 1));
        for (at, factor) in FACTORS.into_iter().enumerate().take(self.factors) {
            if (at as i32) < integer_bits + 2 && whole >> at & 1 == 1 {
                let kept = factor >> (32 - self.bits) << (32 - self.bits);
                result = times(result, kept);
            }
        }
        result as i32
    }
}

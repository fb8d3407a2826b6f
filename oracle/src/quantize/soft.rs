//! Floats on machine integers: an i128 significand and an exponent, rounded by shifts, independent of [`crate::float`], which rounds
//! rationals. A test compares the two.

use super::{Quantization, Storage, Stored};
use crate::float::Format;
use crate::rounding::RoundingRule::{self, TiesEven};
use crate::word::Overflow;

/// Bits of a quotient: more than any format keeps, so that the last bit can represent the remainder.
const QUOTIENT: i32 = 70;
/// Bits of a quotient of numbers with at most 24 bits, as in f16, bf16 and f32. Integers below 2^36 fit with two more
/// bits; no bound or zero point is beyond 2^32.
const SHORT_QUOTIENT: i32 = 38;
const SHORT: i32 = 24;
/// Number of bits within which numbers are aligned, and largest shift.
const ALIGNED_BITS: i32 = 120;
/// Represents every larger integer: exceeds all bounds by more than a zero point can compensate, and has low bits
/// of 0, like the numbers of every format from here on.
const HUGE: i128 = 1 << 100;

/// A number `n * 2^e`, an infinity or NaN. The last bit of an inexact number is 1 and represents all lost bits, so a rounding at least
/// two bits higher gives the rounded exact value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Soft {
    Nan,
    Infinite { negative: bool },
    Number { n: i128, e: i32 },
}

/// Integer, NaN or infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    Nan,
    Infinite { negative: bool },
    Number(i128),
}

use Soft::{Infinite, Nan, Number};

/// Computes `n / 2^bits` towards zero, with the last bit set if anything is lost.
fn jam(n: i128, bits: i32) -> i128 {
    let magnitude = n.unsigned_abs();
    let (kept, lost) = match bits {
        ..=0 => return n,
        1..=127 => (magnitude >> bits, magnitude & ((1 << bits) - 1)),
        _ => (0, magnitude),
    };
    let jammed = (kept | u128::from(lost != 0)) as i128;
    if n < 0 { -jammed } else { jammed }
}

fn length(n: i128) -> i32 {
    (u128::BITS - n.unsigned_abs().leading_zeros()) as i32
}

/// Computes `n * 2^e` at exponent `to`, rounded by `rule`. Shifts to the left must fit.
fn at_exponent(n: i128, e: i32, to: i32, rule: RoundingRule) -> i128 {
    let bits = to - e;
    if bits <= 0 {
        return n << -bits;
    }
    let excess = (bits - ALIGNED_BITS).max(0);
    rule.shift_right(jam(n, excess), (bits - excess) as u32)
}

impl Soft {
    pub(crate) fn of(format: Format, bits: u64) -> Self {
        let (negative, magnitude) = format.split(bits);
        if magnitude >= format.infinity() {
            return if magnitude == format.infinity() { Infinite { negative } } else { Nan };
        }
        let (n, e) = format.significand(magnitude);
        Number { n: if negative { -i128::from(n) } else { n.into() }, e }
    }

    pub(crate) fn integer(v: i64) -> Self {
        Number { n: v.into(), e: 0 }
    }

    /// Divides by a positive number, exactly enough for a rounding to the format of the numbers or to an integer.
    pub(crate) fn divided_by(self, divisor: Self) -> Self {
        let (Number { n, .. }, Number { n: d, .. }) = (self, divisor) else { return self };
        self.quotient(divisor, length(n).max(length(d)) <= SHORT)
    }

    /// Divides by a positive number, exactly enough for a rounding to any format.
    pub(crate) fn divided_for_any(self, divisor: Self) -> Self {
        self.quotient(divisor, false)
    }

    fn quotient(self, divisor: Self, short: bool) -> Self {
        let (Number { n, e }, Number { n: d, e: f }) = (self, divisor) else { return self };
        let left = if short { SHORT_QUOTIENT } else { QUOTIENT } + length(d) - length(n);
        let (numerator, divisor) = (n.unsigned_abs(), d.unsigned_abs());
        let quotient = if short {
            // A division of 64 bits is several times faster.
            let (numerator, divisor) = ((numerator as u64) << left, divisor as u64);
            let quotient = numerator / divisor;
            i128::from(quotient | u64::from(quotient * divisor != numerator))
        } else {
            let numerator = numerator << left;
            let quotient = numerator / divisor;
            (quotient | u128::from(quotient * divisor != numerator)) as i128
        };
        Number { n: if n < 0 { -quotient } else { quotient }, e: e - f - left }
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Nan => Nan,
            Infinite { negative } => Infinite { negative: !negative },
            Number { n, e } => Number { n: -n, e },
        }
    }

    /// Multiplies by a positive number or infinity, both of a format.
    pub(crate) fn times(self, factor: Self) -> Self {
        match (self, factor) {
            (Number { n, e }, Number { n: m, e: f }) => Number { n: n * m, e: e + f },
            (Number { n: 0, .. } | Nan, _) => Nan,
            (Number { n, .. }, _) => Infinite { negative: n < 0 },
            (Infinite { .. }, _) => self,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (Number { n: a, e }, Number { n: b, e: f }) = (self, other) else {
            return match (self, other) {
                (Infinite { negative: a }, Infinite { negative: b }) if a != b => Nan,
                (Nan, _) | (_, Nan) => Nan,
                (Infinite { .. }, _) => self,
                _ => other,
            };
        };
        if a == 0 || b == 0 {
            return if a == 0 { other } else { self };
        }
        let top = (length(a) + e).max(length(b) + f);
        let to = e.min(f).max(top - ALIGNED_BITS);
        let aligned = |n: i128, e: i32| if e >= to { n << (e - to) } else { jam(n, to - e) };
        Number { n: aligned(a, e) + aligned(b, f), e: to }
    }

    /// Rounds to a format, ties to even.
    pub(crate) fn rounded(self, format: Format) -> Self {
        let Number { n, e } = self else { return self };
        if n == 0 {
            return Number { n, e: 0 };
        }
        let precision = format.precision() as i32;
        let spacing = (e + length(n) - precision).max(format.least_exponent());
        let (kept, exponent) = if spacing <= e { (n, e) } else { (at_exponent(n, e, spacing, TiesEven), spacing) };
        let binades = (format.infinity() >> (precision - 1)) as i32;
        if length(kept) + exponent > binades - 2 + format.least_exponent() + precision {
            return Infinite { negative: n < 0 };
        }
        Number { n: kept, e: exponent }
    }

    /// Returns the pattern of a number rounded by [`Soft::rounded`].
    pub(crate) fn pattern(self, format: Format) -> u64 {
        let (negative, magnitude) = match self {
            Nan => return format.nan(),
            Infinite { negative } => (negative, format.infinity()),
            Number { n: 0, .. } => (false, 0),
            Number { n, e } => {
                let spacing = (e + length(n) - format.precision() as i32).max(format.least_exponent());
                let significand = at_exponent(n, e, spacing, TiesEven).unsigned_abs() as u64;
                let binade = spacing.abs_diff(format.least_exponent());
                (n < 0, (u64::from(binade) << (format.precision() - 1)) + significand)
            }
        };
        magnitude | if negative { format.sign() } else { 0 }
    }

    /// Rounds to an integer.
    pub(crate) fn to_integer(self, rule: RoundingRule) -> Whole {
        match self {
            Nan => Whole::Nan,
            Infinite { negative } => Whole::Infinite { negative },
            Number { n, e } if e > 0 && length(n) + e > 100 => Whole::Number(n.signum() * HUGE),
            Number { n, e } => Whole::Number(at_exponent(n, e, 0, rule).clamp(-HUGE, HUGE)),
        }
    }
}

impl Whole {
    /// Returns the integer. Infinities are beyond all integers on their side; NaN counts as +infinity.
    pub(crate) fn number(self) -> i128 {
        match self {
            Self::Number(n) => n,
            Self::Infinite { negative: true } => -HUGE,
            Self::Nan | Self::Infinite { .. } => HUGE,
        }
    }

    pub(crate) fn map(self, f: impl FnOnce(i128) -> i128) -> Self {
        match self {
            Self::Number(v) => Self::Number(f(v)),
            other => other,
        }
    }

    pub(crate) fn soft(self) -> Soft {
        match self {
            Self::Nan => Nan,
            Self::Infinite { negative } => Infinite { negative },
            Self::Number(n) => Number { n, e: 0 },
        }
    }

    pub(crate) fn clamp(self, min: i64, max: i64) -> Self {
        match self {
            Self::Nan => Self::Nan,
            Self::Infinite { negative } => Self::Number(if negative { min } else { max }.into()),
            Self::Number(v) => Self::Number(v.clamp(min.into(), max.into())),
        }
    }

    /// Converts to a value of the storage type; `None` (poison) if the policy has no value.
    pub(crate) fn convert(self, storage: Storage, overflow: Overflow) -> Option<Self> {
        let (min, max) = (storage.min(), storage.max());
        match (overflow, self) {
            (_, Self::Number(v)) if v >= i128::from(min) && v <= i128::from(max) => Some(self),
            (Overflow::Saturate, Self::Nan) => Some(Self::Number(0)),
            (Overflow::Saturate, _) => Some(self.clamp(min, max)),
            (Overflow::Wrap, Self::Number(v)) => {
                let unused = 128 - storage.bits;
                let low = v << unused;
                Some(Self::Number(if storage.signed { low >> unused } else { ((low as u128) >> unused) as i128 }))
            }
            _ => None,
        }
    }

    /// Returns the result: a clamped integer, or `otherwise` for NaN.
    pub(crate) fn stored(self, otherwise: Stored) -> Stored {
        match self {
            Self::Number(v) => i64::try_from(v).map_or(otherwise, Stored::Value),
            _ => otherwise,
        }
    }
}

/// Parameters in the form of the integer arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared {
    pub(crate) q: Quantization,
    pub(crate) scale: Soft,
    /// `1 / scale` rounded to the format.
    pub(crate) reciprocal: Soft,
    pub(crate) zero_point: Soft,
    /// The zero point rounded to the format.
    pub(crate) zero_point_rounded: Soft,
}

impl Prepared {
    pub(crate) fn new(q: &Quantization) -> Self {
        let (scale, zero_point) = (Soft::of(q.format, q.scale), Soft::integer(q.zero_point));
        Self {
            q: *q,
            scale,
            reciprocal: Soft::integer(1).divided_by(scale).rounded(q.format),
            zero_point,
            zero_point_rounded: zero_point.rounded(q.format),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::Rational;

    fn value(v: Soft) -> Rational {
        let Number { n, e } = v else { panic!("{v:?} is no number") };
        Rational::from(n) << e
    }

    /// A sum loses no more than a rounding may lose, for a zero point and quotients from equally large to negligible.
    #[test]
    fn a_sum_of_numbers_far_apart_rounds_as_that_of_rationals() {
        for format in Format::ALL {
            for a in [1, -3, 255, -(1 << 31), (1 << 32) - 1] {
                for (n, e) in [(1i128 << 69) + 1, (1 << 70) - 1, -(1 << 69) - (1 << 35) - 1]
                    .into_iter()
                    .flat_map(|n| (-200..=-40).map(move |e| (n, e)))
                {
                    let (a, b) = (Soft::integer(a), Number { n, e });
                    let exact = value(a) + value(b);
                    let nearest = format.decode(format.nearest(&exact)).finite().cloned();
                    let of = |sum: Soft| Some(sum.rounded(format)).filter(|v| !matches!(v, Infinite { .. })).map(value);
                    assert_eq!([of(a.plus(b)), of(b.plus(a))], [nearest.clone(), nearest], "{format:?} {a:?} {n} {e}");
                }
            }
        }
    }

    #[test]
    fn an_infinity_is_beyond_all_integers_on_its_side() {
        let number = |v: Soft| v.to_integer(TiesEven).number();
        assert_eq!([true, false].map(|negative| number(Infinite { negative })), [-HUGE, HUGE]);
        assert_eq!([-5, 5].map(|n| number(Number { n, e: 300 })), [-HUGE, HUGE]);
        assert_eq!([-5, 5].map(|n| number(Number { n, e: -1 })), [-2, 2]);
    }
}

//! The IEEE 754 float formats of expressed values, on exact rationals: the value of a bit pattern, and the
//! pattern that a real number rounds to. Source: IEEE 754-2019, 3.4 (binary interchange formats), 4.3 (rounding), 7.4 (overflow);
//! bf16 is the upper half of an f32.

use crate::names::{UnknownName, unknown};
use crate::rounding::RoundingRule;
use rug::{Integer, Rational};
use serde::Serialize;

/// A binary float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// binary32.
    F32,
    /// binary64.
    F64,
}

/// The meaning of a bit pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Float {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinite {
        /// Its sign bit.
        negative: bool,
    },
    /// A number.
    Finite {
        /// Its exact value.
        value: Rational,
        /// Its sign bit, which tells -0 from +0.
        negative: bool,
    },
}

impl Float {
    /// The exact value of a number.
    pub fn finite(&self) -> Option<&Rational> {
        match self {
            Self::Finite { value, .. } => Some(value),
            Self::Nan | Self::Infinite { .. } => None,
        }
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::F16, Self::Bf16, Self::F32, Self::F64];

    /// MLIR's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The format of that name.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        let known = Self::ALL.into_iter().find(|f| f.name() == name);
        known.ok_or_else(|| unknown("float format", name, Self::ALL.map(Self::name)))
    }

    /// Width of a pattern in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// Significant bits of a normal number, the hidden one among them.
    pub fn precision(self) -> u32 {
        match self {
            Self::F16 => 11,
            Self::Bf16 => 8,
            Self::F32 => 24,
            Self::F64 => 53,
        }
    }

    /// Exponent of the least positive number, which is also the spacing of subnormal numbers.
    pub fn least_exponent(self) -> i32 {
        match self {
            Self::F16 => -24,
            Self::Bf16 => -133,
            Self::F32 => -149,
            Self::F64 => -1074,
        }
    }

    /// The pattern of +infinity: above those of all positive numbers, below those of the positive NaNs.
    pub fn infinity(self) -> u64 {
        (1 << (self.bits() - 1)) - (1 << (self.precision() - 1))
    }

    /// The pattern of the largest number.
    pub fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// The number from which on a float is infinite: the largest one and half of the spacing above it.
    pub fn infinite_from(self) -> Rational {
        let [below, largest] =
            [1, 0].map(|less| self.decode(self.largest() - less).finite().cloned().unwrap_or_default());
        largest.clone() + (largest - below) / 2
    }

    /// The pattern of the positive quiet NaN without payload, which stands for all NaNs.
    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.precision() - 2)
    }

    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Sign bit, and the pattern without it. Bits above the format's are ignored.
    pub(crate) fn split(self, bits: u64) -> (bool, u64) {
        (bits & self.sign() != 0, bits & (self.sign() - 1))
    }

    /// `n` and `e` with `n * 2^e` the magnitude of the number whose pattern without sign is `magnitude`.
    pub(crate) fn significand(self, magnitude: u64) -> (u64, i32) {
        let hidden = 1 << (self.precision() - 1);
        match magnitude / hidden {
            0 => (magnitude, self.least_exponent()),
            biased => (magnitude % hidden + hidden, biased as i32 - 1 + self.least_exponent()),
        }
    }

    /// The meaning of a pattern.
    pub fn decode(self, bits: u64) -> Float {
        let (negative, magnitude) = self.split(bits);
        if magnitude > self.infinity() {
            return Float::Nan;
        }
        if magnitude == self.infinity() {
            return Float::Infinite { negative };
        }
        let (n, e) = self.significand(magnitude);
        let value = Rational::from(n) << e;
        Float::Finite { value: if negative { -value } else { value }, negative }
    }

    /// The pattern of `value` correctly rounded. Subnormal numbers are kept. A value that overflows becomes an infinity, or the largest
    /// number where a directed rule says so; negative values keep their sign where they become 0, and 0 is +0.
    pub fn round(self, value: &Rational, rule: RoundingRule) -> u64 {
        let negative = *value < 0;
        let spacing = self.spacing(value);
        let n = Integer::from(rule.round(&(value.clone() >> spacing)).abs_ref());
        // A carry out of the significand is a carry into the exponent.
        let binade = u64::from(spacing.abs_diff(self.least_exponent())) << (self.precision() - 1);
        let magnitude = n.to_u64().and_then(|n| binade.checked_add(n)).filter(|m| *m < self.infinity());
        let inwards = match rule {
            RoundingRule::TowardZero => true,
            RoundingRule::TowardNegative => !negative,
            RoundingRule::TowardPositive => negative,
            _ => false,
        };
        let magnitude = magnitude.unwrap_or(if inwards { self.largest() } else { self.infinity() });
        magnitude | if negative { self.sign() } else { 0 }
    }

    /// Exponent of the distance between neighbours around `value`, were the exponents of numbers unbounded above; where they
    /// are bounded, and the value is beyond, the exponent after the last one.
    fn spacing(self, value: &Rational) -> i32 {
        if *value == 0 {
            return self.least_exponent();
        }
        let (numer, denom) = (value.numer().significant_bits(), value.denom().significant_bits());
        // `2^(guess - 1) < |value| < 2^(guess + 1)`.
        let guess = i64::from(numer) - i64::from(denom);
        let behind_last = (self.infinity() >> (self.precision() - 1)) as i64 + i64::from(self.least_exponent());
        let guess = guess.min(behind_last + i64::from(self.precision())) as i32;
        let (above, below) = (guess.max(0).unsigned_abs(), guess.min(0).unsigned_abs());
        let reached = Integer::from(value.numer() << below).cmp_abs(&Integer::from(value.denom() << above)).is_ge();
        let exponent = if reached { guess } else { guess - 1 };
        (exponent - (self.precision() as i32 - 1)).max(self.least_exponent())
    }

    /// [`Format::round`] to nearest, ties to even, which is the default of every operation of a format.
    pub fn nearest(self, value: &Rational) -> u64 {
        self.round(value, RoundingRule::TiesEven)
    }

    /// [`Format::nearest`] of a double, by integers; `None` for an infinity or NaN.
    pub fn nearest_to(self, double: f64) -> Option<u64> {
        let (negative, magnitude) = Self::F64.split(double.to_bits());
        if magnitude >= Self::F64.infinity() {
            return None;
        }
        let (n, exponent) = Self::F64.significand(magnitude);
        if n == 0 {
            return Some(0);
        }
        let leading = exponent + n.ilog2() as i32;
        let spacing = (leading + 1 - self.precision() as i32).max(self.least_exponent());
        // A double has at least the digits of the format, and its numbers go at least as far down.
        let shift = (spacing - exponent).unsigned_abs();
        let (kept, rest) = match shift {
            0..64 => (n >> shift, n - (n >> shift << shift)),
            _ => (0, 0),
        };
        let half = if (1..64).contains(&shift) { 1 << (shift - 1) } else { u64::MAX };
        let n = kept + u64::from(rest > half || rest == half && kept % 2 == 1);
        // A carry out of the significand is a carry into the exponent.
        let binade = u64::from(spacing.abs_diff(self.least_exponent())) << (self.precision() - 1);
        let magnitude = (binade + n).min(self.infinity());
        Some(magnitude | if negative { self.sign() } else { 0 })
    }

    /// The patterns of `value` rounded to nearest, whatever becomes of ties: the lower and the upper neighbour where it is exactly between two, and
    /// the same one twice elsewhere. Beyond the largest number an infinity stands for the next one.
    pub fn nearest_either_way(self, value: &Rational) -> [u64; 2] {
        [RoundingRule::TiesDown, RoundingRule::TiesUp].map(|rule| self.round(value, rule))
    }

    /// Position of a pattern in the order of values, -0 just under +0, infinities at the ends, consecutive integers. Nothing
    /// for NaN.
    pub fn key(self, bits: u64) -> Option<i64> {
        let (negative, magnitude) = self.split(bits);
        let key = magnitude as i64;
        (magnitude <= self.infinity()).then_some(if negative { -key - 1 } else { key })
    }

    /// The pattern at a position that [`Format::key`] gives.
    pub fn from_key(self, key: i64) -> u64 {
        if key < 0 { (-(key + 1)) as u64 | self.sign() } else { key as u64 }
    }

    /// Patterns that are not NaN.
    pub fn numbers(self) -> u128 {
        2 * (u128::from(self.infinity()) + 1)
    }

    /// The decimal `text` (`0.3`, `-1e-5`) rounded as MLIR does: to f64 first, then to the format, ties to even both times.
    /// Nothing when it is no decimal, or beyond f64's range.
    pub fn from_decimal(self, text: &str) -> Option<u64> {
        let double = Self::F64.nearest(&decimal(text)?);
        let Float::Finite { value, .. } = Self::F64.decode(double) else { return None };
        Some(self.nearest(&value))
    }
}

/// The exact value of a decimal: `digits[.digits][e[+-]digits]`, with a sign. `None` if it is not one, or where its
/// exponent is beyond ±9999.
pub fn decimal(text: &str) -> Option<Rational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok().filter(|e| e.abs() <= 9999)?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || digits.len() > 9999 {
        return None;
    }
    let power = exponent - fraction.len() as i32;
    let ten = Integer::from(Integer::u_pow_u(10, power.unsigned_abs()));
    let value = Rational::from(Integer::from_str_radix(&digits, 10).ok()?);
    let value = if power < 0 { value / ten } else { value * ten };
    Some(if negative { -value } else { value })
}

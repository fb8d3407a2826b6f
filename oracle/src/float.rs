//! IEEE 754 float formats of expressed values, on exact rationals: the value of a bit pattern, and the
//! pattern to which a real number rounds. Source: IEEE 754-2019, 3.4 (binary interchange formats), 4.3 (rounding), 7.4 (overflow);
//! bf16 is the upper half of an f32.

use crate::names::{UnknownName, unknown};
use crate::rounding::RoundingRule;
use rug::{Integer, Rational};
use serde::Serialize;

/// Binary float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// binary16.
    F16,
    /// Upper half of a binary32.
    Bf16,
    /// binary32.
    F32,
    /// binary64.
    F64,
}

/// Meaning of a bit pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Float {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinite {
        /// Sign bit.
        negative: bool,
    },
    /// Number.
    Finite {
        /// Exact value.
        value: Rational,
        /// Sign bit, which distinguishes -0 from +0.
        negative: bool,
    },
}

impl Float {
    /// Returns the exact value of a number; `None` for an infinity or NaN.
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

    /// Returns MLIR's name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Finds the format with that name.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        let known = Self::ALL.into_iter().find(|f| f.name() == name);
        known.ok_or_else(|| unknown("float format", name, Self::ALL.map(Self::name)))
    }

    /// Returns the width of a pattern in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// Returns the number of significant bits of a normal number, including the hidden bit.
    pub fn precision(self) -> u32 {
        match self {
            Self::F16 => 11,
            Self::Bf16 => 8,
            Self::F32 => 24,
            Self::F64 => 53,
        }
    }

    /// Returns the exponent of the smallest positive number, which is also the spacing of subnormal numbers.
    pub fn least_exponent(self) -> i32 {
        match self {
            Self::F16 => -24,
            Self::Bf16 => -133,
            Self::F32 => -149,
            Self::F64 => -1074,
        }
    }

    /// Returns the pattern of +infinity, above all positive numbers and below the positive NaNs.
    pub fn infinity(self) -> u64 {
        (1 << (self.bits() - 1)) - (1 << (self.precision() - 1))
    }

    /// Returns the pattern of the largest number.
    pub fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// Returns the least number that rounds to infinity: the largest number plus half of the spacing above.
    pub fn infinite_from(self) -> Rational {
        let [below, largest] =
            [1, 0].map(|less| self.decode(self.largest() - less).finite().cloned().unwrap_or_default());
        largest.clone() + (largest - below) / 2
    }

    /// Returns the pattern of the positive quiet NaN without payload, used for all NaNs.
    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.precision() - 2)
    }

    /// Returns the sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Returns the sign bit, and the pattern without the sign. Bits above the format's width are ignored.
    pub(crate) fn split(self, bits: u64) -> (bool, u64) {
        (bits & self.sign() != 0, bits & (self.sign() - 1))
    }

    /// Returns `n` and `e`, with `n * 2^e` the magnitude of the number whose pattern without sign is `magnitude`.
    pub(crate) fn significand(self, magnitude: u64) -> (u64, i32) {
        let hidden = 1 << (self.precision() - 1);
        match magnitude / hidden {
            0 => (magnitude, self.least_exponent()),
            biased => (magnitude % hidden + hidden, biased as i32 - 1 + self.least_exponent()),
        }
    }

    /// Returns the meaning of a pattern.
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

    /// Returns the pattern of `value`, correctly rounded. Subnormal numbers are kept. A value that overflows becomes an infinity, or the largest
    /// number if a directed rule requires it. Negative values that become 0 keep their sign, and 0 is +0.
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

    /// Returns the exponent of the distance between neighbours around `value`, as if exponents were unbounded above. For a value beyond
    /// the last exponent, returns the exponent after it.
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

    /// Computes [`Format::round`] to nearest, ties to even, the default of every operation of a format.
    pub fn nearest(self, value: &Rational) -> u64 {
        self.round(value, RoundingRule::TiesEven)
    }

    /// Computes [`Format::nearest`] for a double, by integers; `None` for an infinity or NaN.
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
        // A double has at least the precision and the range of the format.
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

    /// Returns the patterns of `value` rounded to nearest, with ties in both directions: the lower and the upper neighbour of a tie, otherwise the
    /// same pattern twice. Beyond the largest number, the next neighbour is an infinity.
    pub fn nearest_either_way(self, value: &Rational) -> [u64; 2] {
        [RoundingRule::TiesDown, RoundingRule::TiesUp].map(|rule| self.round(value, rule))
    }

    /// Returns the position of a pattern in the order of values, as consecutive integers, with -0 just below +0 and infinities at the ends.
    /// `None` for NaN.
    pub fn key(self, bits: u64) -> Option<i64> {
        let (negative, magnitude) = self.split(bits);
        let key = magnitude as i64;
        (magnitude <= self.infinity()).then_some(if negative { -key - 1 } else { key })
    }

    /// Returns the pattern at a position given by [`Format::key`].
    pub fn from_key(self, key: i64) -> u64 {
        if key < 0 { (-(key + 1)) as u64 | self.sign() } else { key as u64 }
    }

    /// Returns the number of patterns that are not NaN.
    pub fn numbers(self) -> u128 {
        2 * (u128::from(self.infinity()) + 1)
    }

    /// Rounds the decimal `text` (`0.3`, `-1e-5`) like MLIR: first to f64, then to the format, ties to even both times.
    /// `None` if `text` is not a decimal, or is beyond f64's range.
    pub fn from_decimal(self, text: &str) -> Option<u64> {
        let double = Self::F64.nearest(&decimal(text)?);
        let Float::Finite { value, .. } = Self::F64.decode(double) else { return None };
        Some(self.nearest(&value))
    }
}

/// Parses a decimal exactly: `digits[.digits][e[+-]digits]`, with a sign. `None` if the text is not a decimal, or its
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

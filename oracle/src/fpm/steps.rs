//! Steps of schemes: exact and named. A scheme is a list of steps, each from one exact value to the next
//! exact value, so that every intermediate of a shipped sequence can be shown. Executed here on big rationals.

use super::Parameters;
use crate::float::Format;
use crate::rounding::RoundingRule;
use crate::word::{Overflow, Word};
use rug::{Integer, Rational};
use std::fmt;

/// Power of two that depends on the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exponent {
    /// `max(s, 0)`: the left part of the shift.
    Left,
    /// `min(s, 0)`: the right part of the shift.
    Right,
    /// `min(s, -1)`: the right part, at least one place.
    RightAtLeastOne,
    /// `s - min(s, -1)`: the rest of the shift after at least one place to the right.
    LeftOfRightAtLeastOne,
    /// `s - Q`: the whole scaling.
    Whole,
    /// `s - Q + 1`: all but the last place.
    WholeButOne,
    /// `-Q`: the multiplier's fraction.
    Fraction,
    /// `s - (Q - 16)`: the whole scaling when the multiplier has lost its low sixteen bits.
    WholeHighHalf,
    /// `min(s, 0) - Q`: the right part of the shift with the multiplier's fraction.
    RightAndFraction,
    /// `Q - s`: the width that TOSA requires of the value.
    TotalRight,
    /// A constant.
    Constant(i32),
}

impl Exponent {
    /// Returns the exponent for these parameters.
    pub fn at(self, p: &Parameters) -> i32 {
        let q = p.q as i32;
        match self {
            Self::Left => p.s.max(0),
            Self::Right => p.s.min(0),
            Self::RightAtLeastOne => p.s.min(-1),
            Self::LeftOfRightAtLeastOne => p.s - p.s.min(-1),
            Self::Whole => p.s - q,
            Self::WholeButOne => p.s - q + 1,
            Self::Fraction => -q,
            Self::WholeHighHalf => p.s - (q - 16),
            Self::RightAndFraction => p.s.min(0) - q,
            Self::TotalRight => q - p.s,
            Self::Constant(n) => n,
        }
    }
}

/// Multiplier of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Multiplier {
    /// Multiplier as given.
    Full,
    /// High half, rounded and saturated: `min((m + 2^15) >> 16, 0x7FFF)`.
    HighHalfSaturated,
    /// High half, with a rounding addition that wraps: `w32(m + 2^15) >> 16`.
    HighHalfWrapped,
    /// Multiplier rounded to a 24-bit significand (a float32), ties to even.
    Significand24,
}

/// Exact step. `v` is the value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `v * 2^e`, exact.
    Scale(Exponent),
    /// `v * m`, exact.
    Multiply(Multiplier),
    /// `v` rounded to an integer.
    Round(RoundingRule),
    /// `v` modulo the word.
    Wrap,
    /// `v` clamped to the word.
    Saturate,
    /// `v` rounded to the nearest f32, ties to even.
    F32,
    /// `v + n`, a rounding constant.
    Add(i64),
    /// `v + n`, a bias or a zero point: part of the exact value, not a rounding.
    Offset(i64),
    /// `v - 1` if `v < 0` and `s < 0`, so that a following ties-up right shift breaks ties away from zero.
    FixupNegative,
    /// `v + (v & -s)` if `s < 0`, in the word: the fixup without the `>> 31` that reduces the mask to a sign.
    FixupMasked,
    /// `v + 2^(Q-1)` if `v >= 0`, `v - 2^(Q-1)` if `v < 0`, both only if `s < 0`: TOSA's double rounding.
    NudgeAwayFromZero,
    /// `v + 2^(Q-1)` if `v >= 0`, `v + 1 - 2^(Q-1)` if `v < 0`: SRDHM's nudge before a truncating division.
    NudgeBySign,
    /// `w(v + 2^((k-1) mod 32)) >> k` with `2^-k` the whole scaling by a multiplier that is a power of two: a
    /// shift instead of the multiply, always in the word. No value for another multiplier, or `k` outside 0..=31.
    PowerOfTwoShift,
    /// No value unless `v` is in `[-2^(e-1), 2^(e-1))`.
    RequireBits(Exponent),
    /// No value unless `m >= 0`.
    RequireNonNegativeMultiplier,
    /// `v` clamped to `min..=max`: the last step of a requantization.
    Clamp(i64, i64),
}

/// Returns the multiplier that [`Step::Multiply`] uses.
pub fn effective_multiplier(kind: Multiplier, p: &Parameters) -> Integer {
    let m = Integer::from(p.m);
    match kind {
        Multiplier::Full => m,
        Multiplier::HighHalfSaturated => {
            RoundingRule::TiesUp.round(&(Rational::from(m) >> 16u32)).min(Integer::from(0x7FFF))
        }
        Multiplier::HighHalfWrapped => {
            let biased = p.word.wrap_exact(&(m + (1 << 15)));
            RoundingRule::TowardNegative.round(&(Rational::from(biased) >> 16u32))
        }
        Multiplier::Significand24 => {
            let excess = m.significant_bits().saturating_sub(24);
            RoundingRule::TiesEven.round(&(Rational::from(m) >> excess)) << excess
        }
    }
}

/// Returns `k` if the whole scaling is by `2^-k`, with `k` in 0..=31.
pub fn power_of_two_shift(p: &Parameters) -> Option<u32> {
    let power = (p.m > 0 && p.m & (p.m - 1) == 0).then(|| p.m.trailing_zeros() as i32)?;
    u32::try_from(p.q as i32 - p.s - power).ok().filter(|k| *k < 32)
}

impl Step {
    /// Returns the policy for results that do not fit in `word`, as a step.
    pub fn fitting(overflow: Overflow, word: Word) -> Self {
        match overflow {
            Overflow::Wrap => Self::Wrap,
            Overflow::Saturate => Self::Saturate,
            Overflow::OutOfDomain => Self::RequireBits(Exponent::Constant(word.bits as i32)),
        }
    }

    /// Computes the next exact value; `None` if the step makes the input out of domain.
    pub fn apply(self, v: Rational, p: &Parameters) -> Option<Rational> {
        let in_integers = |v: Rational, f: &dyn Fn(&Integer) -> Integer| {
            assert!(v.is_integer(), "a scheme applies {self:?} to the fraction {v}");
            Rational::from(f(v.numer()))
        };
        Some(match self {
            Self::Scale(e) => v << e.at(p),
            Self::Multiply(kind) => v * effective_multiplier(kind, p),
            Self::Round(rule) => Rational::from(rule.round(&v)),
            Self::Wrap => in_integers(v, &|v| p.word.wrap_exact(v)),
            Self::Saturate => in_integers(v, &|v| p.word.saturate_exact(v)),
            Self::F32 => Format::F32.decode(Format::F32.nearest(&v)).finite()?.clone(),
            Self::Add(n) | Self::Offset(n) => v + n,
            Self::FixupNegative if p.s < 0 && v < 0 => v - 1,
            Self::FixupNegative => v,
            Self::FixupMasked if p.s < 0 => in_integers(v, &|v| p.word.wrap_exact(&(v + Integer::from(v & -p.s)))),
            Self::FixupMasked => v,
            Self::NudgeAwayFromZero if p.s < 0 => {
                let nudge = Integer::from(p.half());
                if v < 0 { v - nudge } else { v + nudge }
            }
            Self::NudgeAwayFromZero => v,
            Self::NudgeBySign if v < 0 => v + (1 - p.half()).min(0),
            Self::NudgeBySign => v + p.half(),
            Self::PowerOfTwoShift => {
                let k = power_of_two_shift(p)?;
                let biased = in_integers(v, &|v| p.word.wrap_exact(&(v + (Integer::from(1) << ((k + 31) % 32)))));
                Rational::from(RoundingRule::TowardNegative.round(&(biased >> k)))
            }
            Self::RequireBits(e) if e.at(p) < 1 => return None,
            Self::RequireBits(e) => {
                let half = Rational::from(1) << (e.at(p) - 1);
                (v < half && v >= -half.clone()).then_some(v)?
            }
            Self::RequireNonNegativeMultiplier => (p.m >= 0).then_some(v)?,
            Self::Clamp(min, max) => in_integers(v, &|v| v.clone().clamp(&min, &max)),
        })
    }
}

/// Writes the power of two as in formulas: `2^min(s,0)`.
impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("2^max(s,0)"),
            Self::Right => f.write_str("2^min(s,0)"),
            Self::RightAtLeastOne => f.write_str("2^min(s,-1)"),
            Self::LeftOfRightAtLeastOne => f.write_str("2^(s-min(s,-1))"),
            Self::Whole => f.write_str("2^(s-Q)"),
            Self::WholeButOne => f.write_str("2^(s-Q+1)"),
            Self::Fraction => f.write_str("2^-Q"),
            Self::WholeHighHalf => f.write_str("2^(s-Q+16)"),
            Self::RightAndFraction => f.write_str("2^(min(s,0)-Q)"),
            Self::TotalRight => f.write_str("2^(Q-s)"),
            Self::Constant(n) => write!(f, "2^{n}"),
        }
    }
}

/// Describes a step, for step lists without names.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(e) => write!(f, "scale by {e}"),
            Self::Multiply(Multiplier::Full) => f.write_str("product x*m"),
            Self::Multiply(Multiplier::HighHalfSaturated) => f.write_str("product with the high half of m, saturated"),
            Self::Multiply(Multiplier::HighHalfWrapped) => f.write_str("product with the high half of m, wrapped"),
            Self::Multiply(Multiplier::Significand24) => f.write_str("product with 24 bits of m"),
            Self::Round(rule) => write!(f, "round ({})", rule.name()),
            Self::Wrap => f.write_str("wrap"),
            Self::Saturate => f.write_str("saturate"),
            Self::F32 => f.write_str("round to f32"),
            Self::Add(n) | Self::Offset(n) => write!(f, "add {n}"),
            Self::FixupNegative => f.write_str("fixup: one less where negative"),
            Self::FixupMasked => f.write_str("fixup masked, not reduced to a sign"),
            Self::NudgeAwayFromZero => f.write_str("nudge by 2^(Q-1) away from zero"),
            Self::NudgeBySign => f.write_str("nudge by 2^(Q-1) or 1-2^(Q-1), by sign"),
            Self::PowerOfTwoShift => f.write_str("rounding shift in place of the product"),
            Self::RequireBits(e) => write!(f, "require the value in the bits of {e}"),
            Self::RequireNonNegativeMultiplier => f.write_str("require multiplier >= 0"),
            Self::Clamp(min, max) => write!(f, "clamp to {min}..={max}"),
        }
    }
}

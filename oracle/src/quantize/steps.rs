//! Steps of quantize schemes, exact and named, on rationals. Each step converts one exact value to the next. A
//! rounding is a separate step, so that a trace shows the values before and after it.

use super::{Quantization, Storage, Stored};
use crate::float::{Float, Format};
use crate::rounding::RoundingRule;
use crate::word::Overflow;
use rug::{Integer, Rational};

/// Intermediate value. The sign of zero is dropped, because no later step depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Number.
    Number(Rational),
    /// Infinity.
    Infinite {
        /// True for -infinity.
        negative: bool,
    },
    /// Not a number.
    Nan,
}

impl Value {
    pub(crate) fn of(format: Format, bits: u64) -> Self {
        match format.decode(bits) {
            Float::Nan => Self::Nan,
            Float::Infinite { negative } => Self::Infinite { negative },
            Float::Finite { value, .. } => Self::Number(value),
        }
    }

    /// Returns the pattern of a value of the format; 0 is +0.
    pub(crate) fn pattern(&self, format: Format) -> u64 {
        match self {
            Self::Number(v) => format.nearest(v),
            Self::Infinite { negative } => format.infinity() | if *negative { format.sign() } else { 0 },
            Self::Nan => format.nan(),
        }
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Number(v) => Self::Number(-v),
            Self::Infinite { negative } => Self::Infinite { negative: !negative },
            Self::Nan => Self::Nan,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a + b),
            (Self::Infinite { negative: a }, Self::Infinite { negative: b }) if a != b => Self::Nan,
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (infinite @ Self::Infinite { .. }, _) | (_, infinite) => infinite,
        }
    }

    pub(crate) fn times(self, other: &Self) -> Self {
        let negative = |v: &Self| match v {
            Self::Number(v) => *v < 0,
            Self::Infinite { negative } => *negative,
            Self::Nan => false,
        };
        let zero = |v: &Self| matches!(v, Self::Number(v) if *v == 0);
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a * b),
            (a, b) if a == Self::Nan || *b == Self::Nan || zero(&a) || zero(b) => Self::Nan,
            (a, b) => Self::Infinite { negative: negative(&a) != negative(b) },
        }
    }

    fn map(self, f: impl FnOnce(Rational) -> Rational) -> Self {
        match self {
            Self::Number(v) => Self::Number(f(v)),
            other => other,
        }
    }

    fn rounded(self, format: Format) -> Self {
        match self {
            Self::Number(v) => Self::of(format, format.nearest(&v)),
            other => other,
        }
    }

    fn clamp(self, min: Rational, max: Rational) -> Self {
        match self {
            Self::Number(v) => Self::Number(v.clamp(&min, &max)),
            Self::Infinite { negative } => Self::Number(if negative { min } else { max }),
            Self::Nan => Self::Nan,
        }
    }
}

/// Term of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addend {
    /// Zero point.
    ZeroPoint,
    /// Zero point rounded to the expressed type.
    ZeroPointRounded,
    /// Constant.
    Constant(i64),
}

/// Result for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// No value, because the conversion to an integer is undefined.
    Poison,
    /// 0.
    Zero,
    /// Least value that the following clamp does not change.
    Lowest,
    /// Greatest stored value.
    Greatest,
}

/// Exact step. `v` is the value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `v / scale`.
    Divide,
    /// `v * r`, with `r` being `1 / scale` rounded to the expressed type.
    MultiplyByReciprocal,
    /// `v + a`.
    Add(Addend),
    /// `v` rounded to the expressed type, ties to even.
    RoundToFormat,
    /// `v` rounded to another format, ties to even.
    RoundTo(Format),
    /// `v` rounded to an integer. Infinities are unchanged.
    RoundToInteger(RoundingRule),
    /// `v` rounded to an integer of the storage type. Values outside the type, infinities and NaN are poison. Policy `saturate`: the
    /// nearest integer, and 0 for NaN. Policy `wrap`: the low bits, and poison for infinities and NaN.
    Convert(RoundingRule),
    /// Policy for NaN.
    Nan(Nan),
    /// `v` clamped to the signed word of this many bits.
    Saturate(u32),
    /// Low bits of an integer `v`, as a signed word of this many bits. Infinities and NaN are poison.
    Wrap(u32),
    /// `v` unchanged; poison outside the signed word of this many bits, and for infinities and NaN.
    RequireBits(u32),
    /// `v` clamped to `min - zero_point ..= max - zero_point`, both rounded to the expressed type.
    ClampBeforeZeroPoint,
    /// `v` clamped to `min..=max`.
    Clamp,
}

/// Runs a list of named steps on one float, and returns each name with the exact value after it, and the result. Accepts schemes and
/// changed schemes; the last step apart from policies for NaN must be a clamp or a conversion.
pub fn run(
    steps: &[(&'static str, Step)],
    overflow: Overflow,
    q: &Quantization,
    bits: u64,
) -> (Vec<(&'static str, Value)>, Stored) {
    let mut value = Value::of(q.format, bits);
    let mut after = Vec::with_capacity(steps.len());
    for (name, step) in steps {
        match step.apply(value, overflow, q) {
            Ok(next) => value = next,
            Err(result) => return (after, result),
        }
        after.push((*name, value.clone()));
    }
    (after, Stored::of(&value))
}

impl Stored {
    /// Converts the value after the last step to a stored value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Number(v) if v.is_integer() => v.numer().to_i64().map_or(Self::Unspecified, Self::Value),
            _ => Self::Unspecified,
        }
    }
}

/// Rounds a value to a format, and returns both neighbours of a tie.
pub(crate) fn either_way(format: Format, value: &Rational) -> Vec<Value> {
    let mut patterns = format.nearest_either_way(value).to_vec();
    patterns.dedup();
    patterns.into_iter().map(|bits| Value::of(format, bits)).collect()
}

/// Returns the bounds that [`Step::ClampBeforeZeroPoint`] uses, as patterns.
pub(crate) fn bounds_before_zero_point(q: &Quantization) -> [u64; 2] {
    [q.min, q.max].map(|bound| q.format.nearest(&Rational::from(bound - q.zero_point)))
}

/// Returns the reciprocal that [`Step::MultiplyByReciprocal`] uses, as a pattern.
pub fn reciprocal(q: &Quantization) -> u64 {
    q.format.nearest(&q.exact_scale().recip())
}

impl Step {
    /// Computes the next value; the error is the result if this step ends the scheme without a value.
    pub fn apply(self, v: Value, overflow: Overflow, q: &Quantization) -> Result<Value, Stored> {
        let zero_point = Rational::from(q.zero_point);
        Ok(match self {
            Self::Divide => v.times(&Value::Number(q.exact_scale().recip())),
            Self::MultiplyByReciprocal => v.times(&Value::of(q.format, reciprocal(q))),
            Self::Add(Addend::ZeroPoint) => v.plus(Value::Number(zero_point)),
            Self::Add(Addend::ZeroPointRounded) => v.plus(Value::of(q.format, q.format.nearest(&zero_point))),
            Self::Add(Addend::Constant(c)) => v.plus(Value::Number(c.into())),
            Self::RoundToFormat => v.rounded(q.format),
            Self::RoundTo(format) => v.rounded(format),
            Self::RoundToInteger(rule) => v.map(|v| rule.round(&v).into()),
            Self::Convert(rule) => convert(v.map(|v| rule.round(&v).into()), overflow, q)?,
            Self::Nan(policy) if v == Value::Nan => match policy {
                Nan::Poison => return Err(Stored::Poison),
                Nan::Zero => Value::Number(Rational::new()),
                Nan::Greatest => Value::Number(q.max.into()),
                Nan::Lowest => Value::of(q.format, bounds_before_zero_point(q)[0]),
            },
            Self::Nan(_) => v,
            Self::Saturate(bits) => {
                let (min, max) = word(bits);
                v.clamp(min.into(), max.into())
            }
            Self::Wrap(bits) => match v {
                Value::Number(v) => Value::Number(low_bits(v.numer(), Storage { bits, signed: true }).into()),
                Value::Infinite { .. } | Value::Nan => return Err(Stored::Poison),
            },
            Self::RequireBits(bits) => match (v, word(bits)) {
                (Value::Number(v), (min, max)) if v >= min && v <= max => Value::Number(v),
                _ => return Err(Stored::Poison),
            },
            Self::ClampBeforeZeroPoint => match bounds_before_zero_point(q).map(|b| Value::of(q.format, b)) {
                [Value::Number(min), Value::Number(max)] => v.clamp(min, max),
                _ => return Err(Stored::Unspecified),
            },
            Self::Clamp => v.clamp(q.min.into(), q.max.into()),
        })
    }
}

/// Converts an integer, infinity or NaN to the storage type.
fn convert(v: Value, overflow: Overflow, q: &Quantization) -> Result<Value, Stored> {
    let (min, max) = (Rational::from(q.storage.min()), Rational::from(q.storage.max()));
    match (overflow, v) {
        (_, Value::Number(v)) if v >= min && v <= max => Ok(Value::Number(v)),
        (Overflow::Saturate, Value::Nan) => Ok(Value::Number(Rational::new())),
        (Overflow::Saturate, v) => Ok(v.clamp(min, max)),
        (Overflow::Wrap, Value::Number(v)) => Ok(Value::Number(low_bits(v.numer(), q.storage).into())),
        _ => Err(Stored::Poison),
    }
}

/// Returns the ends of the signed word of this many bits.
pub(super) fn word(bits: u32) -> (i64, i64) {
    let word = Storage { bits, signed: true };
    (word.min(), word.max())
}

/// Returns the value of an integer's low bits.
fn low_bits(v: &Integer, storage: Storage) -> i64 {
    let low = Integer::from(v.keep_bits_ref(storage.bits));
    storage.wrap(low.to_i64().expect("at most 32 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_that_ends_beside_the_integers_has_no_result() {
        let of = |numer: i64, denom: i64| Stored::of(&Value::Number((numer, denom).into()));
        assert_eq!([of(6, 2), of(-7, 1)], [Stored::Value(3), Stored::Value(-7)]);
        assert_eq!(of(1, 2), Stored::Unspecified);
        let beyond = Value::Number(Rational::from(1) << 63);
        assert_eq!([&beyond, &Value::Nan].map(Stored::of), [Stored::Unspecified; 2]);
    }

    #[test]
    fn saturation_ends_at_both_ends_of_its_width() {
        let q = Quantization::whole(Format::F32, 1, 0, Storage { bits: 32, signed: true });
        let saturated = |bits, v: i64| Step::Saturate(bits).apply(Value::Number(v.into()), Overflow::Wrap, &q);
        for (bits, v, result) in [
            (8, -1000, -128),
            (8, -128, -128),
            (8, 127, 127),
            (8, 128, 127),
            (32, 1 << 31, i64::from(i32::MAX)),
            (32, -(1 << 40), i64::from(i32::MIN)),
        ] {
            assert_eq!(saturated(bits, v), Ok(Value::Number(result.into())), "{v} in {bits} bits");
        }
    }

    #[test]
    fn a_word_wraps_or_has_no_value_from_its_ends_on() {
        let q = Quantization::whole(Format::F32, 1, 0, Storage { bits: 8, signed: true });
        let applied = |step: Step, v: Value| step.apply(v, Overflow::OutOfDomain, &q);
        let number = |v: i64| Value::Number(v.into());
        for (v, low) in
            [(1 << 31, -(1 << 31)), (-(1 << 31) - 1, (1 << 31) - 1), ((1 << 33) + 5, 5), (-7, -7), (i64::MAX, -1)]
        {
            assert_eq!(applied(Step::Wrap(32), number(v)), Ok(number(low)), "{v}");
            let fits = v == low;
            let required = if fits { Ok(number(v)) } else { Err(Stored::Poison) };
            assert_eq!(applied(Step::RequireBits(32), number(v)), required, "{v}");
        }
        for end in [-(1 << 31), (1 << 31) - 1] {
            assert_eq!(applied(Step::RequireBits(32), number(end)), Ok(number(end)));
        }
        for none in [Value::Nan, Value::Infinite { negative: true }, Value::Infinite { negative: false }] {
            for step in [Step::Wrap(32), Step::RequireBits(32)] {
                assert_eq!(applied(step, none.clone()), Err(Stored::Poison), "{none:?}");
            }
        }
    }

    #[test]
    fn a_value_rounds_to_another_format_than_its_own() {
        let q = Quantization::whole(Format::F32, 1, 0, Storage { bits: 8, signed: true });
        let third = || Value::Number((1, 3).into());
        let rounded = |step: Step| step.apply(third(), Overflow::OutOfDomain, &q);
        assert_eq!(rounded(Step::RoundTo(Format::F32)), rounded(Step::RoundToFormat));
        let double = Value::Number(Rational::from_f64(1.0 / 3.0).expect("a number"));
        assert_eq!(rounded(Step::RoundTo(Format::F64)), Ok(double));
    }
}

//! Encoding of tensor elements in int32 words, and their text in a case: integers, or floats by their bits.

use crate::operation::errors::CaseError;
use std::ops::RangeInclusive;
use tiebreak_oracle::float::{Float, Format, decimal};
use tiebreak_reports::ledger::Value;

/// Type of the elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// Integers of a range, in single words. If the range exceeds int32, words are read as unsigned.
    Integer(RangeInclusive<i64>),
    /// Floats, by their bits. A float of 64 bits has two words, the low word first.
    Float(Format),
}

impl Element {
    /// Returns the number of int32 words of an element.
    pub fn words(&self) -> usize {
        match self {
            Self::Float(Format::F64) => 2,
            Self::Integer(_) | Self::Float(_) => 1,
        }
    }

    /// Clamps a word to the range of the element type. Floats, and integers read as unsigned, stay as they are.
    pub fn nearest(&self, word: i32) -> i32 {
        match self {
            Self::Integer(range) if *range.end() <= i64::from(i32::MAX) => {
                i64::from(word).clamp(*range.start(), *range.end()) as i32
            }
            Self::Integer(_) | Self::Float(_) => word,
        }
    }

    /// True if every word is an integer of the range.
    pub fn is_every_word(&self) -> bool {
        matches!(self, Self::Integer(range) if range.end() - range.start() == i64::from(u32::MAX))
    }

    /// Formats an element for readers.
    pub fn described(&self, words: &[i32]) -> Value {
        match self {
            Self::Integer(_) => self.place(words).into(),
            Self::Float(format) => Value::Text(float(*format, bits(words))),
        }
    }

    /// Parses a value into the words of an element. Fails for values outside the element type; the message describes the allowed values.
    pub fn read(&self, value: &Value) -> Result<Vec<i32>, CaseError> {
        match (self, value) {
            (Self::Integer(range), Value::Integer(v)) if range.contains(v) => Ok(self.at(*v)),
            (Self::Integer(range), Value::Integer(_)) => {
                Err(format!("must be in {}..={}", range.start(), range.end()).into())
            }
            (Self::Integer(_), Value::Text(text)) => Err(format!("`{text}` is not an integer").into()),
            (Self::Float(format), value) => {
                let text = value.to_string();
                let bits = float_bits(*format, &text).ok_or_else(|| {
                    format!(
                        "`{text}` is no {0}: write a decimal, inf, nan, or the bits such as {1:#x}",
                        format.name(),
                        format.infinity()
                    )
                })?;
                Ok(self.of(bits))
            }
        }
    }

    /// Returns the ordinal of an element: 0 for zero, plus or minus 1 for the next value of the type. For floats: the pattern without sign, negated
    /// for negative floats.
    pub fn place(&self, words: &[i32]) -> i64 {
        match self {
            Self::Integer(range) if *range.end() > i64::from(i32::MAX) => i64::from(words[0] as u32),
            Self::Integer(_) => words[0].into(),
            Self::Float(format) => {
                let magnitude = (bits(words) & (format.sign() - 1)) as i64;
                if bits(words) & format.sign() == 0 { magnitude } else { -magnitude }
            }
        }
    }

    /// Returns the element of an ordinal.
    pub fn at(&self, place: i64) -> Vec<i32> {
        match self {
            Self::Integer(_) => vec![place as i32],
            Self::Float(format) => {
                let sign = if place < 0 { format.sign() } else { 0 };
                self.of(place.unsigned_abs() | sign)
            }
        }
    }

    /// Returns the element nearest to zero.
    pub fn zero(&self) -> Vec<i32> {
        match self {
            Self::Integer(range) => self.at(0.clamp(*range.start(), *range.end())),
            Self::Float(_) => self.at(0),
        }
    }

    /// Splits a bit pattern into words.
    pub fn of(&self, bits: u64) -> Vec<i32> {
        [bits as i32, (bits >> 32) as i32][..self.words()].to_vec()
    }
}

/// Joins words into a bit pattern.
pub fn bits(words: &[i32]) -> u64 {
    words.iter().rev().fold(0, |bits, word| (bits << 32) | u64::from(*word as u32))
}

/// Formats a float: the shortest decimal that parses to the same pattern; `inf`, `-inf`; the bits of a NaN.
pub fn float(format: Format, bits: u64) -> String {
    let value = match format.decode(bits) {
        Float::Nan => return format!("{bits:#x}"),
        Float::Infinite { negative } => return if negative { "-inf" } else { "inf" }.to_owned(),
        Float::Finite { value, .. } if value == 0 => return if bits == 0 { "0" } else { "-0" }.to_owned(),
        // f64 represents every number of these formats.
        Float::Finite { value, .. } => value.to_f64(),
    };
    let reads_back = |text: &String| float_bits(format, text) == Some(bits);
    // The standard library knows how many digits tell a float from its neighbours, for its own two formats.
    let least = match format {
        Format::F32 => digits(&format!("{:e}", value as f32)),
        Format::F64 => digits(&format!("{value:e}")),
        Format::F16 | Format::Bf16 => 1,
    };
    let texts = (least - 1..17).map(|digits| format!("{value:.digits$e}"));
    let shortest = texts.into_iter().find(reads_back).unwrap_or_else(|| format!("{value:e}"));
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if (-7..17).contains(&exponent) => plain(mantissa, exponent),
        _ => shortest,
    }
}

/// Returns the number of digits before the exponent.
fn digits(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count()
}

/// Formats mantissa and exponent as a plain decimal: `-1.25` and 1 give `-12.5`.
fn plain(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent + 1;
    if point <= 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize));
    }
    let point = point as usize;
    match digits.len() {
        len if len <= point => format!("{sign}{digits}{}", "0".repeat(point - len)),
        _ => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
    }
}

/// Parses a float: the nearest pattern of a decimal, ties to even; the pattern of `inf`, `-inf`, `nan`; or bits after `0x`.
pub fn float_bits(format: Format, text: &str) -> Option<u64> {
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(hexadecimal, 16).ok()?;
        return (format.bits() == 64 || bits >> format.bits() == 0).then_some(bits);
    }
    let negative = text.starts_with('-');
    let sign = if negative { format.sign() } else { 0 };
    match text.trim_start_matches(['-', '+']) {
        "inf" => Some(format.infinity() | sign),
        "nan" => Some(format.nan() | sign),
        _ => Some(format.nearest(&decimal(text)?) | sign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_16_bits_is_read_as_it_is_told() {
        for format in [Format::F16, Format::Bf16] {
            for bits in 0..=0xffff {
                let text = float(format, bits);
                assert_eq!(float_bits(format, &text), Some(bits), "{} {text}", format.name());
            }
        }
    }

    #[test]
    fn floats_are_told_in_few_digits() {
        let f32 = |v: f32| float(Format::F32, v.to_bits().into());
        assert_eq!([0.3, -12.5, 1e30, 100.0, 1.5e-7].map(f32), ["0.3", "-12.5", "1e30", "100", "0.00000015"]);
        assert_eq!(
            [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN].map(f32),
            ["0", "-0", "inf", "-inf", "0x7fc00000"]
        );
        assert_eq!(float(Format::F64, 0.1f64.to_bits()), "0.1");
        assert_eq!(float(Format::F16, 1), "6e-8");
        assert_eq!(float_bits(Format::F32, "nan"), Some(0x7fc0_0000));
        assert_eq!(float_bits(Format::F16, "nan"), Some(0x7e00));
        assert_eq!(float_bits(Format::F16, "0x10000"), None);
        assert_eq!(float_bits(Format::F32, "1,5"), None);
    }

    #[test]
    fn places_are_patterns_with_a_sign() {
        for element in [Element::Float(Format::F16), Element::Float(Format::F64), Element::Integer(0..=4_294_967_295)] {
            for place in [0, 1, 31743, 4_294_967_295] {
                let place = if element == Element::Float(Format::F16) { place.min(31744) } else { place };
                assert_eq!(element.place(&element.at(place)), place, "{element:?}");
            }
        }
        let f64 = Element::Float(Format::F64);
        assert_eq!(f64.at(-1), [1, i32::MIN]);
        assert_eq!(f64.place(&[1, i32::MIN]), -1);
        assert_eq!(f64.described(&f64.of((-0.1f64).to_bits())), Value::Text("-0.1".to_owned()));
    }
}

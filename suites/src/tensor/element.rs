//! How the elements of a tensor lie in words of int32, and how they read in a case: integers, or floats by their bits.

use std::ops::RangeInclusive;
use tiebreak_reports::ledger::Value;

/// Elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// Integers of this range, one word each; what is beyond int32 is a word's bits without sign.
    Integer(RangeInclusive<i64>),
}

impl Element {
    /// Words of int32 that an element takes.
    pub fn words(&self) -> usize {
        match self {
            Self::Integer(_) => 1,
        }
    }

    /// An element as a reader has it.
    pub fn told(&self, words: &[i32]) -> Value {
        match self {
            Self::Integer(_) => self.place(words).into(),
        }
    }

    /// The words of what a reader wrote; or what it must be.
    pub fn read(&self, value: &Value) -> Result<Vec<i32>, String> {
        match self {
            Self::Integer(range) => match value {
                Value::Integer(v) if range.contains(v) => Ok(self.at(*v)),
                Value::Integer(_) => Err(format!("must be in {}..={}", range.start(), range.end())),
                Value::Text(text) => Err(format!("`{text}` is not an integer")),
            },
        }
    }

    /// Where an element stands: 0 for its zero, one more or less for the next value of the type.
    pub fn place(&self, words: &[i32]) -> i64 {
        match self {
            Self::Integer(range) if *range.end() > i64::from(i32::MAX) => i64::from(words[0] as u32),
            Self::Integer(_) => words[0].into(),
        }
    }

    /// The element at a place.
    pub fn at(&self, place: i64) -> Vec<i32> {
        match self {
            Self::Integer(_) => vec![place as i32],
        }
    }

    /// The element nearest to zero.
    pub fn zero(&self) -> Vec<i32> {
        match self {
            Self::Integer(range) => self.at(0.clamp(*range.start(), *range.end())),
        }
    }
}

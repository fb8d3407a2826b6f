//! A fuzzer's bytes as the numbers that cases are made of.

use super::within;
use arbitrary::Unstructured;
use std::ops::RangeInclusive;

/// Numbers taken one by one; after the end of the bytes each is the least.
pub struct Numbers<'a>(Unstructured<'a>);

impl<'a> Numbers<'a> {
    /// All of them.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// From 1 to `most`.
    pub fn size(&mut self, most: usize) -> usize {
        self.0.int_in_range(1..=most).unwrap_or(1)
    }

    /// One of several, which are not none.
    pub fn one_of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        self.0.choose(all).unwrap_or(&all[0])
    }

    /// Of any magnitude, and often near an end.
    pub fn int32(&mut self) -> i32 {
        let (kind, first) = (self.byte(), self.byte());
        match kind % 8 {
            0 => i32::MIN + i32::from(first),
            1 => i32::MAX - i32::from(first),
            2..5 => i32::from(first as i8),
            _ => i32::from_le_bytes([first, self.byte(), self.byte(), self.byte()]) >> (kind / 8),
        }
    }

    /// A value of the range. A byte counts from the least value of a small range, so that signed bytes are negative as often as not.
    pub fn of(&mut self, range: RangeInclusive<i32>) -> i32 {
        let width = i64::from(*range.end()) - i64::from(*range.start());
        match u8::try_from(width) {
            Ok(width) => *range.start() + i32::from(self.byte()) % (i32::from(width) + 1),
            Err(_) => within(self.int32(), range),
        }
    }

    /// `len` values: as many as it takes, or a few that come again and again; of the whole range, or its ends alone.
    pub fn tensor(&mut self, len: usize, range: &RangeInclusive<i32>) -> Vec<i32> {
        let ends = self.byte().is_multiple_of(4);
        self.repeated(len, |numbers| match (ends, numbers.of(range.clone())) {
            (false, any) => any,
            (true, even) if even % 2 == 0 => *range.start(),
            (true, _) => *range.end(),
        })
    }

    /// `len` values: as many as it takes, or a few that come again and again.
    pub fn repeated<T: Clone>(&mut self, len: usize, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let period = (*self.one_of(&[len, 1, 2, 3, 8, 16, 17])).clamp(1, len.max(1));
        let some: Vec<T> = (0..period).map(|_| value(self)).collect();
        some.into_iter().cycle().take(len).collect()
    }
}

//! A fuzzer's bytes as numbers.

use super::within;
use std::ops::RangeInclusive;

/// Bytes taken one by one; after their end there are zeros.
pub struct Numbers<'a>(&'a [u8]);

impl<'a> Numbers<'a> {
    /// All of them.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next one.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// From 1 to `most`, which is no more than 256.
    pub fn size(&mut self, most: usize) -> usize {
        1 + usize::from(self.byte()) % most
    }

    /// One of several, which are not none.
    pub fn one_of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        &all[usize::from(self.byte()) % all.len()]
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

    /// A value of the range.
    pub fn of(&mut self, range: RangeInclusive<i32>) -> i32 {
        let width = i64::from(*range.end()) - i64::from(*range.start());
        let n = if width < 256 { self.byte().into() } else { self.int32() };
        within(n, range)
    }

    /// `len` values: as many as it takes, or a few that come again and again; of the whole range, or its ends alone.
    pub fn tensor(&mut self, len: usize, range: &RangeInclusive<i32>) -> Vec<i32> {
        let period = (*self.one_of(&[len, 1, 2, 3, 8, 16, 17])).clamp(1, len.max(1));
        let ends = self.byte().is_multiple_of(4);
        let mut value = || match (ends, self.of(range.clone())) {
            (false, any) => any,
            (true, even) if even % 2 == 0 => *range.start(),
            (true, _) => *range.end(),
        };
        let some: Vec<i32> = (0..period).map(|_| value()).collect();
        some.into_iter().cycle().take(len).collect()
    }
}

//! Conversion of a fuzzer's bytes to the numbers that cases are made of.

use super::within;
use arbitrary::Unstructured;
use std::ops::RangeInclusive;
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::quantized::Scale;

/// Stream of numbers from a fuzzer's bytes; after the end of the bytes each number is the smallest possible.
pub struct Numbers<'a>(Unstructured<'a>);

impl<'a> Numbers<'a> {
    /// Starts at the first of the bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Returns any byte.
    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// Returns a size from 1 to `most`.
    pub fn size(&mut self, most: usize) -> usize {
        self.0.int_in_range(1..=most).unwrap_or(1)
    }

    /// Returns one element of a list that is not empty.
    pub fn one_of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        self.0.choose(all).unwrap_or(&all[0])
    }

    /// Returns a number of any magnitude, often near an end.
    pub fn int32(&mut self) -> i32 {
        let (kind, first) = (self.byte(), self.byte());
        match kind % 8 {
            0 => i32::MIN + i32::from(first),
            1 => i32::MAX - i32::from(first),
            2..5 => i32::from(first as i8),
            _ => i32::from_le_bytes([first, self.byte(), self.byte(), self.byte()]) >> (kind / 8),
        }
    }

    /// Returns a value of the range. In a small range one byte counts up from the least value, so signed values are negative as often as positive.
    pub fn of(&mut self, range: RangeInclusive<i32>) -> i32 {
        let width = i64::from(*range.end()) - i64::from(*range.start());
        match u8::try_from(width) {
            Ok(width) => *range.start() + i32::from(self.byte()) % (i32::from(width) + 1),
            Err(_) => within(self.int32(), range),
        }
    }

    /// Returns a scale with an exponent in a range, and a zero point.
    pub fn operand(&mut self, exponents: RangeInclusive<i32>, zero_points: RangeInclusive<i32>) -> Operand {
        let significand = *self.one_of(&[0, 0, 1 << 22]) | (i32::from(*self.one_of(&[0u8, 1])) * self.int32());
        let bits = (127 + self.of(exponents)) << 23 | significand & 0x7f_ffff;
        Operand { scale: Scale(f32::from_bits(bits as u32).into()), zero_point: self.of(zero_points) }
    }

    /// Returns the bounds of a clamp: a part of the range if `clamp` is true, or the whole range.
    pub fn bounds(&mut self, range: &RangeInclusive<i32>, clamp: bool) -> (i32, i32) {
        let ends = if clamp { [self.of(range.clone()), self.of(range.clone())] } else { [0; 2] };
        match ends {
            [a, b] if a == b => (*range.start(), *range.end()),
            [a, b] => (a.min(b), a.max(b)),
        }
    }

    /// Returns `len` values: one for each place, or a few values repeated; from the whole range, or only its ends.
    pub fn tensor(&mut self, len: usize, range: &RangeInclusive<i32>) -> Vec<i32> {
        let ends = self.byte().is_multiple_of(4);
        self.repeated(len, |numbers| match (ends, numbers.of(range.clone())) {
            (false, any) => any,
            (true, even) if even % 2 == 0 => *range.start(),
            (true, _) => *range.end(),
        })
    }

    /// Returns `len` values: one for each place, or a few values repeated.
    pub fn repeated<T: Clone>(&mut self, len: usize, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let period = (*self.one_of(&[len, 1, 2, 3, 8, 16, 17])).clamp(1, len.max(1));
        let some: Vec<T> = (0..period).map(|_| value(self)).collect();
        some.into_iter().cycle().take(len).collect()
    }
}

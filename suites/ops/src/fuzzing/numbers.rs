//! A fuzzer's bytes as the numbers that cases are made of.

use super::within;
use arbitrary::Unstructured;
use std::ops::RangeInclusive;
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::quantized::Scale;

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

    /// A scale of an exponent in a range, and a zero point.
    pub fn operand(&mut self, exponents: RangeInclusive<i32>, zero_points: RangeInclusive<i32>) -> Operand {
        let significand = *self.one_of(&[0, 0, 1 << 22]) | (i32::from(*self.one_of(&[0u8, 1])) * self.int32());
        let bits = (127 + self.of(exponents)) << 23 | significand & 0x7f_ffff;
        Operand { scale: Scale(f32::from_bits(bits as u32).into()), zero_point: self.of(zero_points) }
    }

    /// The bounds of a clamp to a part of the range, or to all of it.
    pub fn bounds(&mut self, range: &RangeInclusive<i32>, clamp: bool) -> (i32, i32) {
        let ends = if clamp { [self.of(range.clone()), self.of(range.clone())] } else { [0; 2] };
        match ends {
            [a, b] if a == b => (*range.start(), *range.end()),
            [a, b] => (a.min(b), a.max(b)),
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

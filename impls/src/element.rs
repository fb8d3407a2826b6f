//! Element types of integer tensors.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Element {
    /// Unsigned, 1 bit; one byte each in a payload.
    U1,
    /// Unsigned, 2 bits; one byte each in a payload.
    U2,
    /// Unsigned, 3 bits; one byte each in a payload.
    U3,
    /// Unsigned, 4 bits; one byte each in a payload.
    U4,
    /// Signed, 4 bits; two to a byte in a payload, the first in the low half.
    I4,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
}

impl Element {
    /// Returns the smallest to the largest value.
    pub const fn range(self) -> RangeInclusive<i32> {
        match self {
            Self::U1 => 0..=1,
            Self::U2 => 0..=3,
            Self::U3 => 0..=7,
            Self::U4 => 0..=15,
            Self::I4 => -8..=7,
            Self::U8 => 0..=255,
            Self::I8 => -128..=127,
            Self::I16 => -32768..=32767,
        }
    }

    /// Returns the bytes of one element; 1 for `I4`, of which two share a byte.
    pub fn bytes(self) -> usize {
        match self {
            Self::I16 => 2,
            _ => 1,
        }
    }

    /// Returns the bytes of `len` consecutive elements.
    pub fn size(self, len: usize) -> usize {
        if self == Self::I4 { len.div_ceil(2) } else { len * self.bytes() }
    }

    /// Returns the bits of one value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U1 => 1,
            Self::U2 => 2,
            Self::U3 => 3,
            Self::U4 | Self::I4 => 4,
            Self::U8 | Self::I8 => 8,
            Self::I16 => 16,
        }
    }

    /// Returns the name, such as `u8` or `i16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::U1 => "u1",
            Self::U2 => "u2",
            Self::U3 => "u3",
            Self::U4 => "u4",
            Self::I4 => "i4",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::I16 => "i16",
        }
    }

    /// Writes `values`, each in [`Element::range`], to `out` as little-endian elements. `out` has [`Element::size`] bytes.
    pub fn pack(self, values: &[i32], out: &mut [u8]) {
        debug_assert_eq!(out.len(), self.size(values.len()));
        match self {
            Self::I16 => {
                let out = out.as_chunks_mut::<2>().0;
                values.iter().zip(out).for_each(|(v, out)| *out = (*v as i16).to_le_bytes());
            }
            Self::I4 => {
                let half = |v: Option<&i32>| v.map_or(0, |v| *v as u8 & 15);
                values.chunks(2).zip(out).for_each(|(pair, out)| *out = half(pair.first()) | half(pair.get(1)) << 4);
            }
            _ => values.iter().zip(out).for_each(|(v, out)| *out = *v as u8),
        }
    }

    /// Reads the little-endian element at the start of `from`; for `I4`, from the low half of the first byte.
    #[inline(always)]
    pub fn read(self, from: &[u8]) -> i32 {
        match self {
            Self::U1 | Self::U2 | Self::U3 | Self::U4 | Self::U8 => from[0].into(),
            Self::I4 => ((from[0] << 4) as i8 >> 4).into(),
            Self::I8 => (from[0] as i8).into(),
            Self::I16 => i16::from_le_bytes([from[0], from[1]]).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn two_weights_of_4_bits_share_a_byte() {
        let mut bytes = [0xFF; 3];
        assert_eq!((Element::I4.size(5), Element::I4.size(0), Element::I16.size(5)), (3, 0, 10));
        Element::I4.pack(&[-8, 7, -1, 1, -2], &mut bytes);
        assert_eq!(bytes, [0x78, 0x1F, 0x0E]);
        assert_eq!(bytes.map(|byte| Element::I4.read(&[byte])), [-8, -1, -2]);
    }
}

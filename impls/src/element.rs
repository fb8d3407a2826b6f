//! Element types of integer tensors.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Element {
    /// Unsigned, 1 bit; a byte each in a payload.
    U1,
    /// Unsigned, 2 bits; a byte each in a payload.
    U2,
    /// Unsigned, 3 bits; a byte each in a payload.
    U3,
    /// Unsigned, 4 bits; a byte each in a payload.
    U4,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
}

impl Element {
    /// Every value.
    pub const fn range(self) -> RangeInclusive<i32> {
        match self {
            Self::U1 => 0..=1,
            Self::U2 => 0..=3,
            Self::U3 => 0..=7,
            Self::U4 => 0..=15,
            Self::U8 => 0..=255,
            Self::I8 => -128..=127,
            Self::I16 => -32768..=32767,
        }
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Self::I16 => 2,
            _ => 1,
        }
    }

    /// Bits of a value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U1 => 1,
            Self::U2 => 2,
            Self::U3 => 3,
            Self::U4 => 4,
            Self::U8 | Self::I8 => 8,
            Self::I16 => 16,
        }
    }

    /// `u8`, `i8`, `i16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::U1 => "u1",
            Self::U2 => "u2",
            Self::U3 => "u3",
            Self::U4 => "u4",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::I16 => "i16",
        }
    }

    /// Writes `values`, each in [`Element::range`], to `out` as little-endian elements; `out` holds `values.len()` of them.
    pub fn pack(self, values: &[i32], out: &mut [u8]) {
        debug_assert_eq!(out.len(), values.len() * self.bytes());
        match self {
            Self::I16 => {
                let out = out.as_chunks_mut::<2>().0;
                values.iter().zip(out).for_each(|(v, out)| *out = (*v as i16).to_le_bytes());
            }
            _ => values.iter().zip(out).for_each(|(v, out)| *out = *v as u8),
        }
    }

    /// The element whose bytes, little-endian, begin at `from`.
    #[inline(always)]
    pub fn read(self, from: &[u8]) -> i32 {
        match self {
            Self::U1 | Self::U2 | Self::U3 | Self::U4 | Self::U8 => from[0].into(),
            Self::I8 => (from[0] as i8).into(),
            Self::I16 => i16::from_le_bytes([from[0], from[1]]).into(),
        }
    }
}

//! Sum of two products in a 16-bit lane, as in 8-bit dot products by multiply-long, before the sum to 32 bits.

use crate::word::Word;
use rug::Integer;
use rug::ops::RemRounding;

pub(crate) const INT16: Word = Word { bits: 16 };

/// Policy for a sum that does not fit its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairSum {
    /// Sum modulo 2^16, read as unsigned (UMULL, UMLAL2: Arm ARM).
    WrapUnsigned,
    /// Sum modulo 2^16, read as signed (SMULL, SMLAL2: Arm ARM).
    WrapSigned,
    /// Nearest signed 16-bit value (PMADDUBSW: Intel SDM).
    Saturate,
}

impl PairSum {
    /// Fits a sum to the lane, on big integers.
    pub fn exact(self, sum: &Integer) -> Integer {
        match self {
            Self::WrapUnsigned => Integer::from(sum).rem_euc(Integer::from(1) << 16u32),
            Self::WrapSigned => INT16.wrap_exact(sum),
            Self::Saturate => INT16.saturate_exact(sum),
        }
    }

    /// Computes `a[0]*b[0] + a[1]*b[1]` in the lane, for any int32 operands: a wrap to 32 bits keeps the low 16 bits, and the only sum
    /// outside 64 bits, 2^63, saturates all the same.
    #[inline]
    pub fn of(self, a: [i32; 2], b: [i32; 2]) -> i32 {
        match self {
            Self::Saturate => {
                let product = |i: usize| i64::from(a[i]) * i64::from(b[i]);
                product(0).saturating_add(product(1)).clamp(i16::MIN.into(), i16::MAX.into()) as i32
            }
            _ => self.of_narrow(a, b),
        }
    }

    /// Computes [`PairSum::of`] for a sum that fits in int32, such as for operands of 8 bits. Vectorises.
    #[inline(always)]
    pub fn of_narrow(self, a: [i32; 2], b: [i32; 2]) -> i32 {
        let sum = a[0].wrapping_mul(b[0]).wrapping_add(a[1].wrapping_mul(b[1]));
        match self {
            Self::WrapUnsigned => sum & 0xFFFF,
            Self::WrapSigned => sum << 16 >> 16,
            Self::Saturate => sum.clamp(i16::MIN.into(), i16::MAX.into()),
        }
    }
}

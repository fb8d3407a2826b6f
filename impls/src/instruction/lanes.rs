//! Layout of the lanes of an operand in a register.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Lanes of one operand or of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lanes {
    /// Number of lanes in a vector; 0 if the instruction does not have the operand.
    pub count: usize,
    /// Bits of a lane: 8, 16 or 32.
    pub bits: u32,
    /// True if lanes are signed; always true for lanes of 32 bits.
    pub signed: bool,
}

impl Lanes {
    /// Lanes of an operand that the instruction does not have.
    pub const NONE: Self = Self { count: 0, bits: 8, signed: true };

    pub(super) const fn of(count: usize, bits: u32, signed: bool) -> Self {
        Self { count, bits, signed }
    }

    /// Returns the range of a lane's values.
    pub fn range(self) -> RangeInclusive<i32> {
        match self.signed {
            true => i32::MIN >> (32 - self.bits)..=i32::MAX >> (32 - self.bits),
            false => 0..=(u32::MAX >> (32 - self.bits)) as i32,
        }
    }

    /// Packs values into a register of `N` bytes; lane 0 is the least significant. Lanes after the last value are 0.
    pub(super) fn pack<const N: usize>(self, values: &[i32]) -> [u8; N] {
        let mut register = [0; N];
        let bytes = self.bits as usize / 8;
        for (lane, value) in register.chunks_exact_mut(bytes).zip(values) {
            lane.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        register
    }

    /// Reads the lane values of a register.
    pub(super) fn unpack(self, register: &[u8], values: &mut [i32]) {
        let bytes = self.bits as usize / 8;
        for (lane, value) in register.chunks_exact(bytes).zip(values) {
            let mut word = [0; 4];
            word[4 - bytes..].copy_from_slice(lane);
            let word = i32::from_le_bytes(word);
            *value = match self.signed {
                true => word >> (32 - self.bits),
                false => (word as u32 >> (32 - self.bits)) as i32,
            };
        }
    }
}

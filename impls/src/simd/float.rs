//! Vectors of four f32, and the instructions that round and narrow them to 8-bit integers.

use super::{LANES, Portable, Vector};
use std::array::from_fn;

/// 128-bit vector; each method is the AArch64 instruction of that name. Lanes of f32 hold their bits.
///
/// Semantics: Arm Architecture Reference Manual (DDI 0487), section C7.2.
pub trait Float: Vector {
    /// `.4s`: product, rounded to nearest, ties to even.
    fn fmul(self, other: Self) -> Self;
    /// `.4s`: f32 to the nearest int32, ties to even; saturates, and NaN gives 0.
    fn fcvtns(self) -> Self;
    /// `.4h`: each int32 saturated to 16 bits, in the lower half; the upper half is 0.
    fn sqxtn_4h(self) -> Self;
    /// `.8h`: the lower half of `self`, then each int32 of `upper` saturated to 16 bits.
    fn sqxtn2_8h(self, upper: Self) -> Self;
    /// `.8h`: saturating sum.
    fn sqadd_8h(self, other: Self) -> Self;
    /// `.8b`: each of eight int16 saturated to int8, in the lower half; the upper half is 0.
    fn sqxtn_8b(self) -> Self;
    /// `.8b`: each of eight int16 saturated to an unsigned byte, in the lower half; the upper half is 0.
    fn sqxtun_8b(self) -> Self;
}

impl Float for Portable {
    methods! {
        fmul(self, other) => {
            let lane = |v: Self, i: usize| f32::from_bits(v.0[i] as u32);
            Self(from_fn(|i| (lane(self, i) * lane(other, i)).to_bits() as i32))
        };
        fcvtns(self) => {
            // Casts of Rust saturate and turn NaN into 0.
            Self(self.0.map(|bits| f32::from_bits(bits as u32).round_ties_even() as i32))
        };
        sqxtn_4h(self) => Self::from_halves(from_fn(|i| self.0.get(i).map_or(0, narrowed)));
        sqxtn2_8h(self, upper) => {
            let lower = self.halves();
            Self::from_halves(from_fn(|i| if i < LANES { lower[i] } else { narrowed(&upper.0[i - LANES]) }))
        };
        sqadd_8h(self, other) => {
            let (a, b) = (self.signed_halves(), other.signed_halves());
            Self::from_halves(from_fn(|i| a[i].saturating_add(b[i]) as u16))
        };
        sqxtn_8b(self) => {
            let halves = self.signed_halves();
            Self::from_bytes(from_fn(|i| halves.get(i).map_or(0, |half| (*half).clamp(-128, 127) as u8)))
        };
        sqxtun_8b(self) => {
            let halves = self.signed_halves();
            Self::from_bytes(from_fn(|i| halves.get(i).map_or(0, |half| (*half).clamp(0, 255) as u8)))
        };
    }
}

/// Saturates an int32 to 16 bits.
#[inline(always)]
fn narrowed(word: &i32) -> u16 {
    (*word).clamp(i16::MIN.into(), i16::MAX.into()) as u16
}

//! A 128-bit register of 8-, 16- and 32-bit lanes, and the instructions that multiply small integers.

use super::Vector;

/// Bytes of a [`Register`].
pub const BYTES: usize = 16;

/// 128-bit register; each method is the AArch64 instruction of that name, on the lanes in its text (`.8h` is eight 16-bit lanes). If one instruction
/// name has several widths, the method's name contains the lanes of the result.
///
/// Semantics: Arm Architecture Reference Manual (DDI 0487), section C7.2. No method saturates: sums wrap.
pub trait Register: Vector {
    /// Reads 16 bytes.
    fn load_bytes(from: &[u8; BYTES]) -> Self;
    /// Writes 16 bytes.
    fn store_bytes(self, to: &mut [u8; BYTES]);

    /// `.8h = .8b * .8b`, unsigned, the lower halves of both operands.
    fn umull(self, other: Self) -> Self;
    /// `.8h = .16b * .16b`, unsigned, the upper halves.
    fn umull2(self, other: Self) -> Self;
    /// `.8h = .8b * .8b`, signed, the lower halves.
    fn smull(self, other: Self) -> Self;
    /// `.8h = .16b * .16b`, signed, the upper halves.
    fn smull2(self, other: Self) -> Self;
    /// `self.8h + a.16b * b.16b`, unsigned, the upper halves; wraps at 16 bits.
    fn umlal2_8h(self, a: Self, b: Self) -> Self;
    /// `self.8h + a.16b * b.16b`, signed, the upper halves; wraps at 16 bits.
    fn smlal2_8h(self, a: Self, b: Self) -> Self;

    /// `self.4s +` sums of adjacent pairs of unsigned `.8h`.
    fn uadalp_4s(self, pairs: Self) -> Self;
    /// `self.4s +` sums of adjacent pairs of signed `.8h`.
    fn sadalp_4s(self, pairs: Self) -> Self;
    /// `self.8h +` sums of adjacent pairs of unsigned `.16b`.
    fn uadalp_8h(self, pairs: Self) -> Self;
    /// `self.8h +` sums of adjacent pairs of signed `.16b`.
    fn sadalp_8h(self, pairs: Self) -> Self;
    /// `.8h`: sums of lanes; wraps at 16 bits.
    fn add_8h(self, other: Self) -> Self;
    /// `.4s`: sums of adjacent pairs, the sums of `self` in the lower lanes and the sums of `other` in the upper lanes.
    fn addp(self, other: Self) -> Self;

    /// `.8h`: the lower eight bytes, sign-extended.
    fn sxtl(self) -> Self;
    /// `.8h`: the upper eight bytes, sign-extended.
    fn sxtl2(self) -> Self;
    /// `.8h`: the lower eight bytes, zero-extended.
    fn uxtl(self) -> Self;
    /// `.8h`: the upper eight bytes, zero-extended.
    fn uxtl2(self) -> Self;
    /// `self.4s + a.4h * b.4h`, unsigned, the lower halves.
    fn umlal_4s(self, a: Self, b: Self) -> Self;
    /// `self.4s + a.8h * b.8h`, unsigned, the upper halves.
    fn umlal2_4s(self, a: Self, b: Self) -> Self;
    /// `self.4s + a.4h * b.4h`, signed, the lower halves.
    fn smlal_4s(self, a: Self, b: Self) -> Self;
    /// `self.4s + a.8h * b.8h`, signed, the upper halves.
    fn smlal2_4s(self, a: Self, b: Self) -> Self;

    /// `.16b`: number of set bits in each byte.
    fn cnt(self) -> Self;
    /// `.2d`: the lower half of `self`, then the lower half of `other`.
    fn zip1_2d(self, other: Self) -> Self;
    /// `.2d`: the upper half of `self`, then the upper half of `other`.
    fn zip2_2d(self, other: Self) -> Self;

    /// `self.4s +` dot products of adjacent quads of unsigned `.16b`. FEAT_DotProd.
    fn udot(self, a: Self, b: Self) -> Self;
    /// `self.4s +` dot products of adjacent quads of signed `.16b`. FEAT_DotProd.
    fn sdot(self, a: Self, b: Self) -> Self;
    /// `self.4s`, a 2 by 2 matrix, plus 2 by 8 unsigned bytes `a` times the transpose of 2 by 8 bytes `b`. FEAT_I8MM.
    fn ummla(self, a: Self, b: Self) -> Self;
    /// `self.4s`, a 2 by 2 matrix, plus 2 by 8 signed bytes `a` times the transpose of 2 by 8 bytes `b`. FEAT_I8MM.
    fn smmla(self, a: Self, b: Self) -> Self;
}

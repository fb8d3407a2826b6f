//! A 256-bit register, and the x86 instructions that multiply small integers.

/// Lanes of int32 in a [`Wide`].
pub const WIDE_LANES: usize = 8;
/// Bytes of a [`Wide`].
pub const WIDE_BYTES: usize = 32;

/// 256-bit register; each method is the x86 instruction of that name, on `ymm` registers.
///
/// Semantics: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 5.
pub trait Wide: Copy {
    /// Same 16-bit value in every lane.
    fn splat_halves(value: i16) -> Self;
    /// Reads 32 bytes.
    fn load_bytes(from: &[u8; WIDE_BYTES]) -> Self;
    /// Reads 16 bytes into both halves.
    fn broadcast(from: &[u8; 16]) -> Self;
    /// Reads eight int32.
    fn load(from: &[i32; WIDE_LANES]) -> Self;
    /// Writes eight int32.
    fn store(self, to: &mut [i32; WIDE_LANES]);

    /// Unsigned bytes of `self` times signed bytes of `signed`; adjacent products are added and saturate to signed 16 bits.
    fn vpmaddubsw(self, signed: Self) -> Self;
    /// Products of signed 16-bit lanes; adjacent products are added in 32 bits, which wraps only if all four factors are -32768.
    fn vpmaddwd(self, other: Self) -> Self;
    /// Wrapping addition of int32.
    fn vpaddd(self, other: Self) -> Self;
    /// int32 `self +` products of four unsigned bytes and four signed bytes, wrapping. VNNI.
    fn vpdpbusd(self, unsigned: Self, signed: Self) -> Self;
    /// int32 `self +` products of four unsigned bytes and four signed bytes, saturating once, at the end. VNNI.
    fn vpdpbusds(self, unsigned: Self, signed: Self) -> Self;
    /// int32 `self +` products of four signed bytes of `a` and four of `b`, wrapping. AVX-VNNI-INT8.
    fn vpdpbssd(self, a: Self, b: Self) -> Self;
}

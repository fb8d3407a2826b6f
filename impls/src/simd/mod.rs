//! Vector registers, so that a vector kernel is written once and runs on every target.
//!
//! A kernel is generic over [`Vector`] (four int32 lanes), [`Register`] (also lanes of 8 and 16 bits), [`Float`] (four f32), or, for x86, [`Wide`].
//! [`Portable`] executes the models of [`crate::instruction::model`]. `Neon` (on aarch64) executes, for each method, the instruction of the same
//! name. The `instruction` operation compares the models with the instructions, so results on [`Portable`] carry over.

/// Methods of one vector type that return a vector, each as `name(self, operands) => value;`.
macro_rules! methods {
    ($($name:ident($self:ident $(, $operand:ident)*) => $value:expr;)+) => {$(
        #[inline(always)]
        fn $name($self $(, $operand: Self)*) -> Self {
            $value
        }
    )+};
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod float;
pub(crate) mod form;
pub(crate) mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "aarch64")]
mod neon_float;
#[cfg(target_arch = "aarch64")]
mod neon_register;
mod portable;
mod portable_register;
mod portable_wide;
mod register;
#[cfg(test)]
mod tests;
mod wide;

pub use float::Float;
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use portable::Portable;
pub use portable_wide::PortableWide;
pub use register::{BYTES, Register};
pub use wide::{WIDE_BYTES, WIDE_LANES, Wide};

/// Lanes of a [`Vector`].
pub const LANES: usize = 4;

/// 128-bit vector of int32; each method is the AArch64 instruction of that name on `.4s`.
pub trait Vector: Copy {
    /// Same value in every lane.
    fn splat(value: i32) -> Self;
    /// Reads four consecutive elements.
    fn load(from: &[i32; LANES]) -> Self;
    /// Writes four consecutive elements.
    fn store(self, to: &mut [i32; LANES]);

    /// Saturating rounding doubling multiply, high half: `sat((2ab + 2^31) >> 32)`.
    fn sqrdmulh(self, other: Self) -> Self;
    /// Saturating doubling multiply, high half: `sat(2ab >> 32)`.
    fn sqdmulh(self, other: Self) -> Self;
    /// Rounding shift left by the signed low byte of each lane; right shifts round ties up.
    fn srshl(self, shift: Self) -> Self;
    /// Saturating shift left by the signed low byte of each lane; right shifts floor.
    fn sqshl(self, shift: Self) -> Self;
    /// Shift left by the signed low byte of each lane, wrapping; right shifts floor.
    fn sshl(self, shift: Self) -> Self;
    /// Saturating addition.
    fn sqadd(self, other: Self) -> Self;
    /// Wrapping addition.
    fn add(self, other: Self) -> Self;
    /// Wrapping multiplication, low half.
    fn mul(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Arithmetic shift right by the immediate 31: all ones if a lane is negative.
    fn sshr31(self) -> Self;

    /// Forces the computation of an unused value, for kernels whose source computes values without use.
    fn keep(self);
}

/// Applies `body` to whole vectors and `tail` to the `len % 4` elements after them, as a strip-mined loop does.
#[inline(always)]
pub fn strip_mine<V: Vector>(x: &[i32], out: &mut [i32], body: impl Fn(V) -> V, tail: impl Fn(i32) -> i32) {
    debug_assert_eq!(x.len(), out.len());
    let (vectors, rest) = x.as_chunks::<LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<LANES>();
    for (x, out) in vectors.iter().zip(out_vectors) {
        body(V::load(x)).store(out);
    }
    for (x, out) in rest.iter().zip(out_rest) {
        *out = tail(*x);
    }
}

/// Applies `body` to every element, with the last vector partly filled, as a predicated loop does.
///
/// `constants` are an argument of `body`, so that the partly filled vector can be in a function outside the loop. With both in one function, the
/// portable form's loop is three times slower.
#[inline(always)]
pub fn every_lane<V: Vector, C: Copy>(x: &[i32], out: &mut [i32], constants: C, body: impl Fn(C, V) -> V) {
    debug_assert_eq!(x.len(), out.len());
    let (vectors, rest) = x.as_chunks::<LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<LANES>();
    for (x, out) in vectors.iter().zip(out_vectors) {
        body(constants, V::load(x)).store(out);
    }
    if !rest.is_empty() {
        partial(rest, out_rest, constants, body);
    }
}

/// Computes the partly filled vector of [`every_lane`].
#[inline(never)]
fn partial<V: Vector, C: Copy>(x: &[i32], out: &mut [i32], constants: C, body: impl Fn(C, V) -> V) {
    let mut lanes = [0; LANES];
    lanes[..x.len()].copy_from_slice(x);
    body(constants, V::load(&lanes)).store(&mut lanes);
    out.copy_from_slice(&lanes[..x.len()]);
}

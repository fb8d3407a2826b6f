//! [`Wide`] in plain Rust, for any target.

use super::wide::{WIDE_BYTES, WIDE_LANES, Wide};
use std::array::from_fn;

/// Eight int32 lanes in plain Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortableWide([i32; WIDE_LANES]);

impl PortableWide {
    /// Returns the bytes; lane 0 is the least significant on every host.
    #[inline(always)]
    fn bytes(self) -> [u8; WIDE_BYTES] {
        bytemuck::cast(self.0.map(i32::to_le))
    }

    #[inline(always)]
    fn signed_bytes(self) -> [i8; WIDE_BYTES] {
        bytemuck::cast(self.bytes())
    }

    #[inline(always)]
    fn halves(self) -> [i16; 16] {
        bytemuck::cast::<_, [i16; 16]>(self.bytes()).map(i16::from_le)
    }

    #[inline(always)]
    fn from_halves(halves: [i16; 16]) -> Self {
        Self::load_bytes(&bytemuck::cast(halves.map(i16::to_le)))
    }

    /// Returns the sum of `N` products from `at`. `N` is at most 4, so the sum fits in 32 bits.
    #[inline(always)]
    fn products<const N: usize>(unsigned: &[u8; WIDE_BYTES], signed: &[i8; WIDE_BYTES], at: usize) -> i32 {
        (at..at + N).map(|k| i32::from(unsigned[k]) * i32::from(signed[k])).sum()
    }
}

impl Wide for PortableWide {
    #[inline(always)]
    fn splat_halves(value: i16) -> Self {
        Self::from_halves([value; 16])
    }

    #[inline(always)]
    fn load_bytes(from: &[u8; WIDE_BYTES]) -> Self {
        Self(bytemuck::cast::<_, [i32; WIDE_LANES]>(*from).map(i32::from_le))
    }

    #[inline(always)]
    fn broadcast(from: &[u8; 16]) -> Self {
        Self::load_bytes(&bytemuck::cast([*from; 2]))
    }

    #[inline(always)]
    fn load(from: &[i32; WIDE_LANES]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut [i32; WIDE_LANES]) {
        *to = self.0;
    }

    #[inline(always)]
    fn vpmaddubsw(self, signed: Self) -> Self {
        let (a, b) = (self.bytes(), signed.signed_bytes());
        Self::from_halves(from_fn(|i| Self::products::<2>(&a, &b, 2 * i).clamp(-32768, 32767) as i16))
    }

    #[inline(always)]
    fn vpmaddwd(self, other: Self) -> Self {
        let (a, b) = (self.halves(), other.halves());
        let product = |k: usize| i32::from(a[k]) * i32::from(b[k]);
        Self(from_fn(|i| product(2 * i).wrapping_add(product(2 * i + 1))))
    }

    #[inline(always)]
    fn vpaddd(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i].wrapping_add(other.0[i])))
    }

    #[inline(always)]
    fn vpdpbusd(self, unsigned: Self, signed: Self) -> Self {
        let (a, b) = (unsigned.bytes(), signed.signed_bytes());
        Self(from_fn(|i| self.0[i].wrapping_add(Self::products::<4>(&a, &b, 4 * i))))
    }

    #[inline(always)]
    fn vpdpbusds(self, unsigned: Self, signed: Self) -> Self {
        let (a, b) = (unsigned.bytes(), signed.signed_bytes());
        Self(from_fn(|i| self.0[i].saturating_add(Self::products::<4>(&a, &b, 4 * i))))
    }

    #[inline(always)]
    fn vpdpbssd(self, a: Self, b: Self) -> Self {
        let (a, b) = (a.signed_bytes(), b.signed_bytes());
        let product = |k: usize| i32::from(a[k]) * i32::from(b[k]);
        Self(from_fn(|i| self.0[i].wrapping_add((4 * i..4 * i + 4).map(product).sum())))
    }
}

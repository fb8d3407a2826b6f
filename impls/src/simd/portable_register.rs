//! [`Register`] in plain Rust, for any target.

use super::register::{BYTES, Register};
use super::{LANES, Portable};
use std::array::from_fn;

impl Portable {
    /// Returns the bytes; lane 0 is the least significant on every host.
    #[inline(always)]
    fn bytes(self) -> [u8; BYTES] {
        bytemuck::cast(self.0.map(i32::to_le))
    }

    #[inline(always)]
    fn signed_bytes(self) -> [i8; BYTES] {
        bytemuck::cast(self.bytes())
    }

    #[inline(always)]
    pub(super) fn halves(self) -> [u16; 8] {
        bytemuck::cast::<_, [u16; 8]>(self.bytes()).map(u16::from_le)
    }

    #[inline(always)]
    pub(super) fn signed_halves(self) -> [i16; 8] {
        bytemuck::cast(self.halves())
    }

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytemuck::cast::<_, [i32; LANES]>(bytes).map(i32::from_le))
    }

    #[inline(always)]
    pub(super) fn from_halves(halves: [u16; 8]) -> Self {
        Self::from_bytes(bytemuck::cast(halves.map(u16::to_le)))
    }

    /// Returns the products of eight unsigned bytes of each operand, from byte `at`.
    #[inline(always)]
    fn unsigned_products(self, other: Self, at: usize) -> [u16; 8] {
        let (a, b) = (self.bytes(), other.bytes());
        from_fn(|i| u16::from(a[at + i]) * u16::from(b[at + i]))
    }

    /// Returns the products of eight signed bytes of each operand, from byte `at`; -128 * -128 fits.
    #[inline(always)]
    fn signed_products(self, other: Self, at: usize) -> [u16; 8] {
        let (a, b) = (self.signed_bytes(), other.signed_bytes());
        from_fn(|i| (i16::from(a[at + i]) * i16::from(b[at + i])) as u16)
    }

    #[inline(always)]
    fn add_halves(self, other: [u16; 8]) -> Self {
        let lanes = self.halves();
        Self::from_halves(from_fn(|i| lanes[i].wrapping_add(other[i])))
    }

    #[inline(always)]
    fn add_words(self, term: impl Fn(usize) -> i32) -> Self {
        Self(from_fn(|i| self.0[i].wrapping_add(term(i))))
    }

    /// Sign-extends eight bytes from byte `at`.
    #[inline(always)]
    fn extended(self, at: usize) -> Self {
        let bytes = self.signed_bytes();
        Self::from_halves(from_fn(|i| i16::from(bytes[at + i]) as u16))
    }

    /// Zero-extends eight bytes from byte `at`.
    #[inline(always)]
    fn zero_extended(self, at: usize) -> Self {
        let bytes = self.bytes();
        Self::from_halves(from_fn(|i| u16::from(bytes[at + i])))
    }

    /// Adds products of four unsigned 16-bit lanes of each operand, from lane `at`.
    #[inline(always)]
    fn add_long_unsigned(self, a: Self, b: Self, at: usize) -> Self {
        let (a, b) = (a.halves(), b.halves());
        self.add_words(|i| (u32::from(a[at + i]) * u32::from(b[at + i])) as i32)
    }

    /// Adds products of four signed 16-bit lanes of each operand, from lane `at`.
    #[inline(always)]
    fn add_long_products(self, a: Self, b: Self, at: usize) -> Self {
        let (a, b) = (a.signed_halves(), b.signed_halves());
        self.add_words(|i| i32::from(a[at + i]) * i32::from(b[at + i]))
    }
}

/// Returns the dot product of `N` elements of `a` and `b`, from `at_a` and `at_b`.
#[inline(always)]
fn dot<const N: usize, T: Copy + Into<i32>>(a: &[T; BYTES], at_a: usize, b: &[T; BYTES], at_b: usize) -> i32 {
    (0..N).map(|k| a[at_a + k].into() * b[at_b + k].into()).sum()
}

impl Register for Portable {
    #[inline(always)]
    fn load_bytes(from: &[u8; BYTES]) -> Self {
        Self::from_bytes(*from)
    }

    #[inline(always)]
    fn store_bytes(self, to: &mut [u8; BYTES]) {
        *to = self.bytes();
    }

    methods! {
        umull(self, other) => Self::from_halves(self.unsigned_products(other, 0));
        umull2(self, other) => Self::from_halves(self.unsigned_products(other, 8));
        smull(self, other) => Self::from_halves(self.signed_products(other, 0));
        smull2(self, other) => Self::from_halves(self.signed_products(other, 8));
        umlal2_8h(self, a, b) => self.add_halves(a.unsigned_products(b, 8));
        smlal2_8h(self, a, b) => self.add_halves(a.signed_products(b, 8));
        uadalp_4s(self, pairs) => {
            let pairs = pairs.halves();
            self.add_words(|i| i32::from(pairs[2 * i]) + i32::from(pairs[2 * i + 1]))
        };
        sadalp_4s(self, pairs) => {
            let pairs = pairs.signed_halves();
            self.add_words(|i| i32::from(pairs[2 * i]) + i32::from(pairs[2 * i + 1]))
        };
        uadalp_8h(self, pairs) => {
            let pairs = pairs.bytes();
            self.add_halves(from_fn(|i| u16::from(pairs[2 * i]) + u16::from(pairs[2 * i + 1])))
        };
        sadalp_8h(self, pairs) => {
            let pairs = pairs.signed_bytes();
            self.add_halves(from_fn(|i| (i16::from(pairs[2 * i]) + i16::from(pairs[2 * i + 1])) as u16))
        };
        add_8h(self, other) => self.add_halves(other.halves());
        addp(self, other) => {
            let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
            Self([a.wrapping_add(b), c.wrapping_add(d), e.wrapping_add(f), g.wrapping_add(h)])
        };
        sxtl(self) => self.extended(0);
        sxtl2(self) => self.extended(8);
        uxtl(self) => self.zero_extended(0);
        uxtl2(self) => self.zero_extended(8);
        umlal_4s(self, a, b) => self.add_long_unsigned(a, b, 0);
        umlal2_4s(self, a, b) => self.add_long_unsigned(a, b, 4);
        smlal_4s(self, a, b) => self.add_long_products(a, b, 0);
        smlal2_4s(self, a, b) => self.add_long_products(a, b, 4);
        cnt(self) => Self::from_bytes(self.bytes().map(|byte| byte.count_ones() as u8));
        zip1_2d(self, other) => Self([self.0[0], self.0[1], other.0[0], other.0[1]]);
        zip2_2d(self, other) => Self([self.0[2], self.0[3], other.0[2], other.0[3]]);
        udot(self, a, b) => {
            let (a, b) = (a.bytes(), b.bytes());
            self.add_words(|i| dot::<4, _>(&a, 4 * i, &b, 4 * i))
        };
        sdot(self, a, b) => {
            let (a, b) = (a.signed_bytes(), b.signed_bytes());
            self.add_words(|i| dot::<4, _>(&a, 4 * i, &b, 4 * i))
        };
        ummla(self, a, b) => {
            let (a, b) = (a.bytes(), b.bytes());
            self.add_words(|i| dot::<8, _>(&a, i / 2 * 8, &b, i % 2 * 8))
        };
        smmla(self, a, b) => {
            let (a, b) = (a.signed_bytes(), b.signed_bytes());
            self.add_words(|i| dot::<8, _>(&a, i / 2 * 8, &b, i % 2 * 8))
        };
    }
}

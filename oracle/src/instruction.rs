//! NEON instructions used by the kernels, defined on big integers from the Arm Architecture Reference Manual, so that both the
//! portable models and the real instructions have something to be held against.

use crate::names::{UnknownName, unknown};
use crate::rounding::RoundingRule::{TiesUp, TowardNegative};
use crate::word::Word;
use rug::{Integer, Rational};

/// What an instruction gives in one lane: the value, and whether it sets the cumulative saturation flag.
pub type Lane = (Integer, bool);

/// An instruction by mnemonic. Operands are signed lanes; `b` is a lane of the second register (a shift amount is its low byte,
/// signed), or the immediate, repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mnemonic {
    /// Signed saturating rounding doubling multiply returning high half.
    Sqrdmulh,
    /// Signed saturating doubling multiply returning high half.
    Sqdmulh,
    /// Signed rounding shift left by register.
    Srshl,
    /// Signed saturating shift left by register.
    Sqshl,
    /// Signed saturating add.
    Sqadd,
    /// Add.
    Add,
    /// Multiply.
    Mul,
    /// Bitwise and.
    And,
    /// Signed shift right by the immediate `b`.
    Sshr,
    /// Shift left by the immediate `b`.
    Shl,
    /// Signed shift left by register, not rounding.
    Sshl,
}

use Mnemonic::*;

impl Mnemonic {
    /// All of them with their assembler names.
    pub const ALL: [(&'static str, Self); 11] = [
        ("sqrdmulh", Sqrdmulh),
        ("sqdmulh", Sqdmulh),
        ("srshl", Srshl),
        ("sqshl", Sqshl),
        ("sqadd", Sqadd),
        ("add", Add),
        ("mul", Mul),
        ("and", And),
        ("sshr", Sshr),
        ("shl", Shl),
        ("sshl", Sshl),
    ];

    /// By assembler name.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, m)| *m).ok_or_else(|| unknown("instruction", name, Self::ALL.map(|(n, _)| n)))
    }

    /// One lane of width `word`.
    pub fn lane(self, word: Word, a: i64, b: i64) -> Lane {
        let (big_a, big_b) = (Integer::from(a), Integer::from(b));
        let fraction = |v: Integer| Rational::from(v) >> word.bits;
        match self {
            Sqrdmulh => saturated(word, TiesUp.round(&fraction(big_a * big_b * 2))),
            Sqdmulh => saturated(word, TowardNegative.round(&fraction(big_a * big_b * 2))),
            Sqadd => saturated(word, big_a + big_b),
            Add => (word.wrap_exact(&(big_a + big_b)), false),
            Mul => (word.wrap_exact(&(big_a * big_b)), false),
            And => (big_a & big_b, false),
            Sshr => (TowardNegative.round(&(Rational::from(a) >> b as i32)), false),
            Shl => (word.wrap_exact(&(big_a << b as i32)), false),
            Srshl => (word.wrap_exact(&TiesUp.round(&shifted(a, b))), false),
            Sshl => (word.wrap_exact(&TowardNegative.round(&shifted(a, b))), false),
            Sqshl => saturated(word, TowardNegative.round(&shifted(a, b))),
        }
    }
}

/// `a * 2^n`, n the low byte of `b` as a signed number.
fn shifted(a: i64, b: i64) -> Rational {
    Rational::from(a) << i32::from(b as i8)
}

fn saturated(word: Word, v: Integer) -> Lane {
    let fitted = word.saturate_exact(&v);
    let saturates = fitted != v;
    (fitted, saturates)
}

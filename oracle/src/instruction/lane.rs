//! NEON instructions on separate lanes, defined on big integers from the Arm Architecture Reference Manual. Both the portable
//! models and the real instructions are compared with these definitions.

use crate::names::{UnknownName, unknown};
use crate::rounding::RoundingRule::{TiesUp, TowardNegative};
use crate::word::Word;
use rug::{Integer, Rational};

/// Exact result of an instruction in one lane: the value, and true if the lane sets the cumulative saturation flag.
pub type ExactLane = (Integer, bool);

/// Defines the instructions: assembler name, variant, and the summary that is also its documentation.
macro_rules! mnemonics {
    ($(($name:literal, $mnemonic:ident) => $summary:literal,)+) => {
        /// Instruction by mnemonic. Operands are signed lanes. `b` is a lane of the second register (a shift amount is its low byte,
        /// signed), or the immediate, repeated.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mnemonic {
            $(#[doc = $summary] $mnemonic),+
        }

        impl Mnemonic {
            /// All instructions with their assembler names.
            pub const ALL: [(&'static str, Self); [$($name),+].len()] = [$(($name, Self::$mnemonic)),+];

            /// Returns a description in one line, from the Arm Architecture Reference Manual.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Self::$mnemonic => $summary),+
                }
            }
        }
    };
}

mnemonics! {
    ("sqrdmulh", Sqrdmulh) => "signed saturating rounding doubling multiply returning high half",
    ("sqdmulh", Sqdmulh) => "signed saturating doubling multiply returning high half",
    ("srshl", Srshl) => "signed rounding shift left by register",
    ("sqshl", Sqshl) => "signed saturating shift left by register",
    ("sqadd", Sqadd) => "signed saturating add",
    ("add", Add) => "add",
    ("mul", Mul) => "multiply",
    ("and", And) => "bitwise and",
    ("sshr", Sshr) => "signed shift right by an immediate",
    ("shl", Shl) => "shift left by an immediate",
    ("sshl", Sshl) => "signed shift left by register, not rounding",
}

use Mnemonic::*;

impl Mnemonic {
    /// Finds an instruction by assembler name.
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, m)| *m).ok_or_else(|| unknown("instruction", name, Self::ALL.map(|(n, _)| n)))
    }

    /// Computes one lane of width `word`, by its definition on big numbers.
    pub fn lane_exact(self, word: Word, a: i64, b: i64) -> ExactLane {
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

    /// Computes one lane in machine integers, derived independently of [`Mnemonic::lane_exact`].
    pub fn lane(self, word: Word, a: i64, b: i64) -> (i64, bool) {
        let (n, a, b) = (b as i8, i128::from(a), i128::from(b));
        let (exact, saturates) = match self {
            Sqrdmulh => ((2 * a * b + (1 << (word.bits - 1))) >> word.bits, true),
            Sqdmulh => ((2 * a * b) >> word.bits, true),
            Sqadd => (a + b, true),
            Sqshl => (shifted_fast(a, n, 0), true),
            Srshl => (shifted_fast(a, n, 1), false),
            Sshl => (shifted_fast(a, n, 0), false),
            Add => (a + b, false),
            Mul => (a * b, false),
            And => (a & b, false),
            Sshr => (a >> b, false),
            Shl => (a << b, false),
        };
        let fitted = if saturates { word.saturate(exact) } else { word.wrap(exact) };
        (fitted as i64, saturates && fitted != exact)
    }
}

/// Computes `a * 2^n`, with n the low byte of `b` as a signed number.
fn shifted(a: i64, b: i64) -> Rational {
    Rational::from(a) << i32::from(b as i8)
}

fn saturated(word: Word, v: Integer) -> ExactLane {
    let fitted = word.saturate_exact(&v);
    let saturates = fitted != v;
    (fitted, saturates)
}

/// Computes `a * 2^n` in machine integers, n in -128..=127, rounded down after `bias * 2^(-n-1)` is added. Lanes have at most 32 bits, so
/// a right shift beyond 64 places leaves only the sign, and a left shift beyond 64 places gives 0 only for 0.
fn shifted_fast(a: i128, n: i8, bias: i128) -> i128 {
    match i32::from(n) {
        n if n >= 0 => a << n.min(64),
        n => (a + (bias << (-n - 1).min(64))) >> (-n).min(65),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(word: Word, a: i64, b: i64) {
        for (name, mnemonic) in Mnemonic::ALL {
            // Immediate shifts accept only these amounts.
            let immediate = matches!(mnemonic, Sshr | Shl);
            if immediate && !(0..i64::from(word.bits)).contains(&b) {
                continue;
            }
            let (value, saturates) = mnemonic.lane(word, a, b);
            let (exact, exactly) = mnemonic.lane_exact(word, a, b);
            assert_eq!((Integer::from(value), saturates), (exact, exactly), "{name} at {} bits: {a}, {b}", word.bits);
        }
    }

    #[test]
    fn both_forms_agree_on_every_pair_of_bytes() {
        for a in -128..128 {
            for b in -128..128 {
                agree(Word { bits: 8 }, a, b);
            }
        }
    }

    #[test]
    fn both_forms_agree_at_the_ends_of_wider_lanes() {
        for bits in [16, 32] {
            let top = 1i64 << (bits - 1);
            let values: Vec<i64> =
                [-top, 1 - top, top - 1, top - 2, top / 2, -top / 2].into_iter().chain(-70..70).collect();
            for a in &values {
                for b in &values {
                    agree(Word { bits }, *a, *b);
                }
            }
        }
    }
}

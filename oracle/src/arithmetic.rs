//! Float arithmetic as IEEE 754-2019 defines it, on exact rationals. Each result is the exact result rounded once, to nearest, ties to even
//! (4.3.1, 5.4.1; 6.3 for the sign of zero; 7.2 for invalid operations). `Remainder` is C's `fmod`, which MLIR's `arith.remf` lowers to.

use crate::float::{Float, Format};
use crate::rounding::RoundingRule;
use rug::Rational;
use serde::Serialize;

/// An operation on two numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// `a - b * trunc(a / b)`, always a number of the format.
    Remainder,
}

use Arithmetic::*;

impl Arithmetic {
    /// Every operation.
    pub const ALL: [Self; 5] = [Add, Subtract, Multiply, Divide, Remainder];

    /// Returns the result for two patterns of `format`. Every NaN is the quiet NaN with neither payload nor sign.
    pub fn apply(self, format: Format, a: u64, b: u64) -> u64 {
        let (x, y) = (format.decode(a), format.decode(b));
        let nan = format.infinity() + (1 << (format.precision() - 2));
        let sign = if negative(&x) != negative(&y) { format.sign() } else { 0 };
        match (self, &x, &y) {
            (_, Float::Nan, _) | (_, _, Float::Nan) => nan,
            (Subtract, ..) => Add.apply(format, a, b ^ format.sign()),
            (_, Float::Finite { value: p, .. }, Float::Finite { value: q, .. }) => {
                self.of_numbers(format, p, q)
                    .unwrap_or_else(|| if self == Divide && *p != 0 { format.infinity() | sign } else { nan })
                    | self.sign_of_zero(format, (p, a), (q, b), sign)
            }
            (Add, Float::Infinite { .. }, Float::Infinite { .. }) if a != b => nan,
            (Add, Float::Finite { .. }, _) => b,
            (Add, ..) | (Remainder, Float::Finite { .. }, _) => a,
            (Multiply, _, Float::Finite { value, .. }) | (Multiply, Float::Finite { value, .. }, _) if *value == 0 => {
                nan
            }
            (Multiply, ..) => format.infinity() | sign,
            (Divide, Float::Finite { .. }, _) => sign,
            (Divide, _, Float::Finite { .. }) => format.infinity() | sign,
            (Divide | Remainder, ..) => nan,
        }
    }

    /// Computes the result for two numbers, `None` for a division by zero. A zero result is +0.
    fn of_numbers(self, format: Format, p: &Rational, q: &Rational) -> Option<u64> {
        if *q == 0 && matches!(self, Divide | Remainder) {
            return None;
        }
        let exact = match self {
            Add => Rational::from(p + q),
            Subtract => Rational::from(p - q),
            Multiply => Rational::from(p * q),
            Divide => Rational::from(p / q),
            Remainder => p - q * Rational::from(RoundingRule::TowardZero.round(&Rational::from(p / q))),
        };
        Some(format.nearest(&exact))
    }

    /// Returns the sign bit of a result that is an exact zero. A remainder has the sign of the dividend, a product or quotient the product of
    /// the signs. A sum is negative only if both operands are; its sign bit is returned even if the sum is not zero.
    fn sign_of_zero(self, format: Format, (p, a): (&Rational, u64), (q, b): (&Rational, u64), product: u64) -> u64 {
        let zero = |exact: bool, sign: u64| if exact { sign } else { 0 };
        match self {
            Add | Subtract => a & b & format.sign(),
            Multiply => zero(*p == 0 || *q == 0, product),
            Divide => zero(*p == 0 && *q != 0, product),
            Remainder => zero(*q != 0 && Rational::from(p / q).is_integer(), a & format.sign()),
        }
    }
}

fn negative(x: &Float) -> bool {
    matches!(x, Float::Infinite { negative: true } | Float::Finite { negative: true, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};
    use proptest::prelude::*;

    fn native32(op: Arithmetic, a: f32, b: f32) -> f32 {
        match op {
            Add => a + b,
            Subtract => a - b,
            Multiply => a * b,
            Divide => a / b,
            Remainder => a % b,
        }
    }

    fn native64(op: Arithmetic, a: f64, b: f64) -> f64 {
        match op {
            Add => a + b,
            Subtract => a - b,
            Multiply => a * b,
            Divide => a / b,
            Remainder => a % b,
        }
    }

    fn check32(a: u32, b: u32) {
        for op in Arithmetic::ALL {
            let native = native32(op, f32::from_bits(a), f32::from_bits(b));
            let ours = f32::from_bits(op.apply(Format::F32, a.into(), b.into()) as u32);
            assert!(
                ours.to_bits() == native.to_bits() || (ours.is_nan() && native.is_nan()),
                "{op:?} {a:#x} {b:#x}: {ours:?}, the machine {native:?}"
            );
        }
    }

    /// Corner values of every kind, paired with each other.
    const CORNERS: [u32; 16] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x3f80_0001,
        0x4049_0fdb,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7f80_0001,
    ];

    #[test]
    fn corners_of_f32_are_as_the_machine_has_them() {
        CORNERS.iter().for_each(|a| CORNERS.iter().for_each(|b| check32(*a, *b)));
    }

    proptest! {
        #[test]
        fn f32_is_as_the_machine_has_it(a: u32, b: u32, near in -3i32..3) {
            check32(a, b);
            check32(a, a.wrapping_add_signed(near));
            check32(a, (a ^ 0x8000_0000).wrapping_add_signed(near));
        }

        #[test]
        fn f64_is_as_the_machine_has_it(a: u64, b: u64, exponent in 0u64..60) {
            let near = (b & !(0x7ff << 52)) | (((a >> 52 & 0x7ff).saturating_sub(exponent)) << 52);
            for (op, b) in Arithmetic::ALL.into_iter().flat_map(|op| [(op, b), (op, near)]) {
                // A remainder of operands with distant exponents is a long division; near exponents test the same code.
                if op == Remainder && b != near {
                    continue;
                }
                let native = native64(op, f64::from_bits(a), f64::from_bits(b));
                let ours = f64::from_bits(op.apply(Format::F64, a, b));
                prop_assert!(ours.to_bits() == native.to_bits() || (ours.is_nan() && native.is_nan()), "{op:?} {a:#x} {b:#x}");
            }
        }

        /// Sixteen-bit formats agree with rounded f32 results. One f32 operation rounds the same, because 24 bits are enough (24 >= 2 * 11 + 2).
        #[test]
        fn sixteen_bits_are_as_their_f32_rounded(a: u16, b: u16) {
            for op in Arithmetic::ALL {
                let (x, y) = (f16::from_bits(a), f16::from_bits(b));
                let expected = f16::from_f32(native32(op, x.to_f32(), y.to_f32()));
                let ours = f16::from_bits(op.apply(Format::F16, a.into(), b.into()) as u16);
                prop_assert!(ours.to_bits() == expected.to_bits() || (ours.is_nan() && expected.is_nan()), "{op:?} {x} {y}");
                let (x, y) = (bf16::from_bits(a), bf16::from_bits(b));
                let expected = bf16::from_f32(native32(op, x.to_f32(), y.to_f32()));
                let ours = bf16::from_bits(op.apply(Format::Bf16, a.into(), b.into()) as u16);
                prop_assert!(ours.to_bits() == expected.to_bits() || (ours.is_nan() && expected.is_nan()), "{op:?} {x} {y}");
            }
        }
    }
}

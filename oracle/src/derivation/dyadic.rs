//! Numbers of a float format in machine integers, a significand and an exponent, as the second form of the rationals.

use crate::float::Format;
use crate::rounding::RoundingRule::{TiesAway, TiesEven};
use rug::Rational;

/// Returns the nearest number of the format, ties to even. A value beyond the format is returned unchanged; no scale of a layer is so
/// large, and int32 saturates long before.
pub fn nearest(format: Format, v: &Rational) -> Rational {
    format.decode(format.nearest(v)).finite().unwrap_or(v).clone()
}

/// Returns the `e` with `|v|` in `[2^(e-1), 2^e)`, like `frexp`; `v` is not zero.
pub fn exponent(v: &Rational) -> i32 {
    let e = v.numer().significant_bits() as i32 - v.denom().significant_bits() as i32;
    // The quotient of the leading bits is in (1/2, 2).
    if v.clone().abs() >= Rational::from(1) << e { e + 1 } else { e }
}

/// Number `n * 2^e` in machine integers, the second form of a number of a format. `n` is odd, or both are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dyadic {
    /// Significand.
    pub n: i128,
    /// Exponent.
    pub e: i32,
}

impl Dyadic {
    /// Creates `n * 2^e`.
    #[inline]
    pub fn new(n: i128, e: i32) -> Self {
        match n {
            0 => Self { n: 0, e: 0 },
            _ => Self { n: n >> n.trailing_zeros(), e: e + n.trailing_zeros() as i32 },
        }
    }

    /// Converts a rational; `None` unless its denominator is a power of two and its significand has at most 100 bits.
    pub fn of(v: &Rational) -> Option<Self> {
        let twos = v.denom().find_one(0)?;
        let dyadic = *v.denom() == rug::Integer::from(1) << twos && v.numer().significant_bits() <= 100;
        dyadic.then(|| v.numer().to_i128().map(|n| Self::new(n, -(twos as i32))))?
    }

    /// Rounds to `bits` bits of significand, ties to even. Callers avoid subnormal numbers.
    #[inline]
    pub fn rounded(self, bits: u32) -> Self {
        let length = 128 - self.n.unsigned_abs().leading_zeros();
        match length.checked_sub(bits) {
            None | Some(0) => self,
            Some(more) => Self::new(TiesEven.shift_right(self.n, more), self.e + more as i32),
        }
    }

    /// Returns multiplier and shift of a number above 0, like [`super::quantize_multiplier`]; the shift may be above 31.
    #[inline]
    pub fn q31(self) -> (i32, i32) {
        let length = (128 - self.n.unsigned_abs().leading_zeros()) as i32;
        let multiplier = match 31 - length {
            left @ 0.. => self.n << left,
            right => TiesAway.shift_right(self.n, right.unsigned_abs()),
        };
        let shift = length + self.e;
        let (multiplier, shift) = if multiplier == 1 << 31 { (1 << 30, shift + 1) } else { (multiplier as i32, shift) };
        if shift < -31 { (0, 0) } else { (multiplier, shift) }
    }

    /// Multiplies; the significands have at most 126 bits together.
    #[inline]
    pub fn times(self, other: Self) -> Self {
        Self::new(self.n * other.n, self.e + other.e)
    }

    /// Divides with a quotient of at least 64 bits, whose last bit is set if anything was cut off, so any rounding to fewer bits is
    /// correct. Significands have at most 60 bits; the divisor is not 0.
    #[inline]
    pub fn over(self, other: Self) -> Self {
        // The longest dividend that fits: a short dividend by a long divisor otherwise gives too few bits.
        let shift = (self.n.unsigned_abs().leading_zeros()).saturating_sub(3);
        let (dividend, divisor) = (self.n.unsigned_abs() << shift, other.n.unsigned_abs());
        let quotient = (dividend / divisor) << 1 | u128::from(!dividend.is_multiple_of(divisor));
        let sign = self.n.signum() * other.n.signum();
        Self::new(sign * quotient as i128, self.e - other.e - shift as i32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(d: Dyadic) -> Rational {
        Rational::from(d.n) << d.e
    }

    /// Regression: 1 / 31554 had only 52 of the 53 bits that it was rounded to. Found by `both_forms_agree`.
    #[test]
    fn a_short_dividend_has_a_long_quotient() {
        for divisor in [3, 31554, 584_608_736_569_359, (1 << 53) - 1] {
            let quotient = Dyadic::new(1, 0).over(Dyadic::new(divisor, 0)).rounded(53);
            assert_eq!(exact(quotient), nearest(Format::F64, &Rational::from((1, divisor))), "1 / {divisor}");
        }
    }

    fn f32_of(v: f32) -> Rational {
        Rational::from_f32(v).expect("a finite number")
    }

    fn f64_of(v: f64) -> Rational {
        Rational::from_f64(v).expect("a finite number")
    }

    proptest! {
        /// Compares with machine floats, which neither form uses.
        #[test]
        fn products_and_quotients_round_as_the_machine_rounds(a in any::<f32>(), b in any::<f32>(), c in 1e-30f32..1e30) {
            prop_assume!(a.is_finite() && b.is_finite());
            if (a * b).is_finite() {
                prop_assert_eq!(nearest(Format::F32, &(f32_of(a) * f32_of(b))), f32_of(a * b));
            }
            let wide = f64::from(a) * f64::from(b);
            prop_assert_eq!(nearest(Format::F64, &(f64_of(wide) / f32_of(c))), f64_of(wide / f64::from(c)));
            if (wide as f32).is_finite() {
                prop_assert_eq!(nearest(Format::F32, &f64_of(wide)), f32_of(wide as f32));
            }
        }

        /// Significands of every length agree.
        #[test]
        fn both_forms_agree(a in -(1i64 << 53)..1 << 53, b in 1i64..1 << 53, cut in [0u32..53, 0u32..53], e in -40i32..40) {
            let (x, y) = (Dyadic::new((a >> cut[0]).into(), e), Dyadic::new((b >> cut[1]).max(1).into(), -e));
            for format in [Format::F32, Format::F64] {
                let bits = format.precision();
                prop_assert_eq!(exact(x.times(y).rounded(bits)), nearest(format, &(exact(x) * exact(y))));
                prop_assert_eq!(exact(x.over(y).rounded(bits)), nearest(format, &(exact(x) / exact(y))));
                prop_assert_eq!(Dyadic::of(&exact(x)), Some(x));
            }
            if let Some(multiplier) = crate::derivation::quantize_multiplier(&exact(y)) {
                prop_assert_eq!(y.q31(), multiplier);
            }
        }
    }
}

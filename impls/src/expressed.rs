//! Arithmetic in the expressed types, as compilers and processors do it.
//!
//! f16 and bf16 are computed in f32 and rounded after every operation, as LLVM does for x86 and for aarch64 without half-precision arithmetic. The
//! result is correctly rounded although it rounds twice: f32 has 24 bits, and `24 >= 2p + 2` for p = 11 and p = 8, so no quotient, sum or product of
//! two such values is between a tie of the 16-bit type and the f32 to which it rounds (Figueroa, "When is double rounding innocuous?", 1995).

use half::{bf16, f16};

/// Value of an expressed type.
pub(crate) trait Real: Copy {
    /// Words of int32 per value in a payload.
    const WORDS: usize;

    /// Reads a value from its words, the low word first.
    fn load(words: &[i32]) -> Self;
    /// Writes the value to its words, the low word first.
    fn store(self, words: &mut [i32]);
    /// Returns the nearest value, ties to even.
    fn nearest(value: f64) -> Self;
    /// Converts to a double, exactly: a double holds every value of every expressed type.
    fn double(self) -> f64;

    /// Returns the rounded result of an operation: `double` for f64, `single` for every other type.
    fn by(self, other: Self, single: impl Fn(f32, f32) -> f32, double: impl Fn(f64, f64) -> f64) -> Self;

    /// Returns `self / other`, rounded.
    #[inline(always)]
    fn divided_by(self, other: Self) -> Self {
        self.by(other, |a, b| a / b, |a, b| a / b)
    }
    /// Returns `self + other`, rounded.
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.by(other, |a, b| a + b, |a, b| a + b)
    }
    /// Returns `self - other`, rounded.
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.by(other, |a, b| a - b, |a, b| a - b)
    }
    /// Returns `self * other`, rounded.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.by(other, |a, b| a * b, |a, b| a * b)
    }

    /// Returns the value nearest to an integer of at most 33 bits, which a double holds exactly.
    fn integer(value: i64) -> Self {
        Self::nearest(value as f64)
    }
}

impl Real for f32 {
    const WORDS: usize = 1;

    #[inline(always)]
    fn load(words: &[i32]) -> Self {
        Self::from_bits(words[0] as u32)
    }

    #[inline(always)]
    fn store(self, words: &mut [i32]) {
        words[0] = self.to_bits() as i32;
    }

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn by(self, other: Self, single: impl Fn(f32, f32) -> f32, _: impl Fn(f64, f64) -> f64) -> Self {
        single(self, other)
    }
}

impl Real for f64 {
    const WORDS: usize = 2;

    #[inline(always)]
    fn load(words: &[i32]) -> Self {
        Self::from_bits(u64::from(words[1] as u32) << 32 | u64::from(words[0] as u32))
    }

    #[inline(always)]
    fn store(self, words: &mut [i32]) {
        let bits = self.to_bits();
        (words[0], words[1]) = (bits as i32, (bits >> 32) as i32);
    }

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }

    #[inline(always)]
    fn by(self, other: Self, _: impl Fn(f32, f32) -> f32, double: impl Fn(f64, f64) -> f64) -> Self {
        double(self, other)
    }
}

/// Implements [`Real`] for a type of 16 bits, computed in f32.
macro_rules! half {
    ($type:ident) => {
        impl Real for $type {
            const WORDS: usize = 1;

            #[inline(always)]
            fn load(words: &[i32]) -> Self {
                Self::from_bits(words[0] as u16)
            }

            #[inline(always)]
            fn store(self, words: &mut [i32]) {
                words[0] = self.to_bits().into();
            }

            #[inline(always)]
            fn nearest(value: f64) -> Self {
                Self::from_f32(odd(value))
            }

            #[inline(always)]
            fn double(self) -> f64 {
                self.to_f32().into()
            }

            #[inline(always)]
            fn by(self, other: Self, single: impl Fn(f32, f32) -> f32, _: impl Fn(f64, f64) -> f64) -> Self {
                Self::from_f32(single(self.to_f32(), other.to_f32()))
            }
        }
    };
}
half!(f16);
half!(bf16);

/// Rounds a double to odd: the nearest f32 towards zero, with its last bit set if bits were lost. A second rounding to at most 22 bits then equals a
/// single rounding of the double (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). A second rounding of the nearest f32
/// does not, and `from_f64` of the crate `half` may round that way.
fn odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() {
        return nearest;
    }
    let bits = nearest.to_bits();
    // The bits of numbers of one sign are ordered as their magnitudes; the step down from infinity gives the largest number.
    let down = if back.abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(down | 1)
}

/// Calls `$run::<T>($args)` for the type `T` of `$expressed`.
macro_rules! with_real {
    ($expressed:expr, $run:ident::<_ $(, $generic:ty)*>($($arg:expr),*)) => {
        match $expressed {
            $crate::quantized::Expressed::F16 => $run::<half::f16 $(, $generic)*>($($arg),*),
            $crate::quantized::Expressed::Bf16 => $run::<half::bf16 $(, $generic)*>($($arg),*),
            $crate::quantized::Expressed::F32 => $run::<f32 $(, $generic)*>($($arg),*),
            $crate::quantized::Expressed::F64 => $run::<f64 $(, $generic)*>($($arg),*),
        }
    };
}
pub(crate) use with_real;

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the nearest f16 by comparison with every non-negative number.
    fn brute_force(value: f64) -> u16 {
        let distance = |bits: u16| (f16::from_bits(bits).double() - value).abs();
        (0..0x7c00).min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1)))).expect("numbers")
    }

    #[test]
    fn doubles_round_once() {
        // Ties exactly, and values above and below a tie by less than f32 can represent.
        for base in [1.0, f64::exp2(-24.0) * 3.0, 1024.0] {
            let step = if base < 1e-6 { f64::exp2(-24.0) } else { base / 1024.0 };
            for nudge in [0.0, 1e-12, -1e-12] {
                let value = base + step * (0.5 + nudge);
                assert_eq!(f16::nearest(value).to_bits(), brute_force(value), "{value:e}");
                assert_eq!(f16::nearest(-value).to_bits(), brute_force(value) | 0x8000, "{value:e}");
            }
        }
        assert_eq!(f16::nearest(65519.999999999).to_bits(), 0x7bff);
        assert_eq!(f16::nearest(65520.0).to_bits(), 0x7c00);
        assert_eq!(bf16::nearest(f64::MAX), bf16::INFINITY);
        // A conversion through the nearest f32, 2^24 + 2^16, would give 2^24.
        assert_eq!(bf16::integer((1 << 24) + (1 << 16) + 1).double(), 16_908_288.0);
        assert_eq!(bf16::integer(-(1 << 24) - (1 << 16)).double(), -16_777_216.0);
    }

    #[test]
    fn words_come_back() {
        for expressed in crate::quantized::Expressed::ALL {
            with_real!(expressed, same::<_>());
        }
        fn same<T: Real>() {
            let mut words = vec![0; T::WORDS];
            for value in [0.0, -0.0, 1.5, -1024.0, f64::INFINITY] {
                T::nearest(value).store(&mut words);
                let back = T::load(&words).double();
                assert_eq!(back.to_bits(), value.to_bits());
            }
        }
    }

    /// All pairs of some patterns, including subnormal ones. In double a sum or product of f16 is exact, and a quotient is correctly rounded, because
    /// `53 >= 2 * 11 + 2`.
    #[test]
    fn f16_operations_round_once() {
        let patterns = (0..0x7c00).step_by(97).chain([1, 2, 3, 0x3ff, 0x400, 0x401, 0x7bff]);
        let values: Vec<f16> =
            patterns.flat_map(|bits| [f16::from_bits(bits), f16::from_bits(bits | 0x8000)]).collect();
        for a in &values {
            for b in &values {
                let (x, y) = (a.double(), b.double());
                assert_eq!(a.plus(*b), f16::nearest(x + y));
                assert_eq!(a.minus(*b), f16::nearest(x - y));
                assert_eq!(a.times(*b), f16::nearest(x * y));
                if y != 0.0 {
                    assert_eq!(a.divided_by(*b), f16::nearest(x / y));
                }
            }
        }
    }
}

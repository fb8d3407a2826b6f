//! Elementary functions of floats, correctly rounded: each result is the real value rounded once, to nearest, ties to even. A real value is enclosed
//! between two rationals, which are refined until both round to the same number; no irrational value is a tie.
//!
//! Source: IEEE 754-2019, 9.2 (recommended correctly rounded functions) and 5.4.1 (squareRoot).

use crate::exp::enclosed;
use crate::float::{Float, Format};
use rug::{Integer, Rational};

/// Function of a number of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementary {
    /// `e^x`.
    Exp,
    /// Natural logarithm.
    Log,
    /// Square root.
    SquareRoot,
}

use Elementary::*;

/// Exponent from which on `e^x` is beyond every format, and `e^-x` is 0.
const FAR: i32 = 1200;

/// Terms of a series that each attempt adds.
const TERMS: u32 = 24;

impl Elementary {
    /// All functions.
    pub const ALL: [Self; 3] = [Exp, Log, SquareRoot];

    /// Returns the result for a pattern of `format`. Every NaN is the quiet NaN with neither payload nor sign.
    pub fn apply(self, format: Format, bits: u64) -> u64 {
        let infinity = format.infinity();
        match (self, format.decode(bits)) {
            (_, Float::Nan) | (Log | SquareRoot, Float::Infinite { negative: true }) => format.nan(),
            (Exp, Float::Infinite { negative: true }) => 0,
            (_, Float::Infinite { .. }) => infinity,
            (Exp, Float::Finite { value, .. }) => exp(format, &value),
            (SquareRoot, Float::Finite { value, .. }) if value == 0 => bits,
            (Log, Float::Finite { value, .. }) if value == 0 => infinity | format.sign(),
            (Log | SquareRoot, Float::Finite { negative: true, .. }) => format.nan(),
            (Log, Float::Finite { value, .. }) => log(format, &value),
            (SquareRoot, Float::Finite { value, .. }) => square_root(format, &value),
        }
    }
}

/// Returns the number that both ends round to, at the first attempt at which both round to the same number.
fn decided(format: Format, enclosure: impl Fn(u32) -> [Rational; 2]) -> u64 {
    let one = |attempt| {
        let [low, high] = enclosure(attempt).map(|end| format.nearest(&end));
        (low == high).then_some(low)
    };
    (1..).find_map(one).expect("no irrational number is a tie")
}

/// Computes `e^x`, which is rational only for 0.
fn exp(format: Format, x: &Rational) -> u64 {
    if *x >= FAR || *x <= -FAR {
        return if *x > 0 { format.infinity() } else { 0 };
    }
    let fraction = x.denom().significant_bits() - 1;
    let magnitude = Integer::from(x.numer().abs_ref());
    let whole = Integer::from(&magnitude >> fraction).to_u32().unwrap_or_default();
    decided(format, |attempt| {
        let (low, high) = enclosed(&magnitude, fraction, whole + TERMS * attempt);
        if *x > 0 { [high.recip(), low.recip()] } else { [low, high] }
    })
}

/// Encloses `2 * atanh(z)`, for `0 <= z <= 1/3`, between a partial sum of its series and that sum plus a bound of the rest.
fn twice_atanh(z: &Rational, terms: u32) -> [Rational; 2] {
    let square = Rational::from(z * z);
    let (mut sum, mut power) = (Rational::new(), z.clone());
    for n in 0..terms {
        sum += Rational::from(&power / (2 * n + 1));
        power *= &square;
    }
    let rest = power / (2 * terms + 1) / (Rational::from(1) - square);
    let high = Rational::from(&sum + &rest);
    [sum * 2, high * 2]
}

/// Computes `ln x`, which is rational only for 1. For `x = 2^k * m` the result is `k * ln 2 + ln m`.
fn log(format: Format, x: &Rational) -> u64 {
    let guess = x.numer().significant_bits() as i32 - x.denom().significant_bits() as i32;
    let k = if x.clone() >> guess < 1 { guess - 1 } else { guess };
    let m = x.clone() >> k;
    let z = Rational::from(&m - 1) / Rational::from(&m + 1);
    decided(format, |attempt| {
        let [low, high] = twice_atanh(&z, TERMS * attempt);
        let mut two = twice_atanh(&Rational::from((1, 3)), TERMS * attempt);
        if k < 0 {
            two.reverse();
        }
        let [below, above] = two.map(|ln| ln * k);
        [low + below, high + above]
    })
}

/// Computes the square root of a positive number: an integer root with more bits than the format, and a sticky bit for the remainder. The sticky bit
/// suffices because no number or midpoint of the format is between two consecutive integers of the root.
fn square_root(format: Format, x: &Rational) -> u64 {
    let exponent = x.denom().significant_bits() as i32 - 1;
    // An even shift that gives the root all digits of the format and of its midpoints.
    let shift = 2 * (format.precision() as i32 + 2) + exponent % 2;
    let scaled = Integer::from(x.numer() << shift as u32);
    let (root, rest) = scaled.clone().sqrt_rem(Integer::new());
    let more = if rest == 0 { Rational::new() } else { Rational::from((1, 2)) };
    format.nearest(&((Rational::from(root) + more) >> ((shift + exponent) / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine(function: Elementary, x: f64) -> f64 {
        match function {
            Exp => x.exp(),
            Log => x.ln(),
            SquareRoot => x.sqrt(),
        }
    }

    /// Returns the machine's double, with an error below two units in the last place, rounded to f32; `None` if a tie is that close.
    fn by_double(function: Elementary, x: f32) -> Option<f32> {
        let double = machine(function, x.into());
        let near = [-2, 0, 2].map(|steps| f64::from_bits(double.to_bits().wrapping_add_signed(steps)) as f32);
        let is_one = near.iter().all(|end| end.to_bits() == near[0].to_bits());
        if double == 0.0 || !double.is_finite() { Some(double as f32) } else { is_one.then_some(near[1]) }
    }

    fn check(function: Elementary, x: f32) -> bool {
        let ours = f32::from_bits(function.apply(Format::F32, x.to_bits().into()) as u32);
        let Some(expected) = by_double(function, x) else { return false };
        assert!(
            ours.to_bits() == expected.to_bits() || (ours.is_nan() && expected.is_nan()),
            "{function:?} {x:?}: {ours:?}, the machine {expected:?}"
        );
        true
    }

    #[test]
    fn corners_of_f32_are_as_the_machine_has_them() {
        let tiny = f32::from_bits(1);
        let corners = [
            0.0,
            tiny,
            f32::MIN_POSITIVE,
            0.5,
            1.0 - f32::EPSILON / 2.0,
            1.0,
            1.0 + f32::EPSILON,
            2.0,
            2.25,
            88.7,
            88.8,
            104.0,
            4096.0,
        ];
        let far = [1e9, f32::MAX, f32::INFINITY, f32::NAN];
        for x in corners.into_iter().chain(far).flat_map(|x| [x, -x]) {
            Elementary::ALL.into_iter().for_each(|function| assert!(check(function, x), "{function:?} {x}"));
        }
    }

    /// Positive patterns of two bytes, whose results in machine f64 are exact enough. A root in f64 is exact whenever its result is.
    #[test]
    fn every_positive_half_is_as_the_machine_has_it() {
        let format = Format::F16;
        let mut near_ties = 0;
        for bits in (0..format.infinity()).step_by(3) {
            let x = half::f16::from_bits(bits as u16).to_f64();
            for function in Elementary::ALL {
                let double = machine(function, x);
                let round = |double: f64| half::f16::from_f64(double).to_bits();
                let ends = [-2, 2].map(|steps| round(f64::from_bits(double.to_bits().wrapping_add_signed(steps))));
                if double != 0.0 && double.is_finite() && ends[0] != ends[1] && function != SquareRoot {
                    near_ties += 1;
                } else {
                    assert_eq!(function.apply(format, bits), u64::from(round(double)), "{function:?} {x}");
                }
            }
        }
        assert!(near_ties < 10, "{near_ties}");
    }

    proptest! {
        #[test]
        fn f32_is_as_the_machine_has_it(bits: u32, x in -110f32..110.0) {
            for function in Elementary::ALL {
                check(function, f32::from_bits(bits));
                check(function, x);
            }
        }
    }
}

//! Elementary functions of floats, correctly rounded: each result is the real one rounded once, to nearest, ties to even. A real result is enclosed between two
//! rationals, which are brought nearer until both are rounded to one number; no result that is irrational is a tie.
//!
//! Source: IEEE 754-2019, 9.2 (recommended correctly rounded functions) and 5.4.1 (squareRoot).

use crate::exp::enclosed;
use crate::float::{Float, Format};
use rug::{Integer, Rational};

/// A function of one number of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementary {
    /// `e^x`.
    Exp,
    /// The natural logarithm.
    Log,
    /// The square root.
    SquareRoot,
}

use Elementary::*;

/// From this exponent on, `e^x` is beyond every format, and `e^-x` is 0.
const FAR: i32 = 1200;

/// Terms of a series, for each attempt.
const TERMS: u32 = 24;

impl Elementary {
    /// All functions.
    pub const ALL: [Self; 3] = [Exp, Log, SquareRoot];

    /// The result for a pattern of `format`. Every NaN is the quiet one with no payload and no sign.
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

/// The number that both ends are rounded to, at the first attempt at which it is one.
fn decided(format: Format, enclosure: impl Fn(u32) -> [Rational; 2]) -> u64 {
    let one = |attempt| {
        let [low, high] = enclosure(attempt).map(|end| format.nearest(&end));
        (low == high).then_some(low)
    };
    (1..).find_map(one).expect("no irrational number is a tie")
}

/// `e^x`, which is rational for 0 alone.
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

/// `2 * atanh(z)` of `0 <= z <= 1/3` between two rationals: a partial sum of its series, and that sum with a bound of the rest.
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

/// `ln x`, which is rational for 1 alone: of `2^k * m`, `k * ln 2 + ln m`.
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

/// The square root of a positive number: an integer root of more bits than the format and a bit that says whether there is more, because no number of half a step is
/// between two of its integers.
fn square_root(format: Format, x: &Rational) -> u64 {
    let exponent = x.denom().significant_bits() as i32 - 1;
    // An even shift, so that the root has all digits of the format, and of halves of its steps.
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

    /// The machine's double, which is off by less than two of its steps, rounded to f32, unless a tie is that near.
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

    /// Every positive pattern of two bytes, whose results the machine's f64 gives exactly enough; of a root it is exact whenever the result is.
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

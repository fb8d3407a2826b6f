//! Requantization with a single rounding: the accumulator times the real multiplier, to the nearest integer. The schemes of shipped
//! libraries approximate this result; no library computes it.

use crate::fpm::pieces::Output;
use crate::rounding::RoundingRule;
use rug::{Integer, Rational};

/// Named rule for halves.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Rounding of a half.
    pub rule: RoundingRule,
}

/// Every rule.
pub static DEFINITIONS: &[Definition] = &[
    Definition {
        name: "real-ties-away",
        summary: "acc * scale as a real number, to nearest, half away from zero, + zero point",
        rule: RoundingRule::TiesAway,
    },
    Definition {
        name: "real-ties-even",
        summary: "acc * scale as a real number, to nearest, half to even, + zero point",
        rule: RoundingRule::TiesEven,
    },
];

/// Definition with its multiplier.
#[derive(Clone, Debug)]
pub struct Real {
    /// Definition of the rule.
    pub definition: &'static Definition,
    multiplier: Rational,
    /// Numerator and denominator, if each product with an int32 fits in 127 bits when doubled; otherwise `None`.
    fraction: Option<(i128, i128)>,
}

/// Largest number of bits of a numerator or denominator in machine integers: a doubled product with an int32 has at most 126.
const BITS: u32 = 93;

impl Real {
    /// Creates the requantization by a multiplier above 0.
    pub fn new(definition: &'static Definition, multiplier: Rational) -> Self {
        let fits = |n: &Integer| (n.significant_bits() <= BITS).then(|| n.to_i128()).flatten();
        let fraction = fits(multiplier.numer()).zip(fits(multiplier.denom()));
        Self { definition, multiplier, fraction }
    }

    /// Returns the multiplier.
    pub fn multiplier(&self) -> &Rational {
        &self.multiplier
    }

    /// Computes the output by rationals.
    pub fn exact(&self, x: i32, output: &Output) -> i32 {
        let integer = self.definition.rule.round(&(Rational::from(x) * &self.multiplier));
        let saturated = integer.clamp(&i32::MIN, &i32::MAX);
        let placed = saturated + Integer::from(output.zero_point);
        placed.clamp(&output.min, &output.max).to_i32().expect("between two int32")
    }

    /// Computes [`Real::exact`] in machine integers, or by rationals if the multiplier has too many bits.
    pub fn fast(&self, x: i32, output: &Output) -> i32 {
        let Some((n, d)) = self.fraction else { return self.exact(x, output) };
        // floor((2nx + d) / 2d) rounds halves up.
        let (twice, whole) = (2 * n * i128::from(x) + d, 2 * d);
        let (up, is_half) = (twice.div_euclid(whole), twice.rem_euclid(whole) == 0);
        let down = is_half
            && match self.definition.rule {
                RoundingRule::TiesAway => x < 0,
                _ => up & 1 == 1,
            };
        let integer = (up - i128::from(down)).clamp(i32::MIN.into(), i32::MAX.into());
        (integer + i128::from(output.zero_point)).clamp(output.min.into(), output.max.into()) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANY: Output = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };

    fn at(definition: usize, multiplier: (i64, i64), x: i32) -> i32 {
        Real::new(&DEFINITIONS[definition], Rational::from(multiplier)).exact(x, &ANY)
    }

    #[test]
    fn halves_go_where_the_name_says() {
        assert_eq!([-3, -1, 1, 3].map(|x| at(0, (1, 2), x)), [-2, -1, 1, 2]);
        assert_eq!([-3, -1, 1, 3].map(|x| at(1, (1, 2), x)), [-2, 0, 0, 2]);
        assert_eq!([at(0, (1, 3), 4), at(0, (1, 3), 5), at(1, (i64::MAX, 1), 2)], [1, 2, i32::MAX]);
    }

    #[test]
    fn a_multiplier_of_many_bits_has_the_same_result() {
        let third = Rational::from((1, 3)) + (Rational::from(1) >> 120);
        let real = Real::new(&DEFINITIONS[0], third);
        assert!(real.fraction.is_none());
        assert_eq!((real.fast(7, &ANY), real.exact(7, &ANY)), (2, 2));
    }

    proptest! {
        #[test]
        fn both_forms_agree(
            x in any::<i32>(), narrow in 0u32..32, scales in [1e-6f32..10.0, 1e-6f32..10.0, 1e-6f32..10.0], small in 1i64..64, zero_point in -255i32..=255,
        ) {
            let [a, b, c] = scales.map(|s| Rational::from_f32(s).expect("finite"));
            let output = Output { zero_point, min: -128, max: 127 };
            for definition in DEFINITIONS {
                for multiplier in [Rational::from(&a * &b) / &c, Rational::from((1, 2 * small)), Rational::from(small)] {
                    let real = Real::new(definition, multiplier);
                    for output in [output, ANY] {
                        prop_assert_eq!(real.fast(x >> narrow, &output), real.exact(x >> narrow, &output));
                    }
                }
            }
        }
    }
}

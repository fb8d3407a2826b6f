//! Eight rounding rules, on exact rationals and on integers over a power of two.

use rug::{Integer, Rational};
use serde::Serialize;
use std::cmp::Ordering;

/// Conversion of a real number to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundingRule {
    /// Nearest integer, half towards +inf (TVM's UPWARD).
    TiesUp,
    /// Nearest integer, half away from zero (TVM's TONEAREST, gemmlowp).
    TiesAway,
    /// Nearest integer, half to even.
    TiesEven,
    /// Nearest integer, half towards -inf.
    TiesDown,
    /// Nearest integer, half towards zero.
    TiesToZero,
    /// Ceiling.
    TowardPositive,
    /// Floor.
    TowardNegative,
    /// Truncation.
    TowardZero,
}

use RoundingRule::*;

/// Defines a function that rounds `v / 2^bits` on one integer type, by one bias and a floor shift.
macro_rules! biased {
    ($name:ident, $int:ty) => {
        fn $name(self, v: $int, bits: u32) -> $int {
            if bits == 0 {
                return v;
            }
            let half: $int = 1 << (bits - 1);
            let bias = match self {
                TiesUp => half,
                TiesDown => half - 1,
                TiesAway => half - <$int>::from(v < 0),
                TiesToZero => half - <$int>::from(v >= 0),
                TiesEven => half - 1 + ((v >> bits) & 1),
                TowardPositive => half - 1 + half,
                TowardNegative => 0,
                TowardZero => (half - 1 + half) * <$int>::from(v < 0),
            };
            (v + bias) >> bits
        }
    };
}

/// Defines a function that rounds `n / d` on one integer type, by a half and a floor.
macro_rules! divided {
    ($name:ident, $int:ty) => {
        fn $name(self, n: $int, d: $int) -> $int {
            let up = || (2 * n + d).div_euclid(2 * d);
            let down = || -(d - 2 * n).div_euclid(2 * d);
            match self {
                TiesUp => up(),
                TiesDown => down(),
                TiesAway if n < 0 => down(),
                TiesAway => up(),
                TiesToZero if n < 0 => up(),
                TiesToZero => down(),
                TiesEven => Some(up()).filter(|up| up % 2 == 0).unwrap_or_else(down),
                TowardNegative => n.div_euclid(d),
                TowardPositive => -(-n).div_euclid(d),
                TowardZero if n < 0 => -(-n).div_euclid(d),
                TowardZero => n.div_euclid(d),
            }
        }
    };
}

impl RoundingRule {
    /// All rules.
    pub const ALL: [Self; 8] =
        [TiesUp, TiesAway, TiesEven, TiesDown, TiesToZero, TowardPositive, TowardNegative, TowardZero];

    /// Returns the name used in the field.
    pub fn name(self) -> &'static str {
        match self {
            TiesUp => "ties-up",
            TiesAway => "ties-away",
            TiesEven => "ties-even",
            TiesDown => "ties-down",
            TiesToZero => "ties-to-zero",
            TowardPositive => "toward-positive",
            TowardNegative => "toward-negative",
            TowardZero => "toward-zero",
        }
    }

    /// True if the rule rounds to the nearest integer and decides only ties.
    pub fn is_nearest(self) -> bool {
        matches!(self, TiesUp | TiesAway | TiesEven | TiesDown | TiesToZero)
    }

    /// Rounds `v` by definition: the floor, and the exact remainder compared with one half.
    pub fn round(self, v: &Rational) -> Integer {
        let (floor, rest): (Integer, Integer) = v.numer().div_rem_floor_ref(v.denom()).into();
        if rest == 0 {
            return floor;
        }
        // The remainder is `rest` over the denominator.
        let up = match (self, (rest * 2u32).cmp(v.denom())) {
            (TowardPositive, _) => true,
            (TowardNegative, _) => false,
            (TowardZero, _) => *v < 0,
            (_, Ordering::Greater) => true,
            (_, Ordering::Less) => false,
            (TiesUp, _) => true,
            (TiesDown, _) => false,
            (TiesAway, _) => *v > 0,
            (TiesToZero, _) => *v < 0,
            (TiesEven, _) => floor.is_odd(),
        };
        if up { floor + 1 } else { floor }
    }

    /// Rounds `v / 2^bits` in machine integers: one bias added before one floor shift. The bias depends on the rule,
    /// the sign and (for ties to even) the parity. Derived independently of [`RoundingRule::round`]. `bits` is at most 120, and
    /// `v + 2^bits` must fit in i128.
    pub fn shift_right(self, v: i128, bits: u32) -> i128 {
        match i64::try_from(v) {
            // 64-bit arithmetic is several times faster, and no sum exceeds 64 bits.
            Ok(v) if bits <= 62 && v.unsigned_abs() <= 1 << 62 => self.shift_right_64(v, bits).into(),
            _ => self.shift_right_128(v, bits),
        }
    }

    biased!(shift_right_64, i64);
    biased!(shift_right_128, i128);

    /// Rounds `n / d`, for `d` above 0, in machine integers: the rule adds or subtracts a half before a floor. Derived
    /// independently of [`RoundingRule::round`]. `2 * n` and `2 * d` together must fit in i128.
    pub fn quotient(self, n: i128, d: i128) -> i128 {
        match (i64::try_from(n), i64::try_from(d)) {
            // 64-bit arithmetic is several times faster, and no sum exceeds 64 bits.
            (Ok(n), Ok(d)) if n.unsigned_abs() <= 1 << 61 && d <= 1 << 61 => self.quotient_64(n, d).into(),
            _ => self.quotient_128(n, d),
        }
    }

    divided!(quotient_64, i64);
    divided!(quotient_128, i128);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_agree_on_every_small_fraction_and_rule() {
        let mut covered = 0;
        for rule in RoundingRule::ALL {
            for bits in 0..=6 {
                for v in -300i128..=300 {
                    let exact = rule.round(&(Rational::from(v) >> bits));
                    assert_eq!(exact, rule.shift_right(v, bits), "{} {v}/2^{bits}", rule.name());
                    // Small numbers use the 64-bit form, so the 128-bit form is called by name.
                    assert_eq!(exact, rule.shift_right_128(v, bits), "{} {v}/2^{bits} in 128 bits", rule.name());
                    covered += 1;
                }
            }
        }
        assert_eq!(covered, 8 * 7 * 601);
    }

    /// Values on each side of the bounds up to which sums fit in 64 bits.
    #[test]
    fn both_widths_agree_with_rationals_at_the_bounds_of_64_bits() {
        for rule in RoundingRule::ALL {
            for bits in [1, 61, 62, 63, 64, 90] {
                for magnitude in [1i128 << 61, 1 << 62, i64::MAX.into(), 1 << 63, 1 << 64] {
                    for v in (-2..=2).flat_map(|near| [magnitude + near, -magnitude + near]) {
                        let exact = rule.round(&(Rational::from(v) >> bits));
                        assert_eq!(exact, rule.shift_right(v, bits), "{} {v}/2^{bits}", rule.name());
                    }
                }
            }
        }
    }

    #[test]
    fn quotients_agree_with_every_small_fraction_and_rule() {
        for rule in RoundingRule::ALL {
            for d in 1..=12i128 {
                for n in -60i128..=60 {
                    let exact = rule.round(&Rational::from((n, d)));
                    assert_eq!(exact, rule.quotient(n, d), "{} {n}/{d}", rule.name());
                    // Small numbers use the 64-bit form, so the 128-bit form is called by name.
                    assert_eq!(exact, rule.quotient_128(n, d), "{} {n}/{d} in 128 bits", rule.name());
                }
            }
        }
    }

    /// Values on each side of the bounds up to which sums fit in 64 bits.
    #[test]
    fn quotients_of_both_widths_agree_with_rationals_at_the_bounds_of_64_bits() {
        let near = |bound: i128| (-2..=2).map(move |by| bound + by);
        let bounds = [1 << 60, 1 << 61, 1 << 62, i64::MAX.into(), 1 << 64];
        for rule in RoundingRule::ALL {
            for d in [1, 2, 3, 1 << 31].into_iter().chain(bounds.into_iter().flat_map(near)) {
                for n in bounds.into_iter().flat_map(near).flat_map(|n| [n, -n]) {
                    let exact = rule.round(&Rational::from((n, d)));
                    assert_eq!(exact, rule.quotient(n, d), "{} {n}/{d}", rule.name());
                }
            }
        }
    }

    #[test]
    fn halves_go_where_each_rule_says() {
        let halves = [-3i128, -1, 1, 3];
        let table = [
            (TiesUp, [-1, 0, 1, 2]),
            (TiesAway, [-2, -1, 1, 2]),
            (TiesEven, [-2, 0, 0, 2]),
            (TiesDown, [-2, -1, 0, 1]),
            (TiesToZero, [-1, 0, 0, 1]),
            (TowardPositive, [-1, 0, 1, 2]),
            (TowardNegative, [-2, -1, 0, 1]),
            (TowardZero, [-1, 0, 0, 1]),
        ];
        for (rule, expected) in table {
            assert_eq!(halves.map(|h| rule.round(&Rational::from((h, 2)))), expected, "{}", rule.name());
        }
    }
}

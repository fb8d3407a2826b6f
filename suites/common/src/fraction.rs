//! Text of exact rationals.

use tiebreak_oracle::Rational;

/// Decimal places.
const PLACES: usize = 10;

/// Formats a rational with ten decimal places; `...` marks cut-off digits: `0.25`, `-0.5001971023...`, `3`.
pub fn decimal(v: &Rational) -> String {
    let scaled = v.clone().abs() * 10u64.pow(PLACES as u32);
    let more = if scaled.is_integer() { "" } else { "..." };
    let digits = format!("{:0>width$}", scaled.floor().numer().to_string(), width = PLACES + 1);
    let sign = if *v < 0 { "-" } else { "" };
    let (whole, places) = digits.split_at(digits.len() - PLACES);
    let places = if more.is_empty() { places.trim_end_matches('0') } else { places };
    let point = if places.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{places}{more}")
}

/// Formats a rational as fraction and decimal, or an integer alone: `1/4 = 0.25`.
pub fn both(v: &Rational) -> String {
    if v.is_integer() { v.to_string() } else { format!("{v} = {}", decimal(v)) }
}

/// Formats a rational for a sentence: the fraction if it has few digits, otherwise the decimal.
pub fn short(v: &Rational) -> String {
    let fraction = v.to_string();
    if fraction.len() <= 9 || v.is_integer() { fraction } else { decimal(v) }
}

/// Formats a rational with its sign, as a difference: `+1/4`.
pub fn signed(v: &Rational) -> String {
    let sign = if *v > 0 { "+" } else { "" };
    format!("{sign}{}", short(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_cut_off() {
        let text = |n: i64, d: i64| decimal(&Rational::from((n, d)));
        let table = [
            ((1, 4), "0.25"),
            ((-1, 4), "-0.25"),
            ((3, 1), "3"),
            ((-700, 7), "-100"),
            ((0, 1), "0"),
            ((2, 3), "0.6666666666..."),
            ((-2, 3), "-0.6666666666..."),
            ((1, 1024), "0.0009765625"),
            ((1, 2048), "0.0004882812..."),
            ((-1, 1 << 40), "-0.0000000000..."),
            ((10_000_000_000_000_001, 10_000_000_000), "1000000.0000000001"),
        ];
        for ((n, d), expected) in table {
            assert_eq!(text(n, d), expected);
        }
        assert_eq!(both(&Rational::from((1, 4))), "1/4 = 0.25");
        assert_eq!(short(&Rational::from((1, 1u64 << 39))), "0.0000000000...");
        assert_eq!(signed(&Rational::from((-1, 4))), "-1/4");
        assert_eq!(signed(&Rational::from((1, 4))), "+1/4");
    }
}

//! The real `e^x`, for x at most 0, rounded once.
//!
//! The exact form encloses `e^t`, `t = -x`, between a partial sum of its series and that sum plus a bound of the rest, with terms as needed.
//! The fast form multiplies eight factors `e^(-j * 2^(9i - 63))` of 126 fractional bits, whose errors are bounded.

use crate::rounding::RoundingRule;
use rug::{Integer, Rational};
use std::sync::LazyLock;

/// Largest result.
const ONE: i32 = i32::MAX;
/// Exponent, times the number of the attempt, from which on a power of `e` is enclosed between 0 and `2^-exponent`.
const FAR: u32 = 48;

/// Encloses `e^(-p / 2^fraction)` between two rationals, by this many terms of the series, at least as many as the exponent.
pub fn enclosed(p: &Integer, fraction: u32, terms: u32) -> (Rational, Rational) {
    let q = Integer::from(1) << fraction;
    let (mut numerator, mut denominator, mut power) = (Integer::from(1), Integer::from(1), Integer::from(1));
    for n in 1..=terms {
        power *= p;
        let by = Integer::from(&q * n);
        numerator = numerator * &by + &power;
        denominator *= &by;
    }
    let sum = Rational::from((numerator, denominator.clone()));
    // Later terms decrease at least as fast as powers of t / (terms + 2).
    let first = Rational::from((power * p, denominator * Integer::from(&q * (terms + 1))));
    let ratio = Rational::from((p.clone(), q)) / (terms + 2);
    assert!(ratio < 1, "{terms} terms are too few");
    let more: Rational = &sum + first / (Rational::from(1) - ratio);
    (more.recip(), sum.recip())
}

/// Encloses `e^(-p / 2^fraction)` between two rationals, the closer the higher the number of the attempt.
pub(crate) fn enclosed_at(p: &Integer, fraction: u32, attempt: u32) -> (Rational, Rational) {
    let (whole, far) = (Integer::from(p >> fraction), FAR * attempt);
    if whole >= far {
        return (Rational::new(), Rational::from(1) >> far);
    }
    enclosed(p, fraction, whole.to_u32().unwrap_or_default() + 40 * attempt)
}

/// Computes `round(e^x * 2^31)`; for x = 0 the largest result.
pub(super) fn exact(x: i32, integer_bits: i32, rule: RoundingRule) -> Integer {
    if x == 0 {
        return ONE.into();
    }
    let (p, fraction) = (x.unsigned_abs(), (31 - integer_bits) as u32);
    if Integer::from(p) >> fraction >= 32 {
        // 0 < e^x < 2^-32, as e > 2.
        return rule.round(&Rational::from((1, 4)));
    }
    let mut terms = 40;
    loop {
        let (low, high) = enclosed(&p.into(), fraction, terms);
        let [low, high] = [low, high].map(|end| rule.round(&(end << 31)));
        if low == high {
            return low.min(Integer::from(ONE));
        }
        terms += 40;
    }
}

/// Fractional bits of the factors.
const FRACTION: u32 = 126;
const UNIT: u128 = 1 << FRACTION;

/// Exponent bits of one table, and number of tables.
const CHUNK: u32 = 9;
const ENTRIES: usize = 1 << CHUNK;
const TABLES: usize = 8;
/// The unit of the exponent is `2^-GRID`.
const GRID: usize = 63;

/// Bound of the error of a product of eight entries. A base is off by at most 2^6 (one for each truncated term, or twice the error of the squared
/// base times a number below 0.61, plus one). An entry is off by at most nine bases and eight truncations, eight entries by at most 2^13 plus seven.
pub(crate) const SLACK: u128 = 1 << 14;

/// Table entries `e^(-j * 2^(9i - 63))`.
static FACTORS: LazyLock<[[u128; ENTRIES]; TABLES]> = LazyLock::new(|| {
    let bases = bases();
    let entry = |i: usize, j: usize| {
        let bits = (0..CHUNK as usize).filter(|bit| j >> bit & 1 == 1);
        bits.fold(UNIT, |product, bit| times(product, bases[i * CHUNK as usize + bit]))
    };
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
});

/// Computes `e^(-2^(k - 63))`: the alternating series up to exponent 1/2, then repeated squares.
fn bases() -> [u128; TABLES * CHUNK as usize] {
    let mut out = [0; TABLES * CHUNK as usize];
    for (k, base) in out.iter_mut().enumerate().take(GRID) {
        let (mut sum, mut term, mut n) = (UNIT as i128, UNIT >> (GRID - k), 1);
        while term > 0 {
            sum += if n % 2 == 1 { -(term as i128) } else { term as i128 };
            n += 1;
            term = (term >> (GRID - k)) / n;
        }
        *base = sum as u128;
    }
    for k in GRID..out.len() {
        out[k] = times(out[k - 1], out[k - 1]);
    }
    out
}

/// Computes `e^(-exponent * 2^-63)` in units of 2^-126, with an error of at most [`SLACK`], as a product of table entries.
#[inline]
pub(crate) fn power(exponent: u128) -> u128 {
    if exponent >> (CHUNK * TABLES as u32) != 0 {
        // e^-512 is below 2^-126.
        return 0;
    }
    let factor = |(i, table): (usize, &[u128; ENTRIES])| table[(exponent >> (CHUNK as usize * i)) as usize % ENTRIES];
    FACTORS.iter().enumerate().map(factor).filter(|factor| *factor != UNIT).fold(UNIT, times)
}

/// Multiplies two factors, truncated.
#[inline]
fn times(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let ((a, a_low), (b, b_low)) = ((a >> 64, a & LOW), (b >> 64, b & LOW));
    let (left, right) = (a * b_low, a_low * b);
    let middle = ((a_low * b_low) >> 64) + (left & LOW) + (right & LOW);
    let high = a * b + (left >> 64) + (right >> 64) + (middle >> 64);
    (high << (128 - FRACTION)) | ((middle & LOW) >> (FRACTION - 64))
}

/// Computes `round(e^x * 2^31)` on machine integers.
#[inline]
pub(super) fn fast(x: i32, integer_bits: i32, rule: RoundingRule) -> i32 {
    let exponent = u128::from(x.unsigned_abs()) << (integer_bits + GRID as i32 - 31);
    if exponent == 0 {
        return ONE;
    }
    let value = power(exponent);
    let [low, high] = [value.saturating_sub(SLACK), value + SLACK].map(|end| rounded(end, rule));
    // The real value is positive, so the lower end is not used if it would be 0 or less.
    let low = if value <= SLACK { high } else { low };
    assert_eq!(low, high, "126 bits do not decide e^x of {x} with {integer_bits} integer bits");
    low.min(ONE as u128) as i32
}

/// Rounds a factor to units of 2^-31.
#[inline]
fn rounded(value: u128, rule: RoundingRule) -> u128 {
    const SHIFT: u32 = FRACTION - 31;
    match rule {
        RoundingRule::TowardNegative => value >> SHIFT,
        // No value is a tie.
        _ => (value + (1 << (SHIFT - 1))) >> SHIFT,
    }
}

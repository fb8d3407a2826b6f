//! Both operations, by comparisons with the boundaries between two results.

use super::Row;
use crate::exp::enclosed_at;
use rug::{Integer, Rational};
use std::collections::BTreeMap;

/// Returns the largest stored value whose lower boundary, half a step below, the real result reaches, or the least value.
fn nearest(p: &Row, reaches: impl Fn(&Rational) -> bool) -> Integer {
    let scale = p.out.exact_scale();
    let (mut low, mut high) = (p.storage.min(), p.storage.max());
    while low < high {
        let middle = (low + high + 1).div_euclid(2);
        let boundary = Rational::from((2 * (middle - i64::from(p.out.zero_point)) - 1, 2)) * &scale;
        if reaches(&boundary) { low = middle } else { high = middle - 1 }
    }
    low.into()
}

/// Encloses `e^-t` between two rationals, for a dyadic rational `t` that is not negative.
fn power(t: &Rational, attempt: u32) -> (Rational, Rational) {
    // The denominator is a power of two, because scales are floats.
    enclosed_at(t.numer(), t.denom().significant_bits() - 1, attempt)
}

/// Computes a row. `x_i - max - ln(sum)` reaches a boundary if the sum is at most `e^(x_i - max - boundary)`. By Lindemann and
/// Weierstrass, the sides are never equal for a row of at least two elements.
pub(super) fn log_softmax(p: &Row, row: &[i32]) -> Vec<Integer> {
    let scale = p.input.exact_scale();
    let largest = row.iter().copied().max().unwrap_or_default();
    let below = |x: i32| Rational::from(&scale * (largest - x));
    let sum = |attempt| {
        let powers: Vec<_> = row.iter().map(|x| power(&below(*x), attempt)).collect();
        let low: Rational = powers.iter().map(|(low, _)| low).sum();
        let high: Rational = powers.iter().map(|(_, high)| high).sum();
        (low, high)
    };
    let sums: Vec<(Rational, Rational)> = (1..=2).map(sum).collect();
    let reaches = |x: i32, boundary: &Rational| {
        let exponent = -below(x) - boundary;
        if exponent <= 0 {
            // The sum is 1 for a row of one element, and larger otherwise.
            return exponent == 0 && row.len() == 1;
        }
        let decided = |attempt: u32| {
            let (low, high) = sums.get(attempt as usize - 1).cloned().unwrap_or_else(|| sum(attempt));
            let (least, most) = power(&exponent, attempt);
            // Compares the sum times e^-exponent with 1.
            if high * most <= 1 { Some(true) } else { (low * least > 1).then_some(false) }
        };
        (1..).find_map(decided).expect("the sides differ")
    };
    let mut known = BTreeMap::new();
    row.iter().map(|x| known.entry(*x).or_insert_with(|| nearest(p, |b| reaches(*x, b))).clone()).collect()
}

/// Computes a row. `x / sqrt(sum)` reaches a boundary if `x` reaches `boundary * sqrt(sum)`, by the signs or the squares. The row's scale cancels.
pub(super) fn l2_normalization(p: &Row, row: &[i32]) -> Option<Vec<Integer>> {
    let real = |x: &i32| Integer::from(x - p.input.zero_point);
    let sum: Integer = row.iter().map(|x| real(x).square()).sum();
    let reaches = |x: &Integer, boundary: &Rational| {
        let far = Rational::from(boundary * boundary) * &sum;
        let near = Integer::from(x * x);
        match (*x >= 0, *boundary >= 0) {
            (true, true) => near >= far,
            (false, false) => near <= far,
            (is_positive, _) => is_positive,
        }
    };
    (sum != 0).then(|| row.iter().map(|x| nearest(p, |b| reaches(&real(x), b))).collect())
}

//! Both operations on machine integers.

use super::Row;
use crate::elementwise::Operand;
use crate::exp::power;

/// Fractional bits of a logarithm.
const FRACTION: u32 = 62;
const ONE: u128 = 1 << FRACTION;

/// Bound of the error of a logarithm of at most 2^10 powers. `m` is off by one unit and the error of the sum, `z` by one, each of at
/// most 40 terms by two, all doubled. `ln 2`, added at most eleven times, has the same error.
const SLACK: i128 = 1 << 12;

/// Returns `n` and `e`, with `n * 2^e` the scale.
fn significand(operand: &Operand) -> (u128, i32) {
    let hidden = 1 << 23;
    ((operand.scale % hidden + hidden).into(), (operand.scale >> 23) as i32 - 150)
}

/// Multiplies two numbers of [`FRACTION`] bits that are at most 1, truncated.
fn times(a: u128, b: u128) -> u128 {
    (a * b) >> FRACTION
}

/// Computes `2 * atanh(z)`, `0 <= z <= 1/3`, by the nonzero terms of its series.
fn twice_atanh(z: u128) -> u128 {
    let square = times(z, z);
    let (mut sum, mut power, mut n) = (0, z, 1);
    while power > 0 {
        sum += power / n;
        power = times(power, square);
        n += 2;
    }
    2 * sum
}

/// Computes the natural logarithm of a number of 110 fractional bits, at least 1.
fn log(sum: u128) -> u128 {
    let k = sum.ilog2() - 110;
    let m = sum >> (110 + k - FRACTION);
    let z = ((m - ONE) << FRACTION) / (m + ONE);
    twice_atanh(z) + u128::from(k) * twice_atanh(ONE / 3)
}

/// Adds the zero point to a number of steps, and clamps to the type.
fn placed(p: &Row, steps: i128) -> i32 {
    (steps + i128::from(p.out.zero_point)).clamp(p.storage.min().into(), p.storage.max().into()) as i32
}

pub(super) fn log_softmax(p: &Row, row: &[i32]) -> Vec<i32> {
    let largest = row.iter().copied().max().unwrap_or_default();
    let ((n, e), (m, out_e)) = (significand(&p.input), significand(&p.out));
    // In units of 2^-63, then of 2^-62.
    let below = |x: i32| (largest - x) as u128 * (n << (63 + e));
    let sum: u128 = row.iter().map(|x| power(below(*x)) >> 16).sum();
    let log = log(sum) as i128;
    let step = (m << (FRACTION as i32 + out_e)) as i128;
    let one = |x: &i32| {
        let t = (below(*x) >> 1) as i128;
        let steps = |real: i128| placed(p, (2 * real + step).div_euclid(2 * step));
        if row.len() == 1 {
            return steps(-t);
        }
        // The logarithm is positive, so the result is below the upper end, which may be a tie.
        let upper = (-2 * (t + (log - SLACK).max(0)) + step - 1).div_euclid(2 * step);
        let (low, high) = (steps(-t - log - SLACK), placed(p, upper));
        assert_eq!(low, high, "62 bits do not decide a logarithm");
        low
    };
    row.iter().map(one).collect()
}

/// Returns the largest integer whose square is at most `v`.
fn root(v: u128) -> u128 {
    let mut root = 0;
    for bit in (0..64).rev().map(|bit| 1 << bit) {
        let next: u128 = root | bit;
        if next.checked_mul(next).is_some_and(|square| square <= v) {
            root = next;
        }
    }
    root
}

pub(super) fn l2_normalization(p: &Row, row: &[i32]) -> Option<Vec<i32>> {
    let real = |x: &i32| i64::from(x - p.input.zero_point);
    let sum: u128 = row.iter().map(|x| real(x).unsigned_abs().pow(2)).map(u128::from).sum();
    let (n, e) = significand(&p.out);
    let below = sum * n * n;
    let one = |x: &i32| {
        // Twice a magnitude in steps is the root of `4 x^2 / (sum * n^2 * 2^2e)`; the exponent `e` of a scale is never positive.
        let above = (4 * u128::from(real(x).unsigned_abs().pow(2))) << (-2 * e);
        let twice = root(above / below);
        let is_whole = twice * twice * below == above;
        let steps = if real(x) >= 0 {
            twice.div_ceil(2) as i128
        } else {
            // Half a step rounds up, towards zero.
            -((twice + u128::from(!is_whole)) as i128 / 2)
        };
        placed(p, steps)
    };
    (sum != 0).then(|| row.iter().map(one).collect())
}

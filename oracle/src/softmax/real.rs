//! Real softmax, rounded once.

use super::Softmax;
use crate::exp::{enclosed_at, power};
use crate::rounding::RoundingRule::TiesEven;
use rug::{Integer, Rational};
use std::collections::BTreeMap;

/// Computes a row by rationals, with more terms of the series until both ends of every enclosure round to the same number.
pub(super) fn exact(p: &Softmax, row: &[i32]) -> Vec<Integer> {
    let largest = row.iter().copied().max().unwrap_or_default();
    let steps = Integer::from(1) << p.out.bits;
    (1..)
        .find_map(|attempt| {
            let mut kept = BTreeMap::new();
            for x in row {
                kept.entry(*x).or_insert_with(|| power_of(p, largest - x, attempt));
            }
            let sum = |end: fn(&(Rational, Rational)) -> &Rational| row.iter().map(|x| end(&kept[x])).sum::<Rational>();
            let (low, high) = (sum(|(low, _)| low), sum(|(_, high)| high));
            let rounded = |x: &i32| {
                let (least, most) = &kept[x];
                let [least, most] = [Rational::from(least / &high), Rational::from(most / &low)]
                    .map(|share| TiesEven.round(&(share * &steps)));
                (least == most).then_some(least)
            };
            row.iter().map(rounded).collect::<Option<Vec<Integer>>>()
        })
        .expect("no row is a tie")
        .into_iter()
        .map(|steps| (steps + p.out.min()).min(Integer::from(p.out.max())))
        .collect()
}

/// Encloses `e^(-difference * b)` between two rationals.
fn power_of(p: &Softmax, difference: i32, attempt: u32) -> (Rational, Rational) {
    // In units of 2^-57.
    let t = (Integer::from(difference) * p.multiplier) << p.left_shift as u32;
    enclosed_at(&t, 57, attempt)
}

/// Fractional bits of the powers in the sum of a row.
const KEPT: u32 = 110;

/// Computes a row on machine integers.
pub(super) fn fast(p: &Softmax, row: &[i32]) -> Vec<i32> {
    let largest = row.iter().copied().max().unwrap_or_default();
    let one = |x: &i32| {
        // In units of 2^-63.
        let t = ((largest - x) as u128 * p.multiplier as u128) << (p.left_shift + 6);
        power(t) >> (126 - KEPT)
    };
    let powers: Vec<u128> = row.iter().map(one).collect();
    let sum: u128 = powers.iter().sum();
    // After the shift, each power is off by less than one unit in either direction, plus the bits that the shift drops.
    let slack = 2 * row.len() as u128;
    let rounded = |power: u128, sum: u128| ((power << (p.out.bits + 1)) + sum) / (2 * sum);
    let share = |power: &u128| {
        let [least, most] =
            [(power.saturating_sub(2), sum + slack), (power + 2, sum - slack)].map(|(p, s)| rounded(p, s));
        assert_eq!(least, most, "110 bits do not decide a softmax");
        p.placed(least as i64)
    };
    powers.iter().map(share).collect()
}

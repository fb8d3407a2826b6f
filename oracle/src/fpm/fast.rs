//! Machine-integer forms of the schemes, written from the formulas in their sources instead of the step lists, so that each form
//! is evidence for the other. Generic in the word width: `tests/it/fpm_forms.rs` compares the forms with big
//! rationals on every input at small widths, and on directed and random inputs at 32 bits.
//!
//! Products are at most 62 bits for int32 words; i128 leaves room for every left shift.

use super::Parameters;
use crate::rounding::RoundingRule;

/// Computes the unbounded result for an accumulator; `None` if the scheme rejects the input.
pub type Fast = fn(&Parameters, i64) -> Option<i128>;

fn product(p: &Parameters, x: i64) -> i128 {
    i128::from(x) * i128::from(p.m)
}

fn total_right_shift(p: &Parameters) -> i32 {
    p.q as i32 - p.s
}

/// Rounds the whole value once.
pub(super) fn single(rule: RoundingRule, p: &Parameters, x: i64) -> Option<i128> {
    let k = total_right_shift(p);
    Some(match u32::try_from(k) {
        Ok(k) => rule.shift_right(product(p, x), k),
        Err(_) => product(p, x) << -k,
    })
}

/// Computes ties up as two floors: `((x*m >> (k-1)) + 1) >> 1`.
pub(super) fn halves(p: &Parameters, x: i64) -> Option<i128> {
    let k = total_right_shift(p);
    Some(if k > 0 { ((product(p, x) >> (k - 1)) + 1) >> 1 } else { product(p, x) << -k })
}

/// Returns half a unit of the product's integers; 0 without fractional bits.
fn half(p: &Parameters) -> i128 {
    (1i128 << p.q) >> 1
}

fn shifted_left_wrapping(p: &Parameters, x: i64, by: i32) -> i128 {
    p.word.wrap(i128::from(x) << by)
}

/// Computes gemmlowp's RoundingDivideByPOT: the remainder is compared with a threshold that is one higher below zero.
fn divide_by_pot(v: i128, exponent: i32) -> i128 {
    let mask = (1i128 << exponent) - 1;
    let remainder = v & mask;
    let threshold = (mask >> 1) + i128::from(v < 0);
    (v >> exponent) + i128::from(remainder > threshold)
}

/// Computes SaturatingRoundingDoublingHighMul as printed: a nudge by sign and a truncating division.
pub(super) fn gemmlowp_double(p: &Parameters, x: i64) -> Option<i128> {
    let a = shifted_left_wrapping(p, x, p.s.max(0));
    let m = i128::from(p.m);
    let high = if a == m && a == p.word.min() {
        p.word.max()
    } else {
        let ab = a * m;
        let nudge = if ab >= 0 { half(p) } else { (1 - half(p)).min(0) };
        // Every other product fits, if the format is Q0.31.
        p.word.saturate((ab + nudge) / (1i128 << p.q))
    };
    Some(divide_by_pot(high, (-p.s).max(0)))
}

/// Computes CMSIS-NN's form: the doubling high multiply rounds by adding and shifting, and is cast without saturation.
pub(super) fn cmsis_nn_double(p: &Parameters, x: i64) -> Option<i128> {
    let a = shifted_left_wrapping(p, x, p.s.max(0));
    let high = p.word.wrap((a * i128::from(p.m) + half(p)) >> p.q);
    Some(divide_by_pot(high, (-p.s).max(0)))
}

/// Computes Arm's SQRDMULH, `sat((2ab + 2^(w-1)) >> w)`, for Q = w - 1. For another Q, the product has Q fractional bits.
fn sqrdmulh(p: &Parameters, a: i128) -> i128 {
    p.word.saturate((a * i128::from(p.m) + half(p)) >> p.q)
}

/// Computes Arm's SRSHL by a negative amount: `(v + 2^(n-1)) >> n`.
fn srshl_right(v: i128, n: i32) -> i128 {
    if n > 0 { (v + (1i128 << (n - 1))) >> n } else { v }
}

pub(super) fn sqrdmulh_srshl(p: &Parameters, x: i64) -> Option<i128> {
    let high = sqrdmulh(p, shifted_left_wrapping(p, x, p.s.max(0)));
    Some(srshl_right(high, (-p.s).max(0)))
}

pub(super) fn sqrdmulh_fixup_srshl(p: &Parameters, x: i64) -> Option<i128> {
    let high = sqrdmulh(p, shifted_left_wrapping(p, x, p.s.max(0)));
    // (high & s) >> 31: minus one exactly if both are negative.
    let fixup = i128::from((high < 0) & (p.s < 0));
    Some(srshl_right(p.word.wrap(high - fixup), (-p.s).max(0)))
}

/// Computes SQDMULH (no rounding constant) after a left shift that wraps or saturates, then SRSHL by at least one.
pub(super) fn sqdmulh_srshl(p: &Parameters, x: i64, saturating_shift: bool) -> Option<i128> {
    let right = (-p.s).max(1);
    let shifted = i128::from(x) << (p.s + right);
    let a = if saturating_shift { p.word.saturate(shifted) } else { p.word.wrap(shifted) };
    let high = p.word.saturate((a * i128::from(p.m)) >> p.q);
    Some(srshl_right(high, right))
}

fn tosa(p: &Parameters, x: i64, double_round: bool) -> Option<i128> {
    let shift = total_right_shift(p);
    let value = i128::from(x);
    if p.m < 0 || shift < 1 || !(-(1i128 << (shift - 1))..1i128 << (shift - 1)).contains(&value) {
        return None;
    }
    let mut round = 1i128 << (shift - 1);
    if double_round && shift > p.q as i32 {
        round += if value >= 0 { half(p) } else { -half(p) };
    }
    Some((value * i128::from(p.m) + round) >> shift)
}

pub(super) fn tosa_single(p: &Parameters, x: i64) -> Option<i128> {
    tosa(p, x, false)
}

pub(super) fn tosa_double(p: &Parameters, x: i64) -> Option<i128> {
    tosa(p, x, true)
}

pub(super) fn int16_multiplier(p: &Parameters, x: i64) -> Option<i128> {
    let reduced = if p.m < 0x7FFF_0000 { (p.m + (1 << 15)) >> 16 } else { 0x7FFF };
    let k = total_right_shift(p) - 16;
    let product = i128::from(x) * i128::from(reduced);
    Some(if k > 0 { (product + (1i128 << (k - 1))) >> k } else { product << -k })
}

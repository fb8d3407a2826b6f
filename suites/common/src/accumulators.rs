//! Accumulators for one (multiplier, shift) pair: changes of the result, ties, ends of words, and random ones.

use crate::budget::Budget;
use crate::stream::{below, int32, int32_of_any_size, stream};
use rand_chacha::ChaCha8Rng;
use tiebreak_impls::fpm::Channel;

/// Returns all accumulators that a run tries for one pair, sorted, without repetition. `q`: fractional bits of the multiplier.
pub fn accumulators(channel: Channel, q: u32, budget: &Budget, seed: u64) -> Vec<i32> {
    let purpose = format!("fpm/x/{}/{}/{q}", channel.multiplier, channel.shift);
    let mut rng = stream(seed, &purpose);
    let mut found = corners();
    found.extend(word_ends(channel, q));
    found.extend(near_ties(channel, q, budget.near_ties, &mut rng));
    found.extend(exact_ties(channel, q, budget.near_ties / 4, &mut rng));
    for i in 0..budget.random_accumulators {
        found.push(if i % 2 == 0 { int32(&mut rng) } else { int32_of_any_size(&mut rng) });
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns small numbers, powers of two and their neighbours, runs of ones, alternating bits, and both ends.
pub fn corners() -> Vec<i32> {
    let mut out: Vec<i32> = (-8..=8).collect();
    for bit in 0..32u32 {
        let power = 1i32.wrapping_shl(bit);
        for value in [power, power.wrapping_sub(1), power.wrapping_add(1)] {
            out.extend([value, value.wrapping_neg(), !value]);
        }
        // Ones from `bit` to the top, ones from 0 to below 31 - `bit`, and alternating bits.
        out.extend([(-1i32).wrapping_shl(bit), (0x7FFF_FFFFu32 >> bit) as i32, (0x5555_5555u32 >> bit) as i32]);
    }
    out
}

fn fits(x: i128) -> Option<i32> {
    i32::try_from(x).ok()
}

/// Returns `numerator / m` and its neighbours, as far as they fit int32.
fn around_quotient(numerator: i128, m: i128) -> impl Iterator<Item = i32> {
    let x = if m == 0 { i128::MAX } else { numerator.div_euclid(m) };
    (-1..=2).filter_map(move |d| fits(x.saturating_add(d)))
}

/// Returns accumulators at which the result, or a left-shifted accumulator, reaches an end of its word.
fn word_ends(Channel { multiplier, shift }: Channel, q: u32) -> Vec<i32> {
    let right = q as i32 - shift;
    let mut out = Vec::new();
    for end in [1i128 << 31, -(1i128 << 31)] {
        let limit = if right >= 0 { end << right } else { end >> -right };
        out.extend(around_quotient(limit, multiplier.into()));
        let half_unit = if right >= 1 { 1i128 << (right - 1) } else { 0 };
        out.extend(around_quotient(limit - half_unit, multiplier.into()));
        for left in [shift.max(0), shift - shift.min(-1)] {
            out.extend(around_quotient(end, 1i128 << left));
            out.extend(around_quotient(3 * end, 1i128 << left));
        }
    }
    out
}

/// Returns accumulators next to the thresholds of one rounding and of two: the remainder of the product modulo `2^right` is one half, or half a unit
/// of the first rounding below or above one half.
fn near_ties(channel: Channel, q: u32, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
    let right = q as i32 - channel.shift;
    let m = i128::from(channel.multiplier);
    if right < 1 || m == 0 {
        return Vec::new();
    }
    let half = 1i128 << (right - 1);
    let first_rounding = if q >= 1 { 1i128 << (q - 1) } else { 0 };
    let mut out = Vec::new();
    for i in 0..count {
        let x = if i % 2 == 0 { int32(rng) } else { int32_of_any_size(rng) };
        let unit = (i128::from(x) * m) >> right;
        for threshold in [half, half - first_rounding, half + first_rounding] {
            out.extend(around_quotient((unit << right) + threshold, m));
        }
    }
    out
}

/// Returns solutions of `x*m = 2^(right-1)  (mod 2^right)`: accumulators whose exact result is a tie.
fn exact_ties(channel: Channel, q: u32, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
    let right = q as i32 - channel.shift;
    let zeros = channel.multiplier.trailing_zeros() as i32;
    if channel.multiplier == 0 || right < 1 || zeros > right - 1 {
        return Vec::new();
    }
    let bits = (right - zeros) as u32;
    let odd = (i64::from(channel.multiplier) >> zeros) as u64;
    let mask = u64::MAX >> (64 - bits);
    let first = (1u64 << (bits - 1)).wrapping_mul(inverse(odd)) & mask;
    if bits >= 32 {
        // There is one solution modulo 2^bits. It is read as a signed number of `bits` bits.
        let signed = ((first << (64 - bits)) as i64) >> (64 - bits);
        return fits(signed.into()).into_iter().collect();
    }
    (0..count)
        .filter_map(|_| {
            let turn = i128::from(below(rng, 1 << 31)) - (1 << 30);
            fits(i128::from(first) + ((turn >> bits.saturating_sub(1)) << bits))
        })
        .collect()
}

/// Returns the inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |y, _| y.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(y))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Effort;

    #[test]
    fn exact_ties_tie() {
        let mut rng = stream(1, "test");
        let mut ties = 0;
        for multiplier in crate::parameters::CORNER_MULTIPLIERS {
            for shift in -31..=30 {
                let right = (31 - shift) as u32;
                for x in exact_ties(Channel { multiplier, shift }, 31, 16, &mut rng) {
                    let product = i128::from(x) * i128::from(multiplier);
                    assert_eq!(product & ((1 << right) - 1), 1 << (right - 1), "x={x} m={multiplier} s={shift}");
                    ties += 1;
                }
            }
        }
        assert!(ties > 3000, "only {ties} ties");
    }

    #[test]
    fn near_ties_cross_the_thresholds_of_double_rounding() {
        // known-bugs row 1: the two schemes differ exactly for h - 2^30 <= r < h.
        let channel = Channel { multiplier: 1_395_864_371, shift: -8 };
        let xs = accumulators(channel, 31, &Effort::Quick.budget(), 7);
        let (h, modulus) = (1i128 << 38, 1i128 << 39);
        let inside = |x: &&i32| {
            let r = (i128::from(**x) * 1_395_864_371).rem_euclid(modulus);
            (h - (1 << 30)..h).contains(&r)
        };
        let share = xs.iter().filter(inside).count() as f64 / xs.len() as f64;
        assert!(share > 0.05, "{share} of {} accumulators, 0.002 of uniform ones", xs.len());
    }
}

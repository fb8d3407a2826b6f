//! Accumulators by the results that they make: those at which a result changes, their neighbours, and others of the range between two results.
//! The bias is part of the solution, or what was solved for is missed by as much.

use rand_chacha::ChaCha8Rng;
use tiebreak_common::stream::{below, int32, int32_of_any_size};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Params;

/// One channel of a batch.
pub struct Target {
    multiplier: i128,
    /// Places from the product to the result; a left shift where it is negative.
    right: i32,
    bias: i32,
    /// The results that the clamp leaves, less the zero point.
    low: i64,
    high: i64,
}

impl Target {
    /// A channel with the zero point and the clamp of `p`.
    pub fn new(channel: Channel, bias: i32, fraction: u32, p: &Params) -> Self {
        let placed = |end: i32| i64::from(end) - i64::from(p.zero_point);
        let right = fraction as i32 - channel.shift;
        Self { multiplier: channel.multiplier.into(), right, bias, low: placed(p.min), high: placed(p.max) }
    }

    /// The last accumulator before the exact result is `n` halves, or the one that makes it just that; with both neighbours.
    /// Nothing where no accumulator does.
    pub fn around(&self, n: i64) -> Option<[i32; 3]> {
        let halves = i128::from(n) << (self.right - 1).max(0);
        let unit = self.multiplier << (1 - self.right).max(0);
        let biased = i64::try_from(if unit == 0 { return None } else { halves.div_euclid(unit) }).ok()?;
        let [a, b, c] = [-1, 0, 1].map(|away| self.reaching(biased + away));
        Some([a?, b?, c?])
    }

    /// The accumulator that makes this with the bias. A sum that leaves int32 reaches it only by a wrap, and is one of those that must be tried, too.
    fn reaching(&self, biased: i64) -> Option<i32> {
        i32::try_from(biased).ok().map(|v| v.wrapping_sub(self.bias))
    }

    /// The tie below each result that the clamp leaves, and below the first beyond it, with its neighbours.
    pub(super) fn every_tie(&self) -> Vec<i32> {
        (self.low..=self.high + 1).filter_map(|result| self.around(2 * result - 1)).flatten().collect()
    }

    /// `count` accumulators: at ties of the results that the clamp leaves and between them, at its ends, and some of any size.
    pub(super) fn some(&self, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
        let mut out = Vec::with_capacity(count + 3);
        while out.len() < count {
            let result = self.low + i64::from(below(rng, (self.high - self.low + 1) as u32));
            let found = match below(rng, 16) {
                0..7 => self.around(2 * result - 1).map(|all| all.to_vec()),
                7..13 => self.between(rng),
                13 => self.ends(),
                14 => Some(vec![int32(rng).wrapping_sub(self.bias)]),
                _ => Some(vec![int32_of_any_size(rng).wrapping_sub(self.bias)]),
            };
            // Where no accumulator reaches that result all of them make few results.
            out.extend(found.unwrap_or_else(|| vec![int32(rng).wrapping_sub(self.bias)]));
        }
        out.truncate(count);
        out
    }

    /// What is around the two ties at which the clamp begins.
    fn ends(&self) -> Option<Vec<i32>> {
        let found = [self.low, self.high + 1].into_iter().filter_map(|end| self.around(2 * end - 1));
        let all: Vec<i32> = found.flatten().collect();
        (!all.is_empty()).then_some(all)
    }

    /// Any accumulator from the smallest result that the clamp leaves to the largest, or as far as there are any.
    fn between(&self, rng: &mut ChaCha8Rng) -> Option<Vec<i32>> {
        let end = |n: i64| {
            let halves = i128::from(n) << (self.right - 1).max(0);
            let unit = self.multiplier << (1 - self.right).max(0);
            (unit != 0).then(|| (halves / unit).clamp(i32::MIN.into(), i32::MAX.into()) as i64)
        };
        let (a, b) = (end(2 * self.low + 1)?, end(2 * self.high - 1)?);
        let (first, last) = (a.min(b), a.max(b));
        let offset = (i128::from(last - first + 1) * i128::from(int32(rng) as u32)) >> 32;
        Some(vec![self.reaching(first + offset as i64)?])
    }
}

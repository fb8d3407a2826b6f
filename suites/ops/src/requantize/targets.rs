//! Accumulators selected by their results: accumulators at which a result changes, their neighbours, and others in the range between two results.
//! The solution includes the bias, because otherwise the selected accumulators would miss by the bias.

use rand_chacha::ChaCha8Rng;
use tiebreak_common::{below, int32, int32_of_any_size};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Params;

/// Channel of a batch, with the results that its clamp permits.
pub struct Target {
    multiplier: i128,
    /// Places from the product to the result; negative for a left shift.
    right: i32,
    bias: i32,
    /// Smallest and largest result within the clamp, minus the zero point.
    low: i64,
    high: i64,
}

impl Target {
    /// Prepares a channel with the zero point and the clamp of `p`.
    pub fn new(channel: Channel, bias: i32, fraction: u32, p: &Params) -> Self {
        let placed = |end: i32| i64::from(end) - i64::from(p.zero_point);
        let right = fraction as i32 - channel.shift;
        Self { multiplier: channel.multiplier.into(), right, bias, low: placed(p.min), high: placed(p.max) }
    }

    /// Returns the last accumulator whose exact result is at most `n` halves, between its two neighbours. `None` if no accumulator reaches it.
    pub fn around(&self, n: i64) -> Option<[i32; 3]> {
        let halves = i128::from(n) << (self.right - 1).max(0);
        let unit = self.multiplier << (1 - self.right).max(0);
        let biased = i64::try_from(if unit == 0 { return None } else { halves.div_euclid(unit) }).ok()?;
        let [a, b, c] = [-1, 0, 1].map(|away| self.reaching(biased + away));
        Some([a?, b?, c?])
    }

    /// Returns the accumulator whose sum with the bias is `biased`, possibly by a wrap, which must be tried, too.
    fn reaching(&self, biased: i64) -> Option<i32> {
        i32::try_from(biased).ok().map(|v| v.wrapping_sub(self.bias))
    }

    /// Returns the tie below each result within the clamp, and below the first result beyond it, with its neighbours.
    pub(super) fn every_tie(&self) -> Vec<i32> {
        (self.low..=self.high + 1).filter_map(|result| self.around(2 * result - 1)).flatten().collect()
    }

    /// Draws `count` accumulators: at ties of the results within the clamp and between them, at its ends, and some of any magnitude.
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
            // If no accumulator reaches the result, all accumulators give only few results.
            out.extend(found.unwrap_or_else(|| vec![int32(rng).wrapping_sub(self.bias)]));
        }
        out.truncate(count);
        out
    }

    /// Returns the accumulators around the two ties at which the clamp begins.
    fn ends(&self) -> Option<Vec<i32>> {
        let found = [self.low, self.high + 1].into_iter().filter_map(|end| self.around(2 * end - 1));
        let all: Vec<i32> = found.flatten().collect();
        (!all.is_empty()).then_some(all)
    }

    /// Draws an accumulator between those of the smallest and the largest result within the clamp, limited to int32.
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

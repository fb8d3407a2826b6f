//! Requantizations of the size of layers: as many channels, each with its own parameters, and batches longer than 16 bits count.

use super::channels::{any, plain};
use super::plan::Draft;
use tiebreak_common::{Budget, int32, sizes, stream};
use tiebreak_engine::operation::{Fill, Spec, Turn};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Params;

/// Upper bound on rows of accumulators in a batch of many channels; the last row is whole or partial by turns.
const ROWS: usize = 3;
/// Channels in a long batch.
const LONG_CHANNELS: usize = 3;
/// Upper bound on draws until a channel of a long batch is in the domain.
const DRAWS: usize = 64;

impl Draft<'_> {
    /// Returns batches with as many channels as layers have, each with its own parameters, and at least two rows of accumulators.
    pub(super) fn many_channels(&self, budget: &Budget) -> Vec<Spec<Params>> {
        let one = |(i, width): (usize, usize)| {
            let mut rng = stream(self.seed, &format!("requantize/channels/{width}"));
            let channels = (0..width).map(|_| any(self.domain, &mut rng)).collect();
            let bias = (0..width).map(|_| self.any_bias(&mut rng)).collect();
            let params = Params { channels, bias, ..self.whole_type(self.zero_point(i)) };
            let len = (ROWS - 1) * width + [width / 3 + 1, width, 1][i % 3];
            self.filled(params, len, ROWS, rng)
        };
        let widths = sizes::channels(budget).into_iter().filter(|_| self.domain.channels.per_channel);
        widths.enumerate().map(one).collect()
    }

    /// Returns long batches of any accumulators, with scales for which they give every result.
    pub(super) fn long_batches(&self, budget: &Budget) -> Vec<Spec<Params>> {
        let one = |(i, (len, of)): (usize, &(usize, usize))| {
            let mut rng = stream(self.seed, &format!("requantize/long/{len}"));
            let width = if self.domain.channels.per_channel { LONG_CHANNELS } else { 1 };
            let right = 32 - self.values().ilog2() as i32;
            let drawn = |_| Channel { multiplier: (1 << 30) | (int32(&mut rng) & ((1 << 30) - 1)), shift: -right };
            // The legacy pipeline has small integers as multipliers.
            let draws = if self.domain.fraction() == 0 { 0 } else { DRAWS };
            let all = (0..draws).map(drawn).filter(|channel| self.domain.takes(*channel));
            let channels: Vec<Channel> = all.take(width).collect();
            let channels = if channels.is_empty() { vec![plain(self.domain, right)] } else { channels };
            let range = self.domain.output.range();
            let zero_point = if self.domain.zero_point { range.start().midpoint(*range.end()) + 1 } else { 0 };
            let params = Params { len: *len, bias: vec![0; channels.len()], channels, ..self.whole_type(zero_point) };
            let turn = Turn::one_in(*of, (self.seed % 1024) as usize);
            Spec { turn, ..Spec::new(params, [Fill::Uniform, Fill::None, Fill::None], i + 1) }
        };
        sizes::lengths(budget).iter().enumerate().map(one).collect()
    }

    /// Returns parameters without channels, with the bounds of the output type.
    fn whole_type(&self, zero_point: i32) -> Params {
        let range = self.domain.output.range();
        Params { len: 0, channels: Vec::new(), bias: Vec::new(), zero_point, min: *range.start(), max: *range.end() }
    }
}

//! Batches of the size of layers: as many channels, each with its own multiplier and shift, and batches longer than 16 bits count.

use super::Q31;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{Budget, below, int32, int32_of_any_size, sizes, stream};
use tiebreak_engine::operation::{Fill, Spec, Turn};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Channel, Params};

/// Upper bound on draws until a pair is in the domain.
const DRAWS: usize = 64;
/// Channels of a long batch, with results of many magnitudes. A kernel that accepts a single channel gets the first.
const LONG: [Channel; 3] = [
    Channel { multiplier: 1_395_864_371, shift: -1 },
    Channel { multiplier: 1_518_500_250, shift: -3 },
    Channel { multiplier: 1_583_594_044, shift: -2 },
];

/// Returns batches with as many channels as layers have, each channel with its own parameters, of two rows of accumulators and part of a third.
pub(super) fn channels(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Batch>> {
    let one = |(i, count): (usize, usize)| {
        let mut rng = stream(seed, &format!("fpm/channels/{count}"));
        let channels: Vec<Channel> = (0..count).filter_map(|_| drawn(domain, &mut rng)).collect();
        batch(channels, 2 * count + [count / 3 + 1, count, 1][i % 3], i)
    };
    let counts = sizes::channels(budget).into_iter().filter(|_| domain.per_channel);
    counts.enumerate().filter_map(one).collect()
}

/// Returns long batches of accumulators of any magnitude.
pub(super) fn lengths(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Batch>> {
    let one = |(i, (len, of)): (usize, &(usize, usize))| {
        let mut rng = stream(seed, &format!("fpm/long/{len}"));
        let usual = LONG.into_iter().filter(|channel| domain.contains(channel.multiplier, channel.shift, Q31));
        let mut channels: Vec<Channel> = usual.chain(drawn(domain, &mut rng)).collect();
        channels.truncate(if domain.per_channel { LONG.len() } else { 1 });
        let turn = Turn::one_in(*of, (seed % 1024) as usize);
        batch(channels, *len, i + 1).map(|spec| Spec { turn, ..spec })
    };
    sizes::lengths(budget).iter().enumerate().filter_map(one).collect()
}

/// Builds a spec of `len` accumulators of any magnitude; `None` if there is no channel.
fn batch(channels: Vec<Channel>, len: usize, misalign: usize) -> Option<Spec<Batch>> {
    let params = Batch { params: Params { q: Q31, channels }, len };
    let found = !params.params.channels.is_empty();
    found.then(|| Spec::new(params, [Fill::AnySize, Fill::None, Fill::None], misalign % 16))
}

/// Draws a pair in the domain: a normalised multiplier or one of any magnitude, and any shift.
fn drawn(domain: &Domain, rng: &mut ChaCha8Rng) -> Option<Channel> {
    let (first, last) = (*domain.shifts.start(), *domain.shifts.end());
    let mut draw = |_| {
        let normalised = (1 << 30) | (int32(rng) & ((1 << 30) - 1));
        let any = int32_of_any_size(rng);
        let multiplier = if below(rng, 4) == 0 { any } else { normalised };
        let shift = first + below(rng, last.abs_diff(first) + 1) as i32;
        Channel { multiplier: multiplier - multiplier % domain.multiple_of, shift }
    };
    (0..DRAWS).map(&mut draw).find(|channel| domain.contains(channel.multiplier, channel.shift, Q31))
}

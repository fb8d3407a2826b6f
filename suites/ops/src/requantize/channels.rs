//! Multipliers and shifts of a run: scales of every magnitude at every shift, those of converters, and corners.

use rand_chacha::ChaCha8Rng;
use tiebreak_common::parameters::grid;
use tiebreak_common::{Budget, Effort, below, int32};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Domain;

/// Scales from 2^-32, for which all of int32 gives one result, to 2^7, for which the range of a byte is one accumulator.
const SCALES: std::ops::RangeInclusive<i32> = -32..=7;
/// Upper bound on draws until a pair is in the domain.
const DRAWS: usize = 64;

/// Returns the corners of fixed point multiply; for the legacy pipeline, integers with suitable shifts.
pub(crate) fn corners(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Channel> {
    let mut all = grid(&Effort::Quick.budget(), seed);
    for multiplier in [1, 2, 3, 7, 127, 255, 1000, 4321, 65535, 1 << 20] {
        all.extend([0, -1, -2, -7, -8, -15, -16, -24, -31].map(|shift| Channel { multiplier, shift }));
    }
    all.retain(|channel| domain.takes(*channel));
    // Most corners of Q0.31 are integers whose products merely wrap. The steps are coprime to the number of corner multipliers.
    let keep = match (budget.every_tail, domain.fraction()) {
        (true, 0) => 3,
        (true, _) => 1,
        (false, 0) => 17,
        (false, _) => 9,
    };
    all.into_iter().step_by(keep).collect()
}

/// Draws a pair of the domain: any shift with a multiplier for a scale of any magnitude, or a pair of converters.
pub fn any(domain: &Domain, rng: &mut ChaCha8Rng) -> Channel {
    let draws = (0..DRAWS).map(|_| if below(rng, 2) == 0 { of_any_scale(domain, rng) } else { emitted(domain, rng) });
    draws.flatten().find(|channel| domain.takes(*channel)).unwrap_or_else(|| plain(domain, 1))
}

/// Makes channels, or their multipliers, or their shifts equal in half of the draws, within the domain: code has paths for such layers. In a quarter of
/// the draws only two channels are equal, by which code may recognise such a layer.
pub(super) fn alike(domain: &Domain, channels: &mut [Channel], rng: &mut ChaCha8Rng) {
    let Some(first) = channels.first().copied() else { return };
    let last = channels.len() - 1;
    let changed: fn(Channel, Channel) -> Channel = match below(rng, 8) {
        0 | 1 => |first, _| first,
        2 => |first, own| Channel { multiplier: first.multiplier, ..own },
        3 => |first, own| Channel { shift: first.shift, ..own },
        4 => return channels[last.min(1)] = first,
        5 => return channels[last] = first,
        _ => return,
    };
    for channel in channels {
        let other = changed(first, *channel);
        if domain.takes(other) {
            *channel = other;
        }
    }
}

/// Draws a shift of the domain, and the multiplier for a log-uniform scale.
fn of_any_scale(domain: &Domain, rng: &mut ChaCha8Rng) -> Option<Channel> {
    let shift = of(rng, *domain.channels.shifts.start(), *domain.channels.shifts.end());
    let places = domain.fraction() as i32 - shift + of(rng, *SCALES.start(), *SCALES.end());
    // At a long right shift no multiplier reaches such a scale, and the largest come nearest.
    let leading = u32::try_from(places).ok()?.min(30);
    let magnitude = (1 << leading) | (int32(rng) & ((1 << leading) - 1));
    let multiplier = if below(rng, 8) == 0 { -magnitude } else { magnitude };
    // One in four has few bits, so that its products may be exactly between two integers.
    let kept = if below(rng, 4) == 0 { leading.saturating_sub(4) } else { 0 };
    Some(Channel { multiplier: multiple(domain, multiplier >> kept << kept), shift })
}

/// Draws a normalised multiplier with a small right shift; for the legacy pipeline, a small integer.
fn emitted(domain: &Domain, rng: &mut ChaCha8Rng) -> Option<Channel> {
    let usual = -of(rng, 0, 12);
    let channel = match domain.fraction() {
        0 => Channel { multiplier: of(rng, 1, 1 << (4 - usual)), shift: usual },
        _ => Channel { multiplier: (1 << 30) | (int32(rng) & ((1 << 30) - 1)), shift: usual },
    };
    Some(Channel { multiplier: multiple(domain, channel.multiplier), ..channel })
}

/// Returns the scale 2^-n, whose products include exact ties between all integers.
pub(super) fn plain(domain: &Domain, n: i32) -> Channel {
    match domain.fraction() {
        0 => Channel { multiplier: 1, shift: -n },
        _ => Channel { multiplier: 1 << 30, shift: 1 - n },
    }
}

fn multiple(domain: &Domain, multiplier: i32) -> i32 {
    multiplier - multiplier % domain.channels.multiple_of
}

/// Draws a number from `lo` to `hi`, inclusive.
pub(super) fn of(rng: &mut ChaCha8Rng, lo: i32, hi: i32) -> i32 {
    lo + below(rng, (hi - lo + 1) as u32) as i32
}

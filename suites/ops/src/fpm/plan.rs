//! What is tried: every pair with accumulators of its own, in Q0.31 and in other formats; every length and place at some; many channels in one batch.

use super::{Q31, case};
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::{Budget, Effort};
use tiebreak_common::parameters::grid;
use tiebreak_engine::tensor::{Asked, Case, Spec};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Channel};

/// Formats tried beside Q0.31, one a channel, in turn.
const OTHER_FORMATS: [u32; 6] = [30, 15, 0, 24, 1, 8];
/// Channels of one per-channel batch: odd, so that every channel meets every vector lane.
const CHANNELS_TOGETHER: usize = 5;
/// Channels of the wide batches: below, at and above every vector width and cache line, mostly odd.
const WIDE: [usize; 6] = [9, 16, 17, 33, 65, WIDEST];
/// Channels of the widest batch.
const WIDEST: usize = 70;
/// Rows of a wide batch, the last one cut in half.
const WIDE_ROWS: usize = 7;
/// Lengths at which one accumulator is run.
const LENGTHS_OF_ONE: std::ops::RangeInclusive<usize> = 1..=9;

/// The pairs of a run, each with the format of its multiplier.
pub(super) fn pairs(asked: &Asked, budget: &Budget, seed: u64) -> Vec<(Channel, u32)> {
    if !asked.channels.is_empty() {
        let q = asked.q.unwrap_or(Q31);
        return asked.channels.iter().map(|channel| (*channel, q)).collect();
    }
    let all = grid(budget, seed);
    let others = all.iter().enumerate().map(|(i, channel)| (*channel, OTHER_FORMATS[i % OTHER_FORMATS.len()]));
    all.iter().map(|channel| (*channel, Q31)).chain(others).collect()
}

/// The cases of a run that lie in the domain.
pub(super) fn plan(domain: &Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Batch>> {
    let pairs = pairs(asked, budget, seed);
    let q = asked.q.unwrap_or(Q31);
    let inside = |(c, q): &&(Channel, u32)| domain.contains(c.multiplier, c.shift, *q);
    let first: Vec<Channel> = pairs.iter().filter(|pair| pair.1 == q).filter(inside).map(|pair| pair.0).collect();
    if let Some(x) = asked.x {
        return first.iter().flat_map(|channel| one(domain, *channel, q, x)).collect();
    }
    let inputs: Vec<Vec<i32>> = first.iter().map(|c| accumulators(*c, q, budget, seed)).collect();
    let placed = pairs.iter().take(budget.position_parameters).filter(inside);
    let placed = placed.flat_map(|(channel, q)| positions(*channel, *q, &accumulators(*channel, *q, budget, seed)));
    let mut out: Vec<Spec<Batch>> = placed.collect();
    let together = if domain.per_channel { CHANNELS_TOGETHER } else { 1 };
    out.extend(first.chunks(together).zip(inputs.chunks(together)).map(|(channels, xs)| rows(channels, xs, q)));
    let others = pairs.iter().filter(|pair| pair.1 != q).filter(inside);
    out.extend(others.map(|(c, q)| spec(*q, vec![*c], accumulators(*c, *q, budget, seed), 0)));
    let quick = Effort::Quick.budget();
    out.extend(wide(domain, q, &first, |channel| accumulators(channel, q, &quick, seed)));
    out
}

/// Every pair of a quick run. Never a whole number of vectors: a tail that differs from the body must show.
pub(super) fn trial(domain: &Domain, seed: u64) -> Vec<Spec<Batch>> {
    let quick = Effort::Quick.budget();
    let covered = grid(&quick, seed).into_iter().filter(|c| domain.contains(c.multiplier, c.shift, Q31));
    let of = |channel| {
        let mut xs = accumulators(channel, Q31, &quick, seed);
        xs.truncate(xs.len() - (xs.len() + 1) % 4);
        xs.rotate_right(1);
        spec(Q31, vec![channel], xs, 0)
    };
    covered.map(of).collect()
}

fn spec(q: u32, channels: Vec<Channel>, xs: Vec<i32>, misalign: usize) -> Spec<Batch> {
    Spec::given(Case { misalign, ..case(q, channels, xs) })
}

/// One accumulator at every length up to nine, in a body and in every tail; and in every channel of wide batches.
fn one(domain: &Domain, channel: Channel, q: u32, x: i32) -> Vec<Spec<Batch>> {
    let short = LENGTHS_OF_ONE.map(|len| spec(q, vec![channel], vec![x; len], 0));
    short.chain(wide(domain, q, &[channel], |_| vec![x])).collect()
}

/// A row of the batch for each accumulator of the channel that has most.
fn rows(channels: &[Channel], inputs: &[Vec<i32>], q: u32) -> Spec<Batch> {
    let longest = inputs.iter().map(Vec::len).max().unwrap_or(0);
    let row = |i: usize| inputs.iter().map(move |xs| xs[i % xs.len()]);
    spec(q, channels.to_vec(), (0..longest).flat_map(row).collect(), 0)
}

/// Batches of many channels, each ending within a row: a kernel of several channels takes those of `covered` in turn, as often as it takes, with the
/// accumulators that `inputs` gives for each.
fn wide(domain: &Domain, q: u32, covered: &[Channel], inputs: impl Fn(Channel) -> Vec<i32>) -> Vec<Spec<Batch>> {
    if !domain.per_channel || covered.is_empty() {
        return Vec::new();
    }
    // From one end of the list to the other: neighbours share their shift.
    let spread = covered.iter().step_by((covered.len() / WIDEST).max(1)).take(WIDEST);
    let spread: Vec<(Channel, Vec<i32>)> = spread.map(|c| (*c, inputs(*c))).collect();
    let batch = |(misalign, count): (usize, usize)| {
        let together: Vec<_> = spread.iter().cycle().skip(count).take(count).collect();
        let value = |i: usize| {
            let xs = &together[i % count].1;
            xs[(i / count * xs.len() / WIDE_ROWS + i) % xs.len()]
        };
        let xs = (0..WIDE_ROWS * count - count / 2).map(value).collect();
        spec(q, together.iter().map(|(channel, _)| *channel).collect(), xs, misalign)
    };
    WIDE.into_iter().enumerate().map(batch).collect()
}

/// Every length up to two vectors of the widest kernel, every misalignment, each value in every position.
fn positions(channel: Channel, q: u32, xs: &[i32]) -> Vec<Spec<Batch>> {
    let values: Vec<i32> = xs.iter().step_by((xs.len() / 8).max(1)).copied().collect();
    let mut out = Vec::new();
    for len in 0..=17 {
        for misalign in 0..4 {
            for turn in 0..values.len().min(len.max(1)) {
                let rotated = (0..len).map(|i| values[(i + turn) % values.len()]).collect();
                out.push(spec(q, vec![channel], rotated, misalign));
            }
        }
    }
    out
}

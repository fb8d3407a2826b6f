//! Cases of fixed point multiply: every pair with its own accumulators, in Q0.31 and in other formats; every length and place for some pairs; many
//! channels in one batch. Batches of the size of layers are in `large.rs`.

use super::{Q31, case, large};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::parameters::grid;
use tiebreak_common::{Budget, Effort};
use tiebreak_engine::operation::{Case, CaseSelection, Frames, Spec, by};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Channel, Params};

/// Numbers of channels in the batches of pairs, in turn: every number up to eight.
const TOGETHER: [usize; 8] = [5, 2, 7, 4, 3, 8, 6, 1];
/// Smallest number of channels in the wide batches; every number up to [`WIDEST`] occurs.
const NARROWEST: usize = 9;
/// Largest number of channels in the wide batches.
const WIDEST: usize = 70;
/// Rows of a wide batch; the last row is cut in half.
const WIDE_ROWS: usize = 7;
/// Lengths of the long batches.
const LONG: [usize; 4] = [1025, 2051, 4100, 8205];
/// Number of places of the first accumulator after a 64-byte boundary, in accumulators.
const ALIGNMENTS: usize = 16;
/// Sampling step of cases for caches of kernels: pairs repeated in another format, their accumulators, and batches repeated with other channels.
const AGAIN: usize = 8;
/// Number of pairs that also run at the next shift, and the range of their shifts.
const NEIGHBOURS: usize = 4;
const KEPT: std::ops::RangeInclusive<i32> = -12..=-1;
/// Batch lengths for a single accumulator.
const LENGTHS_OF_ONE: std::ops::RangeInclusive<usize> = 1..=9;

/// Returns the pairs of a run, each with the format of its multiplier.
pub(super) fn pairs(selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<(Channel, u32)> {
    if !selection.channels.is_empty() {
        let q = selection.q.unwrap_or(Q31);
        return selection.channels.iter().map(|channel| (*channel, q)).collect();
    }
    let all = grid(budget, seed);
    // Other formats than Q0.31, in turn. 31 is coprime to 7 and to the number of corner multipliers.
    let others = all.iter().enumerate().map(|(i, channel)| (*channel, i as u32 * 7 % Q31));
    all.iter().map(|channel| (*channel, Q31)).chain(others).collect()
}

/// Key of cached accumulators: the pair, its format, the numbers of near ties and of random accumulators, and the seed.
type Key = (Channel, u32, [usize; 2], u64);

/// Returns the accumulators of a pair. Pairs of the grid have the same accumulators for every kernel, which are cached. The accumulators of the
/// caller's pairs are not cached, because there may be millions of pairs.
fn inputs(selection: &CaseSelection, (channel, q): (Channel, u32), budget: &Budget, seed: u64) -> Arc<[i32]> {
    static KNOWN: LazyLock<Mutex<HashMap<Key, Arc<[i32]>>>> = LazyLock::new(Mutex::default);
    let made = || Arc::<[i32]>::from(accumulators(channel, q, budget, seed));
    if !selection.channels.is_empty() {
        return made();
    }
    let key = (channel, q, [budget.near_ties, budget.random_accumulators], seed);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().get(&key).cloned();
    found.unwrap_or_else(|| {
        // Generated before taking the lock, which all kernels share.
        let own = made();
        known().entry(key).or_insert(own).clone()
    })
}

/// Returns the cases of a run that are in the domain.
pub(super) fn plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Batch>> {
    let pairs = pairs(selection, budget, seed);
    let q = selection.q.unwrap_or(Q31);
    let inside = |(c, q): &&(Channel, u32)| domain.contains(c.multiplier, c.shift, *q);
    let first: Vec<Channel> = pairs.iter().filter(|pair| pair.1 == q).filter(inside).map(|pair| pair.0).collect();
    if let Some(x) = selection.x {
        return first.iter().flat_map(|channel| one(domain, *channel, q, x)).collect();
    }
    let inputs = |channel, q| inputs(selection, (channel, q), budget, seed);
    let placed = pairs.iter().take(budget.position_parameters).filter(inside);
    let placed = placed.flat_map(|(channel, q)| positions(*channel, *q, &inputs(*channel, *q)));
    let mut out = Vec::new();
    by("every place", &mut out, |out| out.extend(placed));
    // The caller's pairs get their accumulators when they run.
    let own: Vec<Arc<[i32]>> =
        if selection.channels.is_empty() { first.iter().map(|c| inputs(*c, q)).collect() } else { Vec::new() };
    by("pairs", &mut out, |out| match selection.channels.is_empty() {
        true => {
            out.extend(batches(domain, &first).map(|(at, i)| rows(&first[at.clone()], &own[at], q, i % ALIGNMENTS)));
            // Pairs alone, and each accumulator in another place: a mutant's own check must not be the only one that shows such a fault.
            if selection.is_nothing() {
                // All inputs of the self-checks, or a part in a short run: a kernel's fault that only these inputs show must not pass.
                out.extend(trial(domain, seed, if budget.every_tail { 1 } else { AGAIN }));
                out.extend(neighbours(domain, &first, &own, q));
            }
        }
        false => out.extend(frames(domain, &first, q, budget, seed)),
    });
    let others = pairs.iter().filter(|pair| pair.1 != q).filter(inside).enumerate();
    by("other formats", &mut out, |out| {
        for (i, (c, other)) in others {
            out.push(spec(*other, vec![*c], inputs(*c, *other).to_vec(), i % ALIGNMENTS));
            // A result that a kernel caches between calls must depend on more than the pair.
            if i % AGAIN == 0 && domain.contains(c.multiplier, c.shift, q) {
                let few = inputs(*c, q).iter().copied().step_by(AGAIN).collect();
                out.push(spec(q, vec![*c], few, i % ALIGNMENTS));
            }
        }
    });
    let quick = Effort::Quick.budget();
    let few = |channel| accumulators(channel, q, &quick, seed);
    by("many channels", &mut out, |out| out.extend(wide(domain, q, &first, few)));
    if selection.channels.is_empty() {
        by("many channels", &mut out, |out| out.extend(large::channels(domain, budget, seed)));
        by("long batches", &mut out, |out| {
            out.extend(long(&first, &own, q));
            out.extend(large::lengths(domain, budget, seed));
        });
    }
    out
}

/// Returns the range of pairs of each batch, with as many channels as the kernel accepts, and the index of the batch.
fn batches(domain: &Domain, channels: &[Channel]) -> impl Iterator<Item = (Range<usize>, usize)> + use<> {
    let (all, per_channel) = (channels.len(), domain.per_channel);
    let mut from = 0;
    (0..).map_while(move |i| {
        let together = if per_channel { TOGETHER[i % TOGETHER.len()] } else { 1 };
        let at = from..all.min(from + together);
        from = at.end;
        (!at.is_empty()).then_some((at, i))
    })
}

/// Returns batches of the caller's pairs whose accumulators are generated later.
fn frames(domain: &Domain, channels: &[Channel], q: u32, budget: &Budget, seed: u64) -> Vec<Spec<Batch>> {
    let made: Arc<dyn Frames<Batch>> = Arc::new(Given { budget: *budget, seed });
    let frame =
        |at: Range<usize>| Batch { params: Params { q, channels: channels[at.clone()].to_vec() }, len: at.len() };
    batches(domain, channels).map(|(at, i)| Spec::later(frame(at), &made, i)).collect()
}

/// Generator of the accumulators of the caller's pairs.
struct Given {
    budget: Budget,
    seed: u64,
}

impl Frames<Batch> for Given {
    fn spec(&self, frame: &Batch, at: usize) -> Spec<Batch> {
        let Params { q, channels } = &frame.params;
        let own = |channel: &Channel| Arc::<[i32]>::from(accumulators(*channel, *q, &self.budget, self.seed));
        rows(channels, &channels.iter().map(own).collect::<Vec<_>>(), *q, at % ALIGNMENTS)
    }
}

/// Returns calls that alternate between a shift and the next one for the same multiplier, with accumulators whose results mostly change: a result
/// that a kernel caches between calls must depend on the shift too.
fn neighbours(domain: &Domain, channels: &[Channel], inputs: &[Arc<[i32]>], q: u32) -> Vec<Spec<Batch>> {
    let large = |c: &Channel| c.multiplier > 1 << 30 && KEPT.contains(&c.shift);
    let other = |c: &Channel| Channel { shift: c.shift - 1, ..*c };
    let pairs = channels.iter().zip(inputs).filter(|(c, _)| large(c) && domain.contains(c.multiplier, c.shift - 1, q));
    let calls = |(c, xs): (&Channel, &Arc<[i32]>)| {
        let few: Vec<i32> = xs.iter().copied().filter(|x| x.unsigned_abs() > 1 << 20).step_by(AGAIN).collect();
        [*c, other(c), *c].map(|channel| spec(q, vec![channel], few.clone(), 0))
    };
    pairs.take(NEIGHBOURS).flat_map(calls).collect()
}

/// Returns batches longer than a kernel's first block: the accumulators of many pairs, each batch with a single pair.
fn long(channels: &[Channel], inputs: &[Arc<[i32]>], q: u32) -> Vec<Spec<Batch>> {
    let Some(step) = channels.len().checked_div(LONG.len()).filter(|step| *step > 0) else { return Vec::new() };
    let batch = |(i, len): (usize, usize)| {
        let values = inputs.iter().cycle().skip(i * step).flat_map(|xs| xs.iter().copied());
        spec(q, vec![channels[i * step]], values.take(len).collect(), i)
    };
    LONG.into_iter().enumerate().map(batch).collect()
}

/// Returns every `step`th pair of a quick run. The length is never a multiple of a vector, so that a tail that differs from the body shows.
pub(super) fn trial(domain: &Domain, seed: u64, step: usize) -> Vec<Spec<Batch>> {
    let quick = Effort::Quick.budget();
    let covered = grid(&quick, seed).into_iter().filter(|c| domain.contains(c.multiplier, c.shift, Q31));
    let of = |channel| {
        let mut xs = inputs(&CaseSelection::default(), (channel, Q31), &quick, seed).to_vec();
        xs.truncate(xs.len() - (xs.len() + 1) % 4);
        xs.rotate_right(1);
        spec(Q31, vec![channel], xs, 0)
    };
    covered.step_by(step).map(of).collect()
}

fn spec(q: u32, channels: Vec<Channel>, xs: Vec<i32>, misalign: usize) -> Spec<Batch> {
    Spec::given(Case { misalign, ..case(q, channels, xs) })
}

/// Returns one accumulator in every length up to nine, so that it is in a body and in every tail, and in every channel of wide batches.
fn one(domain: &Domain, channel: Channel, q: u32, x: i32) -> Vec<Spec<Batch>> {
    let short = LENGTHS_OF_ONE.map(|len| spec(q, vec![channel], vec![x; len], 0));
    short.chain(wide(domain, q, &[channel], |_| vec![x])).collect()
}

/// Builds a batch with one row for each accumulator of the channel with the most accumulators.
fn rows(channels: &[Channel], inputs: &[Arc<[i32]>], q: u32, misalign: usize) -> Spec<Batch> {
    let longest = inputs.iter().map(|xs| xs.len()).max().unwrap_or(0);
    let row = |i: usize| inputs.iter().map(move |xs| xs[i % xs.len()]);
    spec(q, channels.to_vec(), (0..longest).flat_map(row).collect(), misalign)
}

/// Returns batches of many channels, each ending within a row. The channels are those of `covered` in turn, with the accumulators from `inputs`. In
/// every fourth batch all channels have one multiplier, and in every fourth one shift. Empty for a kernel of one channel.
fn wide(domain: &Domain, q: u32, covered: &[Channel], inputs: impl Fn(Channel) -> Vec<i32>) -> Vec<Spec<Batch>> {
    if !domain.per_channel || covered.is_empty() {
        return Vec::new();
    }
    // Spread over the whole list, because neighbours share their shift.
    let spread = covered.iter().step_by((covered.len() / WIDEST).max(1)).take(WIDEST);
    let spread: Vec<(Channel, Vec<i32>)> = spread.map(|c| (*c, inputs(*c))).collect();
    let batch = |(i, count, round): (usize, usize, usize)| {
        let (first, _) = &spread[count % spread.len()];
        let like = |(channel, _): &&(Channel, Vec<i32>)| match i % 4 {
            1 => channel.multiplier == first.multiplier,
            3 => channel.shift == first.shift,
            _ => true,
        };
        let mut together: Vec<_> = spread.iter().filter(like).cycle().skip(count).take(count).collect();
        together[1..].rotate_left(round);
        let value = |at: usize| {
            let xs = &together[at % count].1;
            xs[(at / count * xs.len() / WIDE_ROWS + at) % xs.len()]
        };
        let xs = (0..WIDE_ROWS * count - count / 2).map(value).collect();
        spec(q, together.iter().map(|(channel, _)| *channel).collect(), xs, i % ALIGNMENTS)
    };
    // A result that a kernel caches between calls must depend on more than the number of channels and the first channel.
    let again = |(i, count): (usize, usize)| {
        let rounds = if i.is_multiple_of(AGAIN) { 0..2 } else { 0..1 };
        rounds.map(move |round| (i, count, round))
    };
    (NARROWEST..=WIDEST).enumerate().flat_map(again).map(batch).collect()
}

/// Returns every length up to two vectors of the widest kernel, every misalignment, and each value in every position.
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

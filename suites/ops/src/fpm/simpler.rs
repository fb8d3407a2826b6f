//! Simpler cases: an accumulator nearer to zero, then a smaller shift, then a simpler multiplier.

use super::{case, channel_at};
use tiebreak_common::accumulators::corners;
use tiebreak_common::parameters::CORNER_MULTIPLIERS;
use tiebreak_engine::operation::{Case, Witness};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Channel, Params};

/// Batch length without a tail for vector lengths of 1, 2, 4, 8 and 16.
const WHOLE: usize = 16;
/// Batch length without a whole vector.
const TAIL: usize = 3;
/// Upper bound on simple accumulators that are tried in tails, because each such batch holds few.
const FEW: usize = 24;

/// Returns the order in which witnesses are preferred: smaller is simpler.
pub(super) fn size(x: i32, Channel { multiplier: m, shift: s }: Channel) -> [u32; 6] {
    let [m_negative, x_negative, s_left] = [m < 0, x < 0, s > 0].map(u32::from);
    [x.unsigned_abs(), s.unsigned_abs(), m.unsigned_abs(), m_negative, x_negative, s_left]
}

/// True if the batch contains a single accumulator, possibly repeated.
pub(super) fn is_single(whole: &Case<Batch>) -> bool {
    let xs = &whole.tensors[0];
    whole.params.params.channels.len() == 1 && xs.len() <= WHOLE && xs.iter().all(|x| *x == xs[0])
}

/// Returns the accumulator of a result alone in the tail of a batch, alone in a body, and alone in its original place, which may matter.
pub(super) fn isolate_result(whole: &Case<Batch>, index: usize) -> Vec<(Case<Batch>, usize)> {
    let (q, channel, x) = (whole.params.params.q, channel_at(&whole.params, index), whole.tensors[0][index]);
    let only = tiebreak_engine::operation::fill::only(whole, [1, 0, 0], index);
    let of = |len| (case(q, vec![channel], vec![x; len]), 0);
    vec![of(1), of(WHOLE), (only, index)]
}

/// Returns both halves of a batch, each with whole rows except for the end.
pub(super) fn halves(whole: &Case<Batch>) -> Vec<Case<Batch>> {
    let Params { q, channels } = &whole.params.params;
    let xs = &whole.tensors[0];
    let middle = (xs.len() / 2).next_multiple_of(channels.len());
    let part = |xs: &[i32]| Case { misalign: whole.misalign, ..case(*q, channels.clone(), xs.to_vec()) };
    if (1..xs.len()).contains(&middle) { vec![part(&xs[..middle]), part(&xs[middle..])] } else { Vec::new() }
}

/// Returns cases simpler than a witness, the simplest first. A difference in whole vectors is searched in a single batch of all candidates; a
/// difference in a tail, in batches too short for a vector.
pub(super) fn simpler(witness: &Witness<Batch>, domain: &Domain) -> Vec<Case<Batch>> {
    let whole = &witness.case;
    let xs = &whole.tensors[0];
    let Some(x) = xs.get(witness.index) else { return Vec::new() };
    let (q, channel) = (whole.params.params.q, channel_at(&whole.params, witness.index));
    let single = |len: usize| case(q, vec![channel], vec![*x; len]);
    let form = [WHOLE, TAIL, 1].into_iter().find(|len| *whole == single(*len));
    match form {
        Some(1) => Vec::new(),
        Some(len) => {
            let steps = steps(*x, channel, len).into_iter().filter(|(c, _)| domain.contains(c.multiplier, c.shift, q));
            let batches = steps
                .flat_map(|(channel, xs)| batches(len, &xs).map(|xs| case(q, vec![channel], xs)).collect::<Vec<_>>());
            batches.chain([single(1)]).collect()
        }
        None => sorted(whole).into_iter().chain([WHOLE, TAIL, 1].map(single)).chain(halves(whole)).collect(),
    }
}

/// Sorts the accumulators of a one-channel batch, the simplest first, in whole vectors.
fn sorted(whole: &Case<Batch>) -> Option<Case<Batch>> {
    let Params { q, channels } = &whole.params.params;
    let [channel] = channels[..] else { return None };
    let xs = &whole.tensors[0];
    let is_sorted = xs.is_sorted_by_key(|x| (x.unsigned_abs(), *x < 0));
    let xs = batches(WHOLE, &by_size(xs.clone())).next().filter(|_| !is_sorted)?;
    Some(case(*q, vec![channel], xs)).filter(|sorted| sorted != whole)
}

/// Splits accumulators into batches in which all are in a body, or all in a tail.
fn batches(form: usize, xs: &[i32]) -> impl Iterator<Item = Vec<i32>> {
    let size = if form == WHOLE { xs.len().max(1) } else { TAIL };
    let filled = move |part: &[i32]| {
        let mut out = part.to_vec();
        out.resize(if form == WHOLE { part.len().next_multiple_of(WHOLE) } else { part.len() }, part[0]);
        out
    };
    xs.chunks(size).map(filled)
}

/// Returns channels with accumulators that are all simpler than these.
fn steps(x: i32, channel: Channel, form: usize) -> Vec<(Channel, Vec<i32>)> {
    let now = size(x, channel);
    let Channel { multiplier: m, shift: s } = channel;
    let mut plain = plainer(x);
    if form == TAIL {
        plain.truncate(FEW);
    }
    let nearer = by_size((1..32).map(|bit| x - (x >> bit)).chain([x - x.signum()]).collect());
    let mut shifts: Vec<i32> = (-31..=31).filter(|other: &i32| other.abs() <= s.abs()).collect();
    shifts.sort_by_key(|s| (s.abs(), *s > 0));
    let round = (0..31).map(|bit| m >> bit << bit);
    let towards_zero = (1..32).map(|bit| m - (m >> bit)).chain([m - m.signum()]);
    let mut multipliers: Vec<i32> = CORNER_MULTIPLIERS.into_iter().chain(round).chain([m.saturating_abs()]).collect();
    multipliers.sort_unstable_by_key(|m| (m.unsigned_abs(), *m < 0));
    multipliers.dedup();
    // A larger multiplier may make a smaller accumulator differ.
    let (larger, smaller): (Vec<i32>, Vec<i32>) =
        multipliers.into_iter().partition(|other| other.unsigned_abs() > m.unsigned_abs());
    let at = |multiplier, shift, xs: &[i32]| (Channel { multiplier, shift }, xs.to_vec());
    let mut out = vec![at(m, s, &plain), at(m, s, &nearer)];
    out.extend(shifts.into_iter().map(|shift| at(m, shift, &plain)));
    out.extend(larger.into_iter().chain(smaller).map(|multiplier| at(multiplier, s, &plain)));
    out.extend(towards_zero.map(|multiplier| at(multiplier, s, &[x])));
    out.iter_mut().for_each(|(channel, xs)| xs.truncate(xs.partition_point(|x| size(*x, *channel) < now)));
    out.retain(|(_, xs)| !xs.is_empty());
    out
}

/// Sorts accumulators, the simplest first, without duplicates.
fn by_size(mut xs: Vec<i32>) -> Vec<i32> {
    xs.sort_unstable_by_key(|x| (x.unsigned_abs(), *x < 0));
    xs.dedup();
    xs
}

/// Returns accumulators at most as large as `x`.
fn plainer(x: i32) -> Vec<i32> {
    let mut xs: Vec<i32> = (-64..=64).chain(corners()).chain([x, x.saturating_neg()]).collect();
    xs.retain(|c| c.unsigned_abs() <= x.unsigned_abs());
    by_size(xs)
}

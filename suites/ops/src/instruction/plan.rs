//! Operand pairs of instructions: all pairs of 8-bit operands; for wider operands corners, random pairs, and pairs of equal operands.

use tiebreak_common::{Budget, int32, int32_of_any_size, stream};
use tiebreak_engine::operation::{Fill, Spec};
use tiebreak_impls::instruction::{Domain, Lanes, Params};

/// Vectors in one case: few enough to compute the case with big integers.
const VECTORS: usize = 1 << 8;
/// Further numbers of vectors, larger than [`VECTORS`].
const LONG: [usize; 3] = [257, 513, 1030];

/// True if the plan contains every pair.
pub(super) fn is_exhaustive(domain: Domain) -> bool {
    domain == Domain::lane_wise(8)
}

/// Returns cases in which each vector holds a single pair, then cases of every number of vectors in which all lanes differ.
pub(super) fn plan(domain: Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let bytes = domain.a.bits == 8;
    let pairs = if bytes { all_bytes(domain) } else { sampled(domain, budget.instruction_pairs, seed) };
    let mut out: Vec<_> = pairs.chunks(VECTORS).enumerate().map(|(i, pairs)| one_pair(domain, i, pairs)).collect();
    // Every number of vectors up to 80, and more vectors than a kernel may process at a time.
    let lengths = [VECTORS].into_iter().chain(1..=80).chain(LONG);
    out.extend(lengths.enumerate().map(|(i, vectors)| mixed(domain, i, vectors)));
    if domain == Domain::lane_wise(domain.a.bits) {
        let both = equal(domain, seed);
        out.extend(both.chunks(VECTORS * domain.lanes()).map(|values| {
            let fills = [Fill::Given(values.to_vec()), Fill::Given(values.to_vec()), Fill::None];
            Spec::new(Params { vectors: values.len() / domain.lanes() }, fills, 0).by("another pair in each lane")
        }));
    }
    out
}

/// Builds a case with one vector for each pair. An instruction of one operand gets the pair in adjacent lanes; accumulators have various fills.
fn one_pair(domain: Domain, i: usize, pairs: &[(i32, i32)]) -> Spec<Params> {
    let unary = domain.b.count == 0;
    let lane = |k: usize, pair: &(i32, i32)| if unary && k % 2 == 1 { pair.1 } else { pair.0 };
    let first = pairs.iter().flat_map(|pair| (0..domain.a.count).map(move |k| lane(k, pair))).collect();
    let second = pairs.iter().flat_map(|pair| std::iter::repeat_n(pair.1, domain.b.count)).collect();
    let acc = [Fill::Extremes, Fill::Smallest, Fill::Uniform, Fill::Largest][i % 4].clone();
    let fills = [Fill::Given(first), Fill::Given(second), if domain.acc.count == 0 { Fill::None } else { acc }];
    Spec::new(Params { vectors: pairs.len() }, fills, 0).by("one pair a vector")
}

/// Builds a case in which all lanes differ. Instructions that combine lanes also get the ends of the lane type.
fn mixed(domain: Domain, i: usize, vectors: usize) -> Spec<Params> {
    let fill = |turn: usize, lanes: Lanes| match (lanes.count, turn % 3, domain == Domain::lane_wise(lanes.bits)) {
        (0, ..) => Fill::None,
        (_, 0, false) => Fill::Extremes,
        _ => Fill::Uniform,
    };
    let fills = [fill(i, domain.a), fill(i / 2, domain.b), fill(i / 3, domain.acc)];
    Spec::new(Params { vectors }, fills, i % 16).by("another pair in each lane")
}

/// Returns whole vectors of values that both operands share: every 16-bit value, and some 32-bit values.
fn equal(domain: Domain, seed: u64) -> Vec<i32> {
    let mut rng = stream(seed, &format!("instruction/s{}/equal", domain.a.bits));
    match domain.a.bits {
        8 => Vec::new(),
        16 => (-(1 << 15)..1 << 15).collect(),
        _ => (0..1 << 12).map(|_| int32_of_any_size(&mut rng)).collect(),
    }
}

/// Returns every pair of bytes, for both operands or for adjacent lanes of a single operand.
fn all_bytes(domain: Domain) -> Vec<(i32, i32)> {
    let second = if domain.b.count == 0 { domain.a } else { domain.b };
    domain.a.range().flat_map(|a| second.range().map(move |b| (a, b))).collect()
}

/// Returns every pair of corners, then random pairs.
fn sampled(domain: Domain, count: usize, seed: u64) -> Vec<(i32, i32)> {
    let lane = |v: i32| match domain.a.signed {
        true => v << (32 - domain.a.bits) >> (32 - domain.a.bits),
        false => (v as u32 & (u32::MAX >> (32 - domain.a.bits))) as i32,
    };
    let corners: Vec<i32> = corners(domain.a.bits).into_iter().map(lane).collect();
    let mut pairs: Vec<(i32, i32)> = corners.iter().flat_map(|a| corners.iter().map(move |b| (*a, *b))).collect();
    let [mut first, mut second] =
        ["a", "b"].map(|operand| stream(seed, &format!("instruction/s{}/{operand}", domain.a.bits)));
    for i in 0..count {
        let a = int32(&mut first);
        let b = if i % 2 == 0 { int32(&mut second) } else { int32_of_any_size(&mut second) };
        pairs.push((lane(a), lane(b)));
    }
    pairs
}

/// Returns both ends, powers of two and their neighbours, including every distinct shift amount.
fn corners(bits: u32) -> Vec<i32> {
    let top = 1i64 << (bits - 1);
    let mut out: Vec<i64> = (-40..=40).chain([top - 1, top - 2, -top, 1 - top]).collect();
    for bit in 5..bits - 1 {
        let power = 1i64 << bit;
        out.extend([power - 1, power, power + 1, -power]);
    }
    out.sort_unstable();
    out.dedup();
    out.into_iter().map(|v| v as i32).collect()
}

//! Operand pairs that are tried: all there are of 8 bits; of more corners, random ones, and both operands equal.

use tiebreak_common::budget::Budget;
use tiebreak_common::stream::{int32, int32_of_any_size, stream};
use tiebreak_engine::operation::Spec;
use tiebreak_engine::operation::fill::Fill;
use tiebreak_impls::instruction::{Domain, Params};

/// Vectors in one case, few enough for big integers to work a case out.
const VECTORS: usize = 1 << 8;
/// Numbers of vectors beyond those.
const LONG: [usize; 3] = [257, 513, 1030];

/// Whether the plan holds every pair.
pub(super) fn is_exhaustive(domain: Domain) -> bool {
    domain.bits == 8
}

/// Cases of vectors that one pair fills each, then cases of every number of vectors whose lanes all differ.
pub(super) fn plan(domain: Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let pairs = if is_exhaustive(domain) { all_bytes() } else { sampled(domain, budget.instruction_pairs, seed) };
    let filled = |pairs: &[(i32, i32)], operand: fn(&(i32, i32)) -> i32| {
        Fill::Given(pairs.iter().flat_map(|pair| std::iter::repeat_n(operand(pair), domain.lanes())).collect())
    };
    let spec = |pairs: &[(i32, i32)]| {
        let fills = [filled(pairs, |pair| pair.0), filled(pairs, |pair| pair.1), Fill::None];
        Spec::new(Params { vectors: pairs.len() }, fills, 0).by("one pair a vector")
    };
    // Every number of vectors up to 80, and more than a kernel may take at a time.
    let mixed = |(i, vectors): (usize, usize)| {
        Spec::new(Params { vectors }, [Fill::Uniform, Fill::Uniform, Fill::None], i % 16)
            .by("another pair in each lane")
    };
    let lengths = [VECTORS].into_iter().chain(1..=80).chain(LONG);
    let both = equal(domain, seed);
    let both = both.chunks(VECTORS * domain.lanes()).map(|values| {
        let fills = [Fill::Given(values.to_vec()), Fill::Given(values.to_vec()), Fill::None];
        Spec::new(Params { vectors: values.len() / domain.lanes() }, fills, 0).by("another pair in each lane")
    });
    pairs.chunks(VECTORS).map(spec).chain(lengths.enumerate().map(mixed)).chain(both).collect()
}

/// Whole vectors of what both operands are: every value of 16 bits, and some of 32.
fn equal(domain: Domain, seed: u64) -> Vec<i32> {
    let mut rng = stream(seed, &format!("instruction/s{}/equal", domain.bits));
    match domain.bits {
        8 => Vec::new(),
        16 => (-(1 << 15)..1 << 15).collect(),
        _ => (0..1 << 12).map(|_| int32_of_any_size(&mut rng)).collect(),
    }
}

fn all_bytes() -> Vec<(i32, i32)> {
    (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b))).collect()
}

/// Every pair of corners, then random pairs.
fn sampled(domain: Domain, count: usize, seed: u64) -> Vec<(i32, i32)> {
    let sign_extended = |v: i32| v << (32 - domain.bits) >> (32 - domain.bits);
    let corners: Vec<i32> = corners(domain.bits);
    let mut pairs: Vec<(i32, i32)> = corners.iter().flat_map(|a| corners.iter().map(move |b| (*a, *b))).collect();
    let [mut first, mut second] =
        ["a", "b"].map(|operand| stream(seed, &format!("instruction/s{}/{operand}", domain.bits)));
    for i in 0..count {
        let a = int32(&mut first);
        let b = if i % 2 == 0 { int32(&mut second) } else { int32_of_any_size(&mut second) };
        pairs.push((sign_extended(a), sign_extended(b)));
    }
    pairs
}

/// Both ends, powers of two and their neighbours; among them every shift amount that makes a difference.
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

//! Cases of exponentials: in every format the ends, whole quarters, powers of two and their neighbours, an input between all quarters, and random
//! inputs; in some formats every length up to a few vectors, and long batches.

use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, below, int32, int32_of_any_size, sizes, stream};
use tiebreak_engine::operation::{Fill, Spec, Turn, by};
use tiebreak_impls::exp::{Domain, Params};

/// Number of random inputs in each format, for each effort.
const RANDOM: [usize; 2] = [1024, 4096];
/// Batch lengths: every short length, and lengths longer than any block.
const SHORT: RangeInclusive<usize> = 1..=80;
const LONG: [usize; 6] = [128, 257, 513, 1025, 2049, 4099];
/// Number of quarters below 0 (to just beyond -32) that have corners.
const QUARTERS: i64 = 132;

/// Returns the cases of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    let mut rng = stream(seed, "exp");
    for integer_bits in domain.integer_bits.clone() {
        by("corners", &mut out, |out| out.push(spec(integer_bits, corners(integer_bits), integer_bits as usize)));
        by("random", &mut out, |out| {
            let some = (0..RANDOM[usize::from(budget.every_tail)]).map(|i| random(integer_bits, i, &mut rng)).collect();
            out.push(spec(integer_bits, some, 3 * integer_bits as usize));
        });
    }
    let formats: Vec<i32> = domain.integer_bits.clone().collect();
    by("lengths", &mut out, |out| {
        // A batch with as many inputs as integer bits.
        for bits in domain.integer_bits.clone().filter(|bits| *bits > 0) {
            out.push(spec(bits, (0..bits as usize).map(|i| random(bits, i, &mut rng)).collect(), bits as usize));
        }
        for (i, len) in SHORT.chain(LONG).enumerate() {
            let integer_bits = formats[i % formats.len()];
            out.push(spec(integer_bits, (0..len).map(|i| random(integer_bits, i, &mut rng)).collect(), i));
        }
        for (i, (len, of)) in sizes::lengths(budget).iter().enumerate() {
            let integer_bits = if domain.integer_bits.contains(&5) { 5 } else { formats[0] };
            let values = (0..*len).map(|i| random(integer_bits, i, &mut rng)).collect();
            out.push(Spec { turn: Turn::one_in(*of, i), ..spec(integer_bits, values, i) });
        }
    });
    out
}

fn spec(integer_bits: i32, values: Vec<i32>, i: usize) -> Spec<Params> {
    let params = Params { len: values.len(), integer_bits };
    Spec::new(params, [Fill::Given(values), Fill::None, Fill::None], i % 16)
}

/// Returns ends, powers of two and whole quarters with their neighbours, and the middle of each quarter.
fn corners(integer_bits: i32) -> Vec<i32> {
    let quarter = 1i64 << (29 - integer_bits);
    let powers = (0..=31).map(|bit| -(1i64 << bit));
    let quarters = (0..=QUARTERS).flat_map(|n| [-n * quarter, -n * quarter - quarter / 2]);
    // Alternating bits, such as 1/3 and 2/3.
    let patterns = [-0x2aaa_aaaa, -0x5555_5555, -0x7fff_0000, -0x0000_ffff, -0x00ff_00ff].into_iter();
    let near = [i64::from(i32::MIN), 0].into_iter().chain(powers).chain(quarters).chain(patterns);
    let all = near.flat_map(|at| [at - 2, at - 1, at, at + 1, at + 2]);
    let mut out: Vec<i32> = all.filter_map(|x| i32::try_from(x).ok()).filter(|x| *x <= 0).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Draws any input, an input of any magnitude, an input within 32 of 0, or an input in the first quarters below 0.
fn random(integer_bits: i32, i: usize, rng: &mut ChaCha8Rng) -> i32 {
    let any = int32(rng) & i32::MAX;
    match i % 4 {
        0 => -any,
        1 => -(int32_of_any_size(rng) & i32::MAX),
        2 => -(any >> (integer_bits - 5).clamp(0, 24)),
        _ => {
            let quarter = 1i64 << (29 - integer_bits);
            let whole = i64::from(below(rng, 132)) * quarter;
            let x = -(whole + i64::from(any) % quarter);
            x.max(i32::MIN.into()) as i32
        }
    }
}

//! Cases of softmaxes: every difference of two elements, every length of a row, rows of equal elements, and rows dominated by one element, with
//! scales from flat to steep, each with the `diff_min` that TensorFlow Lite derives and with others.

use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, below, int32, stream};
use tiebreak_engine::operation::{Fill, Spec, by};
use tiebreak_impls::softmax::{Domain, MOST, Params};

/// Left shifts of the scales of layers, from 2^-10 to 2^3 of a step.
const USUAL_SHIFTS: RangeInclusive<i32> = 17..=30;
/// Row lengths: every short length, and lengths longer than any block.
const SHORT: RangeInclusive<usize> = 1..=80;
const LONG: [usize; 8] = [96, 127, 128, 129, 255, 256, 257, MOST];
/// Number of random cases, for each effort.
const RANDOM: [usize; 2] = [96, 768];

/// Returns the cases of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "softmax");
    let mut out = Vec::new();
    by("pairs", &mut out, |out| pairs(domain, budget, &mut rng, out));
    by("lengths", &mut out, |out| lengths(domain, &mut rng, out));
    by("equal elements", &mut out, |out| equal(domain, &mut rng, out));
    by("random", &mut out, |out| {
        for i in 0..RANDOM[usize::from(budget.every_tail)] {
            let (rows, depth) = (1 + below(&mut rng, 5) as usize, 1 + below(&mut rng, 40) as usize);
            let fill = [Fill::Varied, Fill::Uniform, Fill::Extremes, Fill::Sparse][i % 4].clone();
            out.push(spec(Params { rows, depth, ..scaled(domain, i, &mut rng) }, fill, i));
        }
    });
    out
}

fn spec(params: Params, input: Fill, i: usize) -> Spec<Params> {
    Spec::new(params, [input, Fill::None, Fill::None], i % 16)
}

/// Draws the `i`th scale. Five of six have the least difference that five integer bits hold (`CalculateInputRadius`), the others any.
fn scaled(domain: &Domain, i: usize, rng: &mut ChaCha8Rng) -> Params {
    let few = (USUAL_SHIFTS.end() - USUAL_SHIFTS.start() + 1) as usize;
    let left_shift = if i % 8 == 7 { below(rng, 31) as i32 } else { USUAL_SHIFTS.start() + (i % few) as i32 };
    let any = int32(rng) & ((1 << 30) - 1) | 1 << 30;
    let multiplier = [any, any, 1 << 30, i32::MAX][i / 3 % 4];
    let radius = (31i64 << 26) >> left_shift;
    let least = 1i64 << (31 - left_shift);
    let diff_min = match i % 6 {
        5 => -i64::from(below(rng, least.min(300) as u32 + 1)),
        _ => -radius.min(least),
    };
    Params {
        input: domain.input,
        output: domain.output,
        rows: 1,
        depth: 1,
        multiplier,
        left_shift,
        diff_min: diff_min as i32,
    }
}

/// Adds every difference of two elements, each in a row, and rows of three elements with a second difference.
fn pairs(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let range = domain.input.range();
    let (lo, hi) = (*range.start(), *range.end());
    let scales = if budget.every_tail { 84 } else { 28 };
    for i in 0..scales {
        let p = scaled(domain, i, rng);
        let two = (lo..=hi).flat_map(|v| if i % 2 == 0 { [v, hi] } else { [hi, v] }).collect();
        out.push(spec(Params { rows: 256, depth: 2, ..p }, Fill::Given(two), i));
        let other = lo + below(rng, 256) as i32;
        let three = (lo..=hi).flat_map(|v| [v, other, lo + (hi - v)]).collect();
        out.push(spec(Params { rows: 256, depth: 3, ..p }, Fill::Given(three), i));
    }
}

/// Numbers of rows and row lengths that are both large, or whole blocks, and more elements than 16 bits count.
const TOGETHER: [(usize, usize); 14] = [
    (16, 16),
    (17, 18),
    (32, 32),
    (33, 34),
    (48, 16),
    (64, 64),
    (65, 66),
    (129, 130),
    (130, MOST),
    (13, 401),
    (21, MOST),
    (1025, 3),
    (4100, 2),
    (4128, 16),
];

/// Adds rows of every length, one to three at a time; every number of rows; then many rows of many elements.
fn lengths(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for (i, depth) in SHORT.chain(LONG).enumerate() {
        let fill = if i % 3 == 2 { Fill::Uniform } else { Fill::Varied };
        out.push(spec(Params { rows: 1 + i % 3, depth, ..scaled(domain, i, rng) }, fill, i));
    }
    for (i, rows) in SHORT.chain([129, 1000, 2100]).enumerate() {
        out.push(spec(Params { rows, depth: 1 + i % 7, ..scaled(domain, i, rng) }, Fill::Varied, i));
    }
    for (i, (rows, depth)) in TOGETHER.into_iter().enumerate() {
        out.push(spec(Params { rows, depth, ..scaled(domain, i, rng) }, Fill::Varied, i));
    }
}

/// Adds rows with `count` equal elements that are the largest, and elements smaller by increasing amounts; the sum passes each power of two.
fn equal(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let range = domain.input.range();
    let (lo, hi) = (*range.start(), *range.end());
    for (i, count) in
        [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 510, MOST]
            .into_iter()
            .enumerate()
    {
        let others = [0, 1, 7, 64][i % 4].min(MOST - count);
        let largest = [hi, lo + 200, -1, lo + 100][i % 4].clamp(lo + 66, hi);
        let row = (0..count).map(|_| largest).chain((0..others).map(|at| largest - 1 - at as i32)).collect();
        out.push(spec(Params { depth: count + others, ..scaled(domain, i, rng) }, Fill::Given(row), i));
        // All elements are the least value of the type.
        out.push(spec(Params { depth: count, ..scaled(domain, i + 1, rng) }, Fill::Smallest, i));
    }
}

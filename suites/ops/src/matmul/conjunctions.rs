//! Combinations of conditions: single rows and columns, whole blocks, depths, offsets, alignments and fills. Some case has every three conditions.
//! Specialized code runs only when several conditions hold, so only such a case shows its faults.

use super::offsets::other_than_zero;
use super::plan::spec;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::covering::rows;
use tiebreak_common::{Budget, below, stream};
use tiebreak_engine::operation::{Fill, Spec};
use tiebreak_impls::matmul::{Domain, Params};

/// Number of levels of rows, columns, depth, lhs_offset, rhs_offset, alignment, and the fills of lhs and of rhs.
const LEVELS: [usize; 8] = [4, 4, 5, 3, 3, 2, 3, 3];

/// Returns specs in which every three conditions occur together.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "matmul/conjunctions");
    rows(&LEVELS, &[], budget.every_tail, &mut rng).iter().map(|row| of(domain, row, &mut rng)).collect()
}

fn of(domain: &Domain, row: &[usize], rng: &mut ChaCha8Rng) -> Spec<Params> {
    let between = |range: RangeInclusive<usize>, rng: &mut ChaCha8Rng| {
        range.start() + below(rng, (range.end() - range.start() + 1) as u32) as usize
    };
    let k = match row[2] {
        // Odd; whole blocks; short; whole blocks deeper than a cache block; odd and deep.
        0 => between(8..=34, rng) * 2 + 1,
        1 => 32 * between(1..=4, rng),
        2 => between(1..=15, rng),
        3 => 64 * between(4..=9, rng),
        _ => between(64..=300, rng) * 2 + 1,
    };
    let blocks = if k > 256 { 1 } else { 2 };
    let mut side = |level: usize| match level {
        0 => 8 * between(0..=2 * blocks, rng) + between(1..=7, rng),
        1 => 1,
        2 => 16 * between(1..=blocks, rng),
        _ => between(2..=4, rng),
    };
    let (m, n) = (side(row[0]), side(row[1]));
    let turn = below(rng, 1 << 16) as usize;
    let mut offset = |level: usize, range: RangeInclusive<i32>| match level {
        0 => 0,
        // A turn that is a multiple of three selects the end farther from 0.
        1 => other_than_zero(&range, turn - turn % 3 + 1 + below(rng, 2) as usize),
        _ => other_than_zero(&range, turn - turn % 3),
    };
    let offsets = (offset(row[3], domain.lhs.range()), offset(row[4], domain.rhs.range()));
    let fill = |level: usize| [Fill::Varied, Fill::Extremes, Fill::Sparse][level].clone();
    let mut one = spec(m, n, k, offsets, fill(row[6]), fill(row[7]));
    one.misalign = if row[5] == 0 { 0 } else { between(1..=15, rng) };
    one
}

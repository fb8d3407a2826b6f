//! Matrix products that are large along several axes, or a whole number of blocks, with every kind of offsets. Code omits terms if an offset is 0
//! or both are equal; here at sizes at which it splits or unrolls loops, or has a single row or column.

use super::plan::{by_turns, spec};
use std::ops::RangeInclusive;
use tiebreak_engine::operation::{Fill, Spec};
use tiebreak_impls::matmul::{Domain, Params};

/// M, N and K.
const SHAPES: [[usize; 3]; 26] = [
    // Whole blocks, then one more along each axis.
    [4, 8, 16],
    [8, 8, 32],
    [16, 16, 64],
    [32, 32, 32],
    [64, 64, 64],
    [9, 9, 25],
    [5, 5, 17],
    [17, 17, 17],
    [17, 17, 33],
    [33, 34, 35],
    [65, 66, 67],
    // One row or one column with a long other side, and single results.
    [1, 65, 65],
    [1, 130, 131],
    [65, 1, 65],
    [130, 1, 600],
    [1, 1, 257],
    // Sums of either sign that exceed 16 bits.
    [1, 2, 261],
    [2, 1, 261],
    [1, 1, 1],
    // Long along two axes, and not short along the third.
    [5, 9, 49],
    [5, 9, 260],
    [9, 17, 129],
    [6, 17, 514],
    [66, 5, 513],
    [67, 66, 17],
    [13, 11, 65],
];

/// Upper bound on products of a shape that is tried with every kind of offsets. Larger shapes use one kind.
const FEW: usize = 12_000;

/// Kind of offsets: which are 0, and whether both are equal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Neither,
    Left,
    Right,
    Both,
    Equal,
}

pub(super) const KINDS: [Kind; 5] = [Kind::Right, Kind::Neither, Kind::Both, Kind::Left, Kind::Equal];

/// Returns the cases, ordered by shape.
pub(super) fn plan(domain: &Domain) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    for (i, [m, n, k]) in SHAPES.into_iter().enumerate() {
        let kinds = if m * n * k <= FEW { KINDS.len() } else { 1 };
        // With few results, operand sums are as large as possible.
        let fill = if m * n <= 2 { Fill::Largest } else { Fill::Varied };
        for kind in KINDS.into_iter().cycle().skip(i).take(kinds) {
            let mut one = spec(m, n, k, offsets(domain, kind, out.len()), fill.clone(), fill.clone());
            one.misalign = i % 16;
            out.push(one);
        }
    }
    out
}

pub(super) fn offsets(domain: &Domain, kind: Kind, i: usize) -> (i32, i32) {
    let (lhs, rhs) = (domain.lhs.range(), domain.rhs.range());
    match kind {
        Kind::Neither => (0, 0),
        Kind::Left => (other_than_zero(&lhs, i), 0),
        Kind::Right => (0, other_than_zero(&rhs, i)),
        Kind::Both => (other_than_zero(&lhs, i), other_than_zero(&rhs, 3 * i)),
        Kind::Equal => {
            let common = *lhs.start().max(rhs.start())..=*lhs.end().min(rhs.end());
            let one = other_than_zero(&common, i);
            (one, one)
        }
    }
}

/// Returns a negated nonzero zero point of the type: every third is the end farther from 0.
pub(super) fn other_than_zero(range: &RangeInclusive<i32>, i: usize) -> i32 {
    let far = if range.start().abs() > range.end().abs() { *range.start() } else { *range.end() };
    let any = by_turns(range, i * 77);
    -if i.is_multiple_of(3) || any == 0 { far } else { any }
}

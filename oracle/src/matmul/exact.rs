//! One element of a matrix product on big integers.

use super::{BLOCK, Narrow, Scheme};
use crate::pair_sum::{INT16, PairSum};
use crate::word::INT32;
use rug::{Assign, Integer};

/// Raw elements of lhs and rhs along the depth.
pub(crate) type Terms = Vec<(i32, i32)>;

/// Computes the result of one row and one column: the exact sum plus the change of each narrow lane.
pub(crate) fn element(scheme: &Scheme, terms: &[(i32, i32)], [lhs_offset, rhs_offset]: [i64; 2]) -> Option<Integer> {
    let exact = sum(terms, [lhs_offset, rhs_offset]);
    let changed = match scheme.definition.narrow {
        None => exact,
        Some(Narrow::Pairs { apart, sum }) => exact + pairs(terms, apart, sum),
        Some(Narrow::Quads) => exact - terms.iter().map(product).sum::<Integer>() + quads(terms),
        Some(Narrow::Sum16) => {
            let raw = terms.iter().map(product).sum();
            exact - &raw + INT16.wrap_exact(&raw)
        }
    };
    scheme.overflow.fit_exact(INT32, &changed)
}

/// Computes the exact sum of one row and one column.
pub(crate) fn sum(terms: &[(i32, i32)], [lhs_offset, rhs_offset]: [i64; 2]) -> Integer {
    // Three integers are reused for all terms.
    let (mut sum, mut left, mut right) = (Integer::new(), Integer::new(), Integer::new());
    for (l, r) in terms {
        left.assign(*l);
        right.assign(*r);
        left += lhs_offset;
        right += rhs_offset;
        sum += &left * &right;
    }
    sum
}

fn product((l, r): &(i32, i32)) -> Integer {
    Integer::from(*l) * *r
}

/// Computes the sum over pairs of (sum in its lane - true sum).
fn pairs(terms: &[(i32, i32)], apart: usize, sum: PairSum) -> Integer {
    let mut change = Integer::new();
    for block in terms.chunks(BLOCK) {
        for first in (0..BLOCK).filter(|k| (k / apart).is_multiple_of(2)) {
            let raw = |k: usize| block.get(k).map_or_else(Integer::new, product);
            let pair = raw(first) + raw(first + apart);
            change += sum.exact(&pair) - pair;
        }
    }
    change
}

/// Adds the four lanes after the last block, modulo 2^32.
fn quads(terms: &[(i32, i32)]) -> Integer {
    let mut lanes = [const { Integer::new() }; 4];
    for block in terms.chunks(BLOCK) {
        for (lane, quad) in lanes.iter_mut().zip(block.chunks(4)) {
            *lane = INT32.saturate_exact(&(quad.iter().map(product).sum::<Integer>() + &*lane));
        }
    }
    INT32.wrap_exact(&lanes.iter().sum())
}

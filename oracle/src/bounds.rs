//! Exact bounds on depths and weights, for sums of products of bounded integers in a word.
//!
//! Every bound rests on one fact: a product `l * r` over two intervals is extreme at corners of the rectangle, because the product is
//! linear in each factor. A sum of K products is extreme, and attains the extreme, when every product is the same corner.

use std::ops::RangeInclusive;

/// End of a word that a sum reaches first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Smallest value of the word.
    Min,
    /// Largest value of the word.
    Max,
}

/// Number of products whose sum never leaves a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// No bound: every product is 0, or no product exists.
    Unbounded,
    /// A bound.
    Bounded {
        /// Largest depth.
        depth: u128,
        /// Factors (lhs, rhs) of the product that leaves the word when added once more.
        pair: (i64, i64),
        /// End of the word that the sum then crosses.
        end: End,
    },
}

impl Depth {
    /// Returns the depth, or `None` if no bound exists.
    pub fn depth(self) -> Option<u128> {
        match self {
            Self::Unbounded => None,
            Self::Bounded { depth, .. } => Some(depth),
        }
    }
}

/// Returns factors and product of each corner; an empty list for an empty range.
fn corners(lhs: &RangeInclusive<i64>, rhs: &RangeInclusive<i64>) -> Vec<((i64, i64), i128)> {
    if lhs.is_empty() || rhs.is_empty() {
        return Vec::new();
    }
    let corner = |l: i64, r: i64| ((l, r), i128::from(l) * i128::from(r));
    let [l, r] = [lhs, rhs].map(|range| [*range.start(), *range.end()]);
    vec![corner(l[1], r[1]), corner(l[1], r[0]), corner(l[0], r[1]), corner(l[0], r[0])]
}

/// Returns the largest K such that no sum of K products over these ranges leaves `word_min..=word_max`, a word that contains 0.
///
/// A sum of K products is in `K*p_min ..= K*p_max`, for p over the corners, and reaches both ends. A positive corner allows
/// `floor(word_max / p)` products, a negative corner `floor(|word_min| / |p|)`. The depth is the least of these numbers. u8 by u8 in uint32:
/// `floor((2^32 - 1) / 255^2) = 66051`; in int32 33025. If two corners give the same depth, the first of
/// (max, max), (max, min), (min, max), (min, min) is named. In a word that does not contain 0 the depth is 0.
pub fn largest_depth(lhs: RangeInclusive<i64>, rhs: RangeInclusive<i64>, word_min: i128, word_max: i128) -> Depth {
    let bounds = corners(&lhs, &rhs).into_iter().filter(|(_, p)| *p != 0).map(|(pair, p)| {
        let (room, end) = if p > 0 { (word_max.max(0), End::Max) } else { (word_min.min(0), End::Min) };
        // The signs agree. Magnitudes avoid the overflow of the smallest i128 divided by -1.
        (room.unsigned_abs() / p.unsigned_abs(), pair, end)
    });
    match bounds.min_by_key(|(depth, ..)| *depth) {
        Some((depth, pair, end)) => Depth::Bounded { depth, pair, end },
        None => Depth::Unbounded,
    }
}

/// Returns the interval of values `r` of `rhs` around 0 such that no sum of `terms` products with values of `lhs` leaves the word, which
/// contains 0. The interval is empty if 0 is not in `rhs` and the value nearest to 0 is too large.
///
/// Such a sum is extreme when all products are the same corner, so each `r` can be judged alone: `r` is allowed if `terms` products of
/// `(l, r)` fit at both ends of `lhs`. For `r > 0` with `l > 0` that is `r <= floor(word_max / (terms * l))`, and likewise for the other
/// signs. If `r` is allowed, so is every value between `r` and 0. u8 by u8, two terms, in uint16: 128, as
/// `2 * 255 * 128 = 65280`; u8 by i8 in int16: -64..=64; i8 by i8: -127..=127, as only `2 * (-128) * (-128) = 2^15` leaves int16.
pub fn largest_pair_weight(
    lhs: RangeInclusive<i64>,
    rhs: RangeInclusive<i64>,
    terms: u32,
    word_min: i128,
    word_max: i128,
) -> RangeInclusive<i64> {
    // Largest |r| on one side of 0: the number of products of weight 1 that fit, divided by `terms`.
    let magnitude = |sign: i64| {
        let bound = largest_depth(lhs.clone(), sign..=sign, word_min, word_max).depth();
        match (bound, terms) {
            (None, _) | (_, 0) => i64::MAX,
            (Some(depth), terms) => i64::try_from(depth / u128::from(terms)).unwrap_or(i64::MAX),
        }
    };
    (*rhs.start()).max(-magnitude(-1))..=(*rhs.end()).min(magnitude(1))
}

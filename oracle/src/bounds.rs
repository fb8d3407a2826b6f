//! How many products fit: exact bounds on depths and weights for sums of products of bounded integers in a word.
//!
//! Every bound rests on one fact: a product `l * r` over two intervals is extreme at corners of the rectangle, because it is
//! linear in each factor. A sum of K products is then extreme where every product is the same corner, and attains it.

use std::ops::RangeInclusive;

/// The end of a word that a sum reaches first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Its smallest value.
    Min,
    /// Its largest value.
    Max,
}

/// How many products can never leave a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Any number: every product is 0, or there is none.
    Unbounded,
    /// So many.
    Bounded {
        /// The largest depth.
        depth: u128,
        /// The factors (lhs, rhs) of which one product more leaves the word.
        pair: (i64, i64),
        /// Where it leaves the word.
        end: End,
    },
}

impl Depth {
    /// The depth, or `None` if there is no bound.
    pub fn depth(self) -> Option<u128> {
        match self {
            Self::Unbounded => None,
            Self::Bounded { depth, .. } => Some(depth),
        }
    }
}

/// Factors and product of each corner; none for an empty range.
fn corners(lhs: &RangeInclusive<i64>, rhs: &RangeInclusive<i64>) -> Vec<((i64, i64), i128)> {
    if lhs.is_empty() || rhs.is_empty() {
        return Vec::new();
    }
    let corner = |l: i64, r: i64| ((l, r), i128::from(l) * i128::from(r));
    let [l, r] = [lhs, rhs].map(|range| [*range.start(), *range.end()]);
    vec![corner(l[1], r[1]), corner(l[1], r[0]), corner(l[0], r[1]), corner(l[0], r[0])]
}

/// The largest K such that no K products of values of these ranges leave `word_min..=word_max`, a word that holds 0.
///
/// A sum of K products lies in `K*p_min ..= K*p_max`, p over the corners, and reaches both ends. A positive corner allows
/// `floor(word_max / p)` of itself, a negative one `floor(|word_min| / |p|)`; the depth is the least of these. u8 by u8 in uint32:
/// `floor((2^32 - 1) / 255^2) = 66051`; in int32 33025. Where two corners reach it together, the one named is the first of
/// (max, max), (max, min), (min, max), (min, min). In a word that does not hold 0 the depth is 0.
pub fn largest_depth(lhs: RangeInclusive<i64>, rhs: RangeInclusive<i64>, word_min: i128, word_max: i128) -> Depth {
    let bounds = corners(&lhs, &rhs).into_iter().filter(|(_, p)| *p != 0).map(|(pair, p)| {
        let (room, end) = if p > 0 { (word_max.max(0), End::Max) } else { (word_min.min(0), End::Min) };
        // Signs agree, and magnitudes avoid the quotient of the smallest i128 by -1.
        (room.unsigned_abs() / p.unsigned_abs(), pair, end)
    });
    match bounds.min_by_key(|(depth, ..)| *depth) {
        Some((depth, pair, end)) => Depth::Bounded { depth, pair, end },
        None => Depth::Unbounded,
    }
}

/// The values `r` of `rhs`, from the lowest to the highest around 0, such that no sum of `terms` products of them with values of
/// `lhs` leaves the word, which holds 0. Empty where 0 is not in `rhs` and even its value nearest to 0 is too large.
///
/// Such a sum is extreme where all of its products are one corner, so each `r` can be judged alone: it is allowed when `terms`
/// products of `(l, r)` fit at both ends of `lhs`. For `r > 0` with `l > 0` that is `r <= floor(word_max / (terms * l))`, for the other
/// signs the like, and where `r` is allowed so is everything between it and 0. u8 by u8, two terms, in uint16: 128, as
/// `2 * 255 * 128 = 65280`; u8 by i8 in int16: -64..=64; i8 by i8: -127..=127, as only `2 * (-128) * (-128) = 2^15` leaves it.
pub fn largest_pair_weight(
    lhs: RangeInclusive<i64>,
    rhs: RangeInclusive<i64>,
    terms: u32,
    word_min: i128,
    word_max: i128,
) -> RangeInclusive<i64> {
    // The room for |r| on one side of 0: as many unit weights as a sum of `terms` products of each has place for.
    let magnitude = |sign: i64| {
        let bound = largest_depth(lhs.clone(), sign..=sign, word_min, word_max).depth();
        match (bound, terms) {
            (None, _) | (_, 0) => i64::MAX,
            (Some(depth), terms) => i64::try_from(depth / u128::from(terms)).unwrap_or(i64::MAX),
        }
    };
    (*rhs.start()).max(-magnitude(-1))..=(*rhs.end()).min(magnitude(1))
}

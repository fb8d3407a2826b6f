//! Bounds compared with enumerated sums, over every range of 3-bit operands and small words.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use tiebreak_oracle::bounds::{Depth, End, largest_depth, largest_pair_weight};

const WORDS: [(i128, i128); 6] = [(-8, 7), (0, 15), (-40, 39), (0, 40), (0, 0), (-9, 0)];
const OPERANDS: RangeInclusive<i64> = -4..=7;

/// Returns every interval inside `within`.
fn ranges(within: RangeInclusive<i64>) -> Vec<RangeInclusive<i64>> {
    within.clone().flat_map(|a| (a..=*within.end()).map(move |b| a..=b)).collect()
}

fn products(lhs: &RangeInclusive<i64>, rhs: &RangeInclusive<i64>) -> BTreeSet<i128> {
    lhs.clone().flat_map(|l| rhs.clone().map(move |r| i128::from(l * r))).collect()
}

/// Returns every sum of `terms` products.
fn sums(of: &BTreeSet<i128>, terms: usize) -> BTreeSet<i128> {
    (0..terms).fold(BTreeSet::from([0]), |sums, _| sums.iter().flat_map(|s| of.iter().map(move |p| s + p)).collect())
}

fn fits(sums: &BTreeSet<i128>, (min, max): (i128, i128)) -> bool {
    sums.iter().all(|s| (min..=max).contains(s))
}

/// Counts the depth by adding products one by one; `None` if 50 products do not leave a word of at most 40 in magnitude.
fn counted_depth(products: &BTreeSet<i128>, word: (i128, i128)) -> Option<u128> {
    let mut reached = BTreeSet::from([0]);
    for depth in 0..50 {
        let next = reached.iter().flat_map(|s| products.iter().map(move |p| s + p)).collect();
        if !fits(&next, word) {
            return Some(depth);
        }
        reached = next;
    }
    None
}

#[test]
fn the_largest_depth_is_the_one_counted_out() {
    let (mut bounded, mut unbounded) = (0, 0);
    for lhs in ranges(OPERANDS) {
        for rhs in ranges(OPERANDS) {
            let products = products(&lhs, &rhs);
            for word in WORDS {
                let depth = largest_depth(lhs.clone(), rhs.clone(), word.0, word.1);
                assert_eq!(depth.depth(), counted_depth(&products, word), "{lhs:?} * {rhs:?} in {word:?}");
                let Depth::Bounded { depth, pair: (l, r), end } = depth else {
                    unbounded += 1;
                    continue;
                };
                bounded += 1;
                assert!(lhs.contains(&l) && rhs.contains(&r));
                let one_more = i128::from(l * r) * (depth as i128 + 1);
                let left = if end == End::Max { one_more > word.1 } else { one_more < word.0 };
                assert!(left, "{l} * {r}, {} times, is to leave {word:?} at {end:?}", depth + 1);
            }
        }
    }
    assert!(bounded > 10_000 && unbounded > 500, "{bounded} {unbounded}");
}

#[test]
fn the_interval_of_weights_is_maximal() {
    let mut ends = 0;
    for lhs in ranges(OPERANDS) {
        for rhs in ranges(-5..=6).into_iter().filter(|r| r.contains(&0)) {
            for (terms, word) in [1, 2, 3].into_iter().flat_map(|terms| WORDS.map(|word| (terms, word))) {
                let fits = |rhs: RangeInclusive<i64>| fits(&sums(&products(&lhs, &rhs), terms), word);
                let found = largest_pair_weight(lhs.clone(), rhs.clone(), terms as u32, word.0, word.1);
                let (lo, hi) = (*found.start(), *found.end());
                let case = format!("{terms} of {lhs:?} * {rhs:?} in {word:?}: {found:?}");
                assert!(found.contains(&0) && rhs.contains(&lo) && rhs.contains(&hi) && fits(found), "{case}");
                for wider in [lo - 1..=hi, lo..=hi + 1] {
                    if rhs.contains(wider.start()) && rhs.contains(wider.end()) {
                        assert!(!fits(wider), "{case}");
                        ends += 1;
                    }
                }
            }
        }
    }
    assert!(ends > 10_000, "{ends}");
}

/// For nonnegative weights a sum is extreme if every element is the same end of `lhs`, and equals that end times the sum of the weights.
#[test]
fn the_limit_of_a_sum_of_two_weights_is_the_depth_of_products_by_one() {
    for lhs in ranges(OPERANDS) {
        for word in WORDS {
            let fits = |w0: i64, w1: i64| {
                let two = lhs.clone().flat_map(|a| lhs.clone().map(move |b| i128::from(a * w0 + b * w1)));
                fits(&two.collect(), word)
            };
            let counted = (0..50).find(|sum| (0..=*sum).any(|w| !fits(w, sum - w))).map(|first| first as u128 - 1);
            assert_eq!(largest_depth(lhs.clone(), 1..=1, word.0, word.1).depth(), counted, "{lhs:?} in {word:?}");
        }
    }
}

#[test]
fn bounds_of_bytes() {
    let (u8s, i8s) = (0..=255i64, -128..=127i64);
    let (u32s, s32s) = ((0, i128::from(u32::MAX)), (i128::from(i32::MIN), i128::from(i32::MAX)));
    let bounded = |depth, pair, end| Depth::Bounded { depth, pair, end };
    let depth = |l: &RangeInclusive<i64>, r: &RangeInclusive<i64>, word: (i128, i128)| {
        largest_depth(l.clone(), r.clone(), word.0, word.1)
    };
    assert_eq!(depth(&u8s, &u8s, u32s), bounded(66_051, (255, 255), End::Max));
    assert_eq!(depth(&u8s, &u8s, s32s), bounded(33_025, (255, 255), End::Max));
    assert_eq!(depth(&i8s, &i8s, s32s), bounded(131_071, (-128, -128), End::Max));
    assert_eq!(depth(&u8s, &i8s, s32s), bounded(65_793, (255, -128), End::Min));
    let (u16s, s16s) = ((0, 65_535), (-32_768, 32_767));
    let weights = |l: &RangeInclusive<i64>, r: &RangeInclusive<i64>, word: (i128, i128)| {
        largest_pair_weight(l.clone(), r.clone(), 2, word.0, word.1)
    };
    assert_eq!(weights(&u8s, &u8s, u16s), 0..=128);
    assert_eq!(weights(&u8s, &i8s, s16s), -64..=64);
    assert_eq!(weights(&i8s, &i8s, s16s), -127..=127);
    assert_eq!(depth(&u8s, &(1..=1), u16s).depth(), Some(257));
}

#[test]
fn ranges_without_values_and_ends_of_i64_have_bounds() {
    let none = RangeInclusive::new(1, 0);
    assert_eq!(largest_depth(none, 0..=1, -8, 7), Depth::Unbounded);
    let all = i64::MIN..=i64::MAX;
    let square = largest_depth(all.clone(), all.clone(), i128::MIN, i128::MAX);
    assert_eq!(square, Depth::Bounded { depth: 1, pair: (i64::MIN, i64::MIN), end: End::Max });
    assert_eq!(largest_depth(-1..=-1, 1..=1, i128::MIN, 0).depth(), Some(1 << 127));
    assert!(largest_pair_weight(0..=255, 5..=9, 2, 0, 2_000).is_empty());
    assert_eq!(largest_pair_weight(all.clone(), all, 2, 0, 0), 0..=0);
}

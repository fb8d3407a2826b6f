//! Accumulators that a channel can have, from its weights, its bias, and the range of its activations.
//!
//! The audit counts accumulators that can occur, not an interval: sums of products have gaps if the weights have a common divisor or no small weight.
//! A test tries every choice of activations.
//!
//! An accumulator is `bias + sum of w * (x - zero point)`. With `t = x - smallest x` for positive w, and `t = largest x - x` for negative w, it is
//! the smallest accumulator plus the sum of `|w| * t`, with independent t in 0..=255. Divide by the greatest common divisor of the weights, and sort
//! them in increasing order. The sums are all integers up to the largest exactly if the first weight is 1, and no weight exceeds 1 plus 255 times the
//! sum of the weights before it. A weight within this limit extends the interval. A larger weight leaves a gap that no later weight fills.
//!
//! With gaps, the sums are counted in a set of bits, until all sums exist apart from `T` at each end, and no remaining weight exceeds the length of
//! this middle. From then on every weight keeps the middle whole, and only the ends are counted. The ends mirror each other, because `t` and
//! `255 - t` exchange them. Padding is an activation at the zero point, which is among the values.

use std::ops::RangeInclusive;

/// Upper bounds on the length of a set of sums in bits, and on the words changed to fill it.
const MOST_BITS: u64 = 1 << 25;
const MOST_WORK: u64 = 1 << 26;

/// Accumulators of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Smallest accumulator.
    pub lo: i64,
    /// Largest accumulator.
    pub hi: i64,
    /// Positive common divisor of the distances between accumulators.
    pub step: i64,
    /// Steps from `lo` on that are accumulators; `None` if all are.
    gaps: Option<Gaps>,
    /// True if each counted accumulator can occur. Otherwise there were too many to examine, and some cannot occur.
    pub exact: bool,
}

impl Reach {
    /// Computes the accumulators for weights and activations, both minus their zero points.
    pub fn of(bias: i32, weights: impl Iterator<Item = i32>, activations: RangeInclusive<i32>) -> Self {
        let (least, most) = (i64::from(*activations.start()), i64::from(*activations.end()));
        let (mut lo, mut hi) = (i64::from(bias), i64::from(bias));
        let mut sizes: Vec<u32> = Vec::new();
        for w in weights.filter(|w| *w != 0) {
            let ends = [i64::from(w) * least, i64::from(w) * most];
            lo += ends[0].min(ends[1]);
            hi += ends[0].max(ends[1]);
            sizes.push(w.unsigned_abs());
        }
        let step = sizes.iter().fold(0, |a, b| gcd(a, *b)).max(1);
        sizes.iter_mut().for_each(|w| *w /= step);
        sizes.sort_unstable();
        let span = (most - least) as u64;
        let (gaps, exact) = if whole(&sizes, span) { (None, true) } else { sums(&sizes, span) };
        Self { lo, hi, step: step.into(), gaps, exact }
    }

    /// Returns the part of the range within `lo..=hi`; `None` if it is empty.
    pub fn within(&self, lo: i64, hi: i64) -> Option<RangeInclusive<i64>> {
        let (lo, hi) = (self.lo.max(lo), self.hi.min(hi));
        (lo <= hi).then_some(lo..=hi)
    }

    /// Returns the number of accumulators in `lo..=hi`.
    pub fn count(&self, lo: i64, hi: i64) -> u64 {
        let Some((first, last)) = self.steps(lo, hi) else { return 0 };
        self.gaps.as_ref().map_or(last - first + 1, |gaps| gaps.count(first, last))
    }

    /// Returns the number of all accumulators.
    pub fn total(&self) -> u64 {
        self.count(self.lo, self.hi)
    }

    /// Returns the accumulator in `lo..=hi` nearest to zero; at equal distance, the positive one.
    pub fn nearest(&self, lo: i64, hi: i64) -> Option<i64> {
        let (first, last) = self.steps(lo, hi)?;
        let at = |step: u64| self.lo + step as i64 * self.step;
        let reached = |step: &u64| self.gaps.as_ref().is_none_or(|gaps| gaps.has(*step));
        // The first nonnegative step separates both searches.
        let zero = (-self.lo).div_euclid(self.step) + i64::from((-self.lo).rem_euclid(self.step) != 0);
        let middle = zero.clamp(first as i64, last as i64 + 1) as u64;
        let above = (middle..=last).find(reached).map(at);
        let below = (first..middle).rev().find(reached).map(at);
        [above, below].into_iter().flatten().min_by_key(|x| (x.abs(), *x < 0))
    }

    /// Returns every accumulator in increasing order.
    pub fn each(&self) -> impl Iterator<Item = i64> + '_ {
        let last = self.steps(self.lo, self.hi).map_or(0, |(_, last)| last);
        let reached = |step: &u64| self.gaps.as_ref().is_none_or(|gaps| gaps.has(*step));
        (0..=last).filter(reached).map(|step| self.lo + step as i64 * self.step)
    }

    /// Returns the first and the last step in `lo..=hi`.
    fn steps(&self, lo: i64, hi: i64) -> Option<(u64, u64)> {
        let range = self.within(lo, hi)?;
        let from = range.start() - self.lo;
        let first = from.div_euclid(self.step) + i64::from(from.rem_euclid(self.step) != 0);
        let last = (range.end() - self.lo).div_euclid(self.step);
        (first <= last).then_some((first as u64, last as u64))
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// True if the sums have no gap.
fn whole(sizes: &[u32], span: u64) -> bool {
    let mut reached = 0u64;
    sizes.iter().all(|w| {
        let next = u64::from(*w) <= reached + 1;
        reached += u64::from(*w) * span;
        next
    })
}

/// Computes the sums for sizes in increasing order. `false` if they were not examined: too many sums, or a span that is not `2^n - 1`.
fn sums(sizes: &[u32], span: u64) -> (Option<Gaps>, bool) {
    let last = sizes.iter().map(|w| u64::from(*w) * span).sum::<u64>();
    if !(span + 1).is_power_of_two() {
        return (None, false);
    }
    // Every t of 0..=2^n - 1 is a sum of some powers of two below 2^n.
    let doublings = (span + 1).trailing_zeros();
    let largest = sizes.last().copied().map_or(0, u64::from);
    let (mut ends, mut reached, mut whole, mut work) = (Bits { words: vec![1] }, 0, false, 0);
    // One weight of each size first, because sizes without a common divisor close the middle.
    let mut each = sizes.to_vec();
    each.dedup();
    let again = sizes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[1]);
    for w in each.iter().chain(again) {
        reached += u64::from(*w) * span;
        if !whole {
            ends.words.resize((reached / 64 + 1) as usize, 0);
        }
        work += ends.words.len() as u64 * u64::from(doublings);
        if reached >= MOST_BITS && !whole || work > MOST_WORK {
            return (None, false);
        }
        (0..doublings).for_each(|n| ends.add_shifted(u64::from(*w) << n));
        // Last missing sum of the lower half. The upper half mirrors it.
        if !whole {
            let end = ends.last_missing(reached / 2).map_or(0, |at| at + 1);
            if reached >= 2 * end && largest <= reached - 2 * end + 1 {
                ends.words.truncate((end / 64 + 1) as usize);
                whole = true;
            }
        }
    }
    let end = if whole { ends.last_missing(64 * ends.words.len() as u64 - 1).map_or(0, |at| at + 1) } else { last + 1 };
    (Some(Gaps { ends, end, last }), true)
}

/// Sums that exist among `0..=last`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gaps {
    /// Sums below `end`. The upper end mirrors them.
    ends: Bits,
    /// All sums from here up to `last - end` exist. If beyond `last`, `ends` has all sums.
    end: u64,
    last: u64,
}

impl Gaps {
    fn has(&self, n: u64) -> bool {
        let n = if self.end > self.last { n } else { n.min(self.last - n) };
        n >= self.end || self.ends.has(n)
    }

    fn count(&self, first: u64, last: u64) -> u64 {
        if self.end > self.last {
            return self.ends.count(first, last);
        }
        let Self { ends, end, .. } = self;
        let whole = |first: u64, last: u64| (last + 1).saturating_sub(first);
        let part = |first: u64, last: u64| if first <= last { ends.count(first, last) } else { 0 };
        // Parts below `end`, above `last - end`, and between.
        let low = if first < *end { part(first, last.min(end - 1)) } else { 0 };
        let from_top = (self.last - last, self.last - first);
        let high = if from_top.0 < *end { part(from_top.0, from_top.1.min(end - 1)) } else { 0 };
        low + high + whole(first.max(*end), last.min(self.last - end))
    }
}

/// Set of numbers from 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn has(&self, n: u64) -> bool {
        self.words.get((n / 64) as usize).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    /// Adds to the set each number plus `by`. Numbers beyond the last word are dropped.
    fn add_shifted(&mut self, by: u64) {
        let (words, bits) = ((by / 64) as usize, (by % 64) as u32);
        // From the end, so that no word is read after its change.
        for at in (words..self.words.len()).rev() {
            let mut moved = self.words[at - words] << bits;
            if bits > 0 && at > words {
                moved |= self.words[at - words - 1] >> (64 - bits);
            }
            self.words[at] |= moved;
        }
    }

    /// Returns the largest number up to `n` that is not in the set.
    fn last_missing(&self, n: u64) -> Option<u64> {
        let (at, bit) = ((n / 64) as usize, n % 64);
        let top = !self.words[at] & (u64::MAX >> (63 - bit));
        let rest = (0..at).rev().map(|at| (at, !self.words[at]));
        let (at, missing) = std::iter::once((at, top)).chain(rest).find(|(_, missing)| *missing != 0)?;
        Some(64 * at as u64 + 63 - u64::from(missing.leading_zeros()))
    }

    fn count(&self, first: u64, last: u64) -> u64 {
        let (from, to) = ((first / 64) as usize, (last / 64) as usize);
        let upto = u64::MAX >> (63 - last % 64);
        let on = u64::MAX << (first % 64);
        let ones = |word: u64| u64::from(word.count_ones());
        if from == to {
            return ones(self.words[from] & on & upto);
        }
        let between: u64 = self.words[from + 1..to].iter().map(|word| ones(*word)).sum();
        ones(self.words[from] & on) + between + ones(self.words[to] & upto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Computes every sum, one product after another.
    fn every(bias: i32, weights: &[i32], activations: RangeInclusive<i32>) -> BTreeSet<i64> {
        weights.iter().fold([i64::from(bias)].into(), |sums: BTreeSet<i64>, w| {
            let with = |sum: &i64| activations.clone().map(|x| sum + i64::from(w * x)).collect::<Vec<_>>();
            sums.iter().flat_map(with).collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_reached_is_every_sum(
            bias in -300i32..300, weights in prop::collection::vec(-19i32..=19, 0..5), zero_point in 0i32..16, factor in 1i32..4,
            ends in (-900i64..900, -900i64..900),
        ) {
            let weights: Vec<i32> = weights.iter().map(|w| w * factor).collect();
            let activations = -zero_point..=15 - zero_point;
            let (reach, sums) = (Reach::of(bias, weights.iter().copied(), activations.clone()), every(bias, &weights, activations));
            prop_assert!(reach.exact);
            prop_assert_eq!(reach.each().collect::<BTreeSet<_>>(), sums.clone());
            prop_assert_eq!((Some(&reach.lo), Some(&reach.hi)), (sums.first(), sums.last()));
            let (lo, hi) = (ends.0.min(ends.1), ends.0.max(ends.1));
            prop_assert_eq!(reach.count(lo, hi), sums.range(lo..=hi).count() as u64);
            let nearest = sums.range(lo..=hi).copied().min_by_key(|x| (x.abs(), *x < 0));
            prop_assert_eq!(reach.nearest(lo, hi), nearest);
        }
    }

    /// 1 and the largest sum minus 1 are no sums of 2 and 3, however many weights there are.
    #[test]
    fn long_sums_have_their_gaps_at_both_ends() {
        let reach = Reach::of(5, std::iter::repeat_n([2, -3], 60_000).flatten(), 0..=255);
        assert!(reach.exact && reach.total() == 60_000 * 5 * 255 + 1 - 2);
        assert_eq!((reach.count(reach.lo, reach.lo + 3), reach.count(reach.hi - 3, reach.hi)), (3, 3));
        assert_eq!(
            (reach.nearest(reach.lo + 1, reach.lo + 1), reach.nearest(reach.hi - 1, reach.hi - 1)),
            (None, None)
        );
    }

    #[test]
    fn what_is_too_much_to_look_at_says_so() {
        // Each weight exceeds 255 times all weights before it, and no two sums are equal.
        let weights = [255, 256, 65_536, 16_777_216];
        let reach = Reach::of(0, weights.into_iter(), 0..=255);
        assert!(!reach.exact && reach.total() == reach.hi as u64 + 1, "{reach:?}");
    }
}

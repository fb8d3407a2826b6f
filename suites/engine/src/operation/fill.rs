//! Fills of tensors: extremes, patterns, single elements, random values.

use crate::operation::case::Case;
use std::ops::RangeInclusive;
use tiebreak_common::stream::{below, int32, int32_of_any_size, stream};

/// Fill of a tensor. Values outside the element's range are clamped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Empty tensor.
    None,
    /// Equal values everywhere.
    Constant(i32),
    /// The smallest value of the type everywhere.
    Smallest,
    /// The largest value of the type everywhere.
    Largest,
    /// Runs of the smallest and the largest value in alternation, `run` elements each.
    Alternating {
        /// Elements of each run.
        run: usize,
    },
    /// Zero, except for some elements (index, value).
    Only(Vec<(usize, i32)>),
    /// 0, 1, 2, ... modulo the range: every element differs from its neighbours.
    Counting,
    /// Uniform over the range.
    Uniform,
    /// Uniform, but different from the 63 preceding elements (fewer for a small range), so that a vector read from a wrong place is visible.
    Varied,
    /// The two ends of the range, 0, and their neighbours.
    Extremes,
    /// Mostly zero.
    Sparse,
    /// Random magnitude; for int32 accumulators.
    AnySize,
    /// Values given by the caller.
    Given(Vec<i32>),
}

/// Largest range for which a table is kept: larger than the range of a byte, and small enough to clear for every tensor.
const FEW: u64 = 1 << 10;

impl Fill {
    /// Fills without an argument or randomness.
    pub const PATTERNS: [Self; 6] = [
        Self::Smallest,
        Self::Largest,
        Self::Constant(1),
        Self::Alternating { run: 1 },
        Self::Alternating { run: 8 },
        Self::Counting,
    ];

    /// Random fills.
    pub const RANDOM: [Self; 3] = [Self::Uniform, Self::Extremes, Self::Sparse];

    /// Makes `len` elements of the range; random elements come from the stream `purpose` under `seed`.
    pub fn make(&self, len: usize, range: &RangeInclusive<i32>, seed: u64, purpose: &str) -> Vec<i32> {
        let (lo, hi) = (*range.start(), *range.end());
        let within = |v: i32| v.clamp(lo, hi);
        let width = (i64::from(hi) - i64::from(lo) + 1) as u64;
        let mut rng = stream(seed, purpose);
        let uniform = |bits: i32| (i64::from(lo) + ((u64::from(bits as u32) * width) >> 32) as i64) as i32;
        match self {
            Self::None => Vec::new(),
            Self::Constant(v) => vec![within(*v); len],
            Self::Smallest => vec![lo; len],
            Self::Largest => vec![hi; len],
            Self::Alternating { run } => (0..len).map(|i| if (i / run).is_multiple_of(2) { lo } else { hi }).collect(),
            Self::Only(elements) => {
                let mut out = vec![within(0); len];
                elements.iter().filter(|(at, _)| *at < len).for_each(|(at, v)| out[*at] = within(*v));
                out
            }
            Self::Counting => (0..len).map(|i| (i64::from(lo) + (i as u64 % width) as i64) as i32).collect(),
            Self::Uniform => (0..len).map(|_| uniform(int32(&mut rng))).collect(),
            Self::Varied => {
                let apart = (width / 4).min(63) as usize;
                let mut out: Vec<i32> = Vec::with_capacity(len);
                // Small ranges only: for each value the number of elements up to its last occurrence, 0 if it has not occurred.
                let mut last_seen = vec![0usize; if width <= FEW { width as usize } else { 0 }];
                while out.len() < len {
                    let next = uniform(int32(&mut rng));
                    let before = out.len();
                    let repeated = match last_seen.get_mut(next.abs_diff(lo) as usize) {
                        Some(last) if *last > 0 && before - *last < apart => true,
                        Some(last) => {
                            *last = before + 1;
                            false
                        }
                        None => out[before.saturating_sub(apart)..].contains(&next),
                    };
                    if !repeated {
                        out.push(next);
                    }
                }
                out
            }
            Self::Extremes => {
                let ends = [lo, lo.saturating_add(1), within(-1), within(0), within(1), hi.saturating_sub(1), hi];
                (0..len).map(|_| ends[below(&mut rng, ends.len() as u32) as usize]).collect()
            }
            Self::Sparse => {
                let mut element = || if below(&mut rng, 8) == 0 { uniform(int32(&mut rng)) } else { within(0) };
                (0..len).map(|_| element()).collect()
            }
            Self::AnySize => (0..len).map(|_| within(int32_of_any_size(&mut rng))).collect(),
            Self::Given(values) => values.iter().map(|v| within(*v)).collect(),
        }
    }
}

/// Returns the case with zeros outside group `at` of each tensor; a group of tensor `t` has `group[t]` words.
pub fn only<P: Clone>(case: &Case<P>, group: [usize; 3], at: usize) -> Case<P> {
    let mut out = case.clone();
    for (tensor, words) in out.tensors.iter_mut().zip(group) {
        let kept = at * words..(at + 1) * words;
        tensor.iter_mut().enumerate().filter(|(i, _)| !kept.contains(i)).for_each(|(_, v)| *v = 0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fill_has_the_length_and_stays_in_range() {
        let mut fills = [Fill::PATTERNS.to_vec(), Fill::RANDOM.to_vec()].concat();
        fills.extend([Fill::AnySize, Fill::Varied, Fill::Only(vec![(3, 9999), (77, 1)]), Fill::Constant(-5000)]);
        for range in [0..=255, -128..=127, -32768..=32767, i32::MIN..=i32::MAX] {
            for fill in &fills {
                let made = fill.make(40, &range, 7, "test");
                assert_eq!(made.len(), 40);
                assert!(made.iter().all(|v| range.contains(v)), "{fill:?} {range:?}");
            }
        }
    }

    #[test]
    fn uniform_reaches_both_ends_of_a_byte() {
        for fill in [Fill::Uniform, Fill::Varied] {
            let made = fill.make(20_000, &(0..=255), 7, "test");
            assert!(made.contains(&0) && made.contains(&255));
        }
    }

    #[test]
    fn varied_elements_are_none_of_those_before_them() {
        for (range, apart) in [(0..=255, 63), (-128..=127, 63), (0..=127, 32), (0..=3, 1), (5..=5, 0)] {
            let made = Fill::Varied.make(3000, &range, 7, "test");
            let repeated = (0..made.len()).any(|i| made[i.saturating_sub(apart)..i].contains(&made[i]));
            assert!(!repeated, "{range:?}");
        }
    }

    /// The table for small ranges chooses the same elements as a search of the preceding elements.
    #[test]
    fn varied_elements_are_drawn_until_one_is_new() {
        for range in [0..=255, -128..=127, 0..=3, 5..=5, -512..=511, -512..=512, i32::MIN..=i32::MAX] {
            let (lo, width) = (i64::from(*range.start()), range.end().abs_diff(*range.start()) as u64 + 1);
            let (mut rng, mut naive) = (stream(7, "test"), Vec::new());
            while naive.len() < 3000 {
                let next = (lo + ((u64::from(int32(&mut rng) as u32) * width) >> 32) as i64) as i32;
                let before: &[i32] = &naive[naive.len().saturating_sub((width / 4).min(63) as usize)..];
                if !before.contains(&next) {
                    naive.push(next);
                }
            }
            assert!(Fill::Varied.make(3000, &range, 7, "test") == naive, "{range:?}");
        }
    }
}

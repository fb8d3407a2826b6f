//! Results of every scheme for every accumulator of a narrow word, by the fast forms, and difference counts of two such lists.

use tiebreak_oracle::census::Counts;
use tiebreak_oracle::fpm::{Parameters, Scheme};

/// Marks an accumulator without a value.
const NONE: i16 = i16::MIN;
/// Largest range of deltas of two lists for which each delta is counted separately.
const FEW: i16 = 6;

/// Results at one multiplier and shift: each distinct list once, and the list of each scheme.
pub(crate) struct Outputs {
    lists: Vec<Vec<i16>>,
    of: Vec<usize>,
}

impl Outputs {
    /// Computes the results of `all`, for words of at most 15 bits. A definition is evaluated once for all its policies, which apply only if a
    /// result does not fit. The scheme itself is evaluated at one accumulator, a different accumulator for each multiplier.
    pub(crate) fn of(all: &[Scheme], p: &Parameters) -> Self {
        let (lo, hi) = (p.word.min() as i64, p.word.max() as i64);
        let mut outputs = Self { lists: Vec::new(), of: Vec::new() };
        for policies in all.chunk_by(|a, b| std::ptr::eq(a.definition, b.definition)) {
            let fast = policies[0].definition.fast;
            let unbounded: Vec<Option<i128>> = (lo..=hi).map(|x| fast(p, x)).collect();
            let fits = |v: i128| i128::from(lo) <= v && v <= i128::from(hi);
            let all_fit = unbounded.iter().flatten().all(|v| fits(*v));
            for (at, scheme) in policies.iter().enumerate() {
                if at == 0 || !all_fit {
                    let fitted = |v: i128| if fits(v) { Some(v) } else { scheme.overflow.fit(p.word, v) };
                    let word = |v: &Option<i128>| v.and_then(fitted).map_or(NONE, |v| v as i16);
                    outputs.push(unbounded.iter().map(word).collect());
                } else {
                    outputs.of.extend(outputs.of.last().copied());
                }
                let list = &outputs.lists[outputs.of[outputs.of.len() - 1]];
                let one = scheme.fast(p.m, p).map_or(NONE, |v| v as i16);
                assert_eq!(one, list[(p.m - lo) as usize], "{} {p:?}", scheme.label());
            }
        }
        outputs
    }

    /// Adds the list of one more scheme.
    fn push(&mut self, list: Vec<i16>) {
        let known = self.lists.iter().position(|other| *other == list);
        self.of.push(known.unwrap_or(self.lists.len()));
        if known.is_none() {
            self.lists.push(list);
        }
    }

    /// Returns the number of distinct lists.
    pub(crate) fn distinct(&self) -> usize {
        self.lists.len()
    }

    /// Returns the index of a scheme's list.
    pub(crate) fn list(&self, scheme: usize) -> usize {
        self.of[scheme]
    }

    /// Counts the differences of two lists, right minus left, for accumulators with both values.
    pub(crate) fn counts(&self, left: usize, right: usize) -> Counts {
        let values = self.lists[left].iter().zip(&self.lists[right]);
        let delta = |(l, r): (&i16, &i16)| if *l == NONE || *r == NONE { NONE } else { r.wrapping_sub(*l) };
        let deltas: Vec<i16> = values.map(delta).collect();
        let most = deltas.iter().copied().max().unwrap_or(NONE);
        let least = deltas.iter().map(|delta| if *delta == NONE { i16::MAX } else { *delta }).min().unwrap_or(i16::MAX);
        if least > most {
            return Counts::default();
        }
        if most - least > FEW {
            return Counts::of(deltas.iter().filter(|delta| **delta != NONE).map(|delta| i64::from(*delta)));
        }
        let mut counts = Counts::default();
        for delta in least..=most {
            // The count is at most 2^15. Without overflow checks it vectorises.
            let times = deltas.iter().fold(0u16, |sum, other| sum.wrapping_add(u16::from(*other == delta)));
            counts.put(delta.into(), times.into());
        }
        counts
    }
}

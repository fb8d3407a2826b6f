//! Number of floats on which schemes differ, in closed form, by comparing their runs.

use super::{Runs, Stored};
use crate::float::Format;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Returns the number of patterns with these keys, which are never all keys of f64.
pub(super) fn span(keys: &RangeInclusive<i64>) -> u64 {
    keys.end().abs_diff(*keys.start()) + 1
}

/// Merges the results of several [`Runs`] over the same keys into intervals on which no result changes.
///
/// # Panics
/// Panics if the runs have different formats or keys.
pub fn zip<const N: usize>(runs: [&Runs; N]) -> impl Iterator<Item = (RangeInclusive<i64>, [Stored; N])> {
    let keys = runs.map(|r| (r.quantization().format, r.keys()));
    assert!(keys.iter().all(|k| *k == keys[0]), "runs of different formats or keys");
    let mut rest = runs.map(|r| r.iter());
    let mut at = rest.each_mut().map(Iterator::next);
    let mut first = *keys[0].1.start();
    std::iter::from_fn(move || {
        let last = at.iter().map(|run| run.as_ref().map(|(keys, _)| *keys.end())).min()??;
        let results = at.each_ref().map(|run| run.as_ref().map_or(Stored::Unspecified, |(_, result)| *result));
        for (at, rest) in at.iter_mut().zip(&mut rest) {
            if at.as_ref().is_some_and(|(keys, _)| *keys.end() == last) {
                *at = rest.next();
            }
        }
        let part = first..=last;
        first = last + 1;
        Some((part, results))
    })
}

/// Smallest input on which two schemes differ: the nearest to 0, or the positive of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Input, a pattern of the format.
    pub bits: u64,
    /// Result of the first scheme.
    pub left: Stored,
    /// Result of the second scheme.
    pub right: Stored,
}

/// Number of floats on which two schemes differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Floats except NaN for which both schemes have a value.
    pub valued: u128,
    /// Floats with different values, by the second value minus the first.
    pub by_delta: BTreeMap<i64, u128>,
    /// Floats except NaN for which at least one scheme has no value.
    pub without_value: u128,
    /// Smallest float with different values.
    pub witness: Option<Witness>,
}

impl Differences {
    /// Returns the number of floats whose values differ.
    pub fn differ(&self) -> u128 {
        self.by_delta.values().sum()
    }

    fn note(&mut self, format: Format, keys: RangeInclusive<i64>, left: Stored, right: Stored) {
        let count = u128::from(span(&keys));
        let (Stored::Value(a), Stored::Value(b)) = (left, right) else {
            self.without_value += count;
            return;
        };
        self.valued += count;
        if a == b {
            return;
        }
        *self.by_delta.entry(b - a).or_default() += count;
        let nearest = 0.clamp(*keys.start(), *keys.end());
        let rank = |key: i64| (if key < 0 { -(key + 1) } else { key }, key < 0);
        let known = self.witness.and_then(|w| format.key(w.bits));
        if known.is_none_or(|known| rank(nearest) < rank(known)) {
            self.witness = Some(Witness { bits: format.from_key(nearest), left, right });
        }
    }
}

impl Runs {
    /// Compares two schemes on all floats except NaN, `other` minus `self`. Both runs have the same keys of one format.
    pub fn differ(&self, other: &Self) -> Differences {
        let mut differences = Differences::default();
        for (keys, [left, right]) in zip([self, other]) {
            differences.note(self.quantization().format, keys, left, right);
        }
        differences
    }

    /// Returns floats for which both schemes have a value and the values differ. If there are at most `most`, all are returned, in order of keys.
    /// Otherwise up to `most` are chosen evenly from the ends of the intervals on which neither result changes.
    pub fn differing(&self, other: &Self, most: usize) -> Vec<Witness> {
        let format = self.quantization().format;
        let parts = || {
            let valued = |results: &[Stored; 2]| results.iter().all(|stored| stored.value().is_some());
            zip([self, other]).filter(move |(_, results)| valued(results) && results[0] != results[1])
        };
        let witness = |key: i64, [left, right]: [Stored; 2]| Witness { bits: format.from_key(key), left, right };
        let all: u128 = parts().map(|(keys, _)| u128::from(span(&keys))).sum();
        if all <= most as u128 {
            return parts().flat_map(|(keys, results)| keys.map(move |key| witness(key, results))).collect();
        }
        let ends = || parts().flat_map(|(keys, results)| [*keys.start(), *keys.end()].map(|key| (key, results)));
        let every = ends().count().div_ceil(most).max(1);
        ends().step_by(every).map(|(key, results)| witness(key, results)).collect()
    }
}

//! Counts against a scheme. Counts of parts add up to the count of the whole.

use hashbrown::HashMap;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;

/// Delta for differences without a useful distance, or with billions of distances. The distance of two int32 is always smaller.
pub const FAR: i64 = i64::MAX;

/// Largest delta, in either direction, that is counted in a table, because billions may occur.
const NEAR: i64 = 64;

/// Counts of results compared with a scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of results compared.
    pub inputs: u64,
    /// Number of results without a value by the scheme.
    pub out_of_domain: u64,
    /// Number of differing results.
    pub differ: u64,
    /// Differences by `got - expected`.
    pub by_delta: Deltas,
    /// Differences by class, if their class is known individually.
    pub classes: BTreeMap<Class, u64>,
}

impl Count {
    /// Adds `n` differing results with `delta`, and their class if known.
    pub fn differs(&mut self, delta: i64, class: Option<Class>, n: u64) {
        if n == 0 {
            return;
        }
        self.differ += n;
        self.by_delta.add(delta, n);
        if let Some(class) = class {
            *self.classes.entry(class).or_default() += n;
        }
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.out_of_domain += other.out_of_domain;
        self.differ += other.differ;
        self.by_delta.merge(&other.by_delta);
        add(&mut self.classes, other.classes);
    }

    /// Returns the number of results, compared or not.
    pub fn seen(&self) -> u64 {
        self.inputs + self.out_of_domain
    }

    /// Returns the number of differences without a known class.
    pub fn unclassified(&self) -> u64 {
        self.differ.saturating_sub(self.classes.values().sum())
    }

    /// Counts differences without a known class under `class`.
    pub fn leave_unexplained(&mut self, class: Class) {
        let rest = self.unclassified();
        if rest > 0 {
            *self.classes.entry(class).or_default() += rest;
        }
    }
}

/// Counts against a scheme, with the differing result of the least key; of results with the same key, the first.
#[derive(Clone)]
pub struct Counted<K, T> {
    /// Counts of results.
    pub count: Count,
    /// Differing result of the least key.
    pub least: Option<(K, T)>,
}

impl<K, T> Default for Counted<K, T> {
    fn default() -> Self {
        Self { count: Count::default(), least: None }
    }
}

impl<K: Ord, T> Counted<K, T> {
    /// Adds a differing result with `delta`, and its class if known.
    pub fn differs(&mut self, result: (K, T), delta: i64, class: Option<Class>) {
        self.count.differs(delta, class, 1);
        self.offer(result);
    }

    /// Keeps a result if its key is the least.
    pub fn offer(&mut self, offered: (K, T)) {
        if self.least.as_ref().is_none_or(|least| offered.0 < least.0) {
            self.least = Some(offered);
        }
    }

    /// Adds the counts of another part, whose results follow.
    pub fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        other.least.into_iter().for_each(|least| self.offer(least));
    }
}

/// Differences by `got - expected`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deltas {
    /// Counts from `-NEAR` to `NEAR`; empty without such differences.
    near: Vec<u64>,
    /// Counts of all other deltas. A fault of a layout gives as many deltas as there are elements.
    others: HashMap<i64, u64>,
    /// True if no delta is counted.
    is_ignored: bool,
}

impl Deltas {
    /// Returns deltas that count nothing. No self-check reads deltas, and for layout mutants their table took a third of the time.
    pub fn ignored() -> Self {
        Self { is_ignored: true, ..Self::default() }
    }

    /// Adds `n` differences of a delta.
    pub fn add(&mut self, delta: i64, n: u64) {
        if n == 0 || self.is_ignored {
            return;
        }
        if (-NEAR..=NEAR).contains(&delta) {
            if self.near.is_empty() {
                self.near = vec![0; 2 * NEAR as usize + 1];
            }
            self.near[(delta + NEAR) as usize] += n;
        } else {
            *self.others.entry(delta).or_default() += n;
        }
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &Self) {
        if self.near.is_empty() {
            self.near.clone_from(&other.near);
        } else {
            self.near.iter_mut().zip(&other.near).for_each(|(all, n)| *all += n);
        }
        other.others.iter().for_each(|(delta, n)| self.add(*delta, *n));
    }

    /// Returns every delta with the number of differences.
    pub fn all(&self) -> BTreeMap<i64, u64> {
        let near = (-NEAR..).zip(&self.near).filter(|(_, n)| **n > 0).map(|(delta, n)| (delta, *n));
        near.chain(self.others.iter().map(|(delta, n)| (*delta, *n))).collect()
    }
}

/// Adds counts by key.
pub fn add<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
    for (key, n) in from {
        *into.entry(key).or_default() += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_deltas_stay_empty() {
        let mut count = Count { by_delta: Deltas::ignored(), ..Count::default() };
        count.differs(70, None, 3);
        count.differs(1, None, 2);
        assert_eq!((count.differ, count.by_delta.all().len()), (5, 0));
    }

    #[test]
    fn parts_add_up() {
        let deltas = [-70, -64, -1, 1, 1, 64, 65, FAR];
        let mut whole = Count::default();
        let mut parts = [Count::default(), Count::default()];
        for (i, delta) in deltas.into_iter().enumerate() {
            whole.differs(delta, (delta > 0).then_some(Class::Saturation), 2);
            parts[i % 2].differs(delta, (delta > 0).then_some(Class::Saturation), 2);
        }
        let [mut sum, other] = parts;
        sum.merge(other);
        assert_eq!(sum, whole);
        assert_eq!((sum.differ, sum.unclassified()), (16, 6));
        assert_eq!(
            sum.by_delta.all(),
            BTreeMap::from([(-70, 2), (-64, 2), (-1, 2), (1, 4), (64, 2), (65, 2), (FAR, 2)])
        );
    }
}

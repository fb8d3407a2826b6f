//! What was seen of one kernel in one lane against one yardstick. Tallies of parts add up to the tally of the whole, and only the
//! whole is explained: a handful of outputs at one multiplier fits many causes, all outputs of a run fit few.

use super::Case;
use super::classify::{Explanation, Observation, explain};
use super::yardstick::Yardstick;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_engine::count::{Count, add};
use tiebreak_impls::fpm::Channel;

/// Mismatches kept for the CSV file, for each tally.
const KEPT: usize = 64;
/// Differing outputs, and half as many agreeing ones, that one explanation must reproduce.
const EVIDENCE: usize = 4096;

/// A mismatch with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Input and output.
    pub observation: Observation,
    /// What was expected.
    pub expected: i64,
    /// Why.
    pub explanation: Explanation,
    /// Scheme that was expected, by label.
    pub scheme: String,
}

impl Seen {
    /// The input.
    pub fn case(&self) -> &Case {
        &self.observation.case
    }
}

/// Which way the shift goes: where every known sequence branches, and so where causes may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    /// `s < 0`.
    Right,
    /// `s = 0`.
    None,
    /// `s > 0`.
    Left,
}

impl Regime {
    /// Of a shift.
    pub fn of(shift: i32) -> Self {
        match shift.signum() {
            -1 => Self::Right,
            0 => Self::None,
            _ => Self::Left,
        }
    }
}

/// Outputs of one zone and regime that differ, with some that do not.
#[derive(Clone, Debug, Default)]
pub struct Bucket {
    /// Differing outputs by channel and format.
    pub counts: BTreeMap<(Channel, u32), u64>,
    /// Differing outputs with what was expected.
    pub differing: Vec<(Observation, i64)>,
    /// Outputs that do not differ.
    pub agreeing: Vec<Observation>,
}

impl Bucket {
    fn merge(&mut self, other: Self) {
        add(&mut self.counts, other.counts);
        self.differing.extend(other.differing);
        self.agreeing.extend(other.agreeing);
        thin(&mut self.differing, EVIDENCE);
        thin(&mut self.agreeing, EVIDENCE / 2);
    }

    fn evidence(&self) -> Vec<Observation> {
        self.differing.iter().map(|(o, _)| *o).chain(self.agreeing.iter().copied()).collect()
    }

    /// The part of one channel.
    fn only(&self, key: (Channel, u32)) -> Self {
        let of_key = |case: &Case| (case.channel, case.q) == key;
        Self {
            counts: self.counts.iter().filter(|(k, _)| **k == key).map(|(k, n)| (*k, *n)).collect(),
            differing: self.differing.iter().filter(|(o, _)| of_key(&o.case)).copied().collect(),
            agreeing: self.agreeing.iter().filter(|o| of_key(&o.case)).copied().collect(),
        }
    }
}

/// Every other one, until there are few enough: spread over everything seen.
fn thin<T>(items: &mut Vec<T>, most: usize) {
    while items.len() > most {
        let mut even = true;
        items.retain(|_| {
            even = !even;
            !even
        });
    }
}

/// Counts, and the differences to be explained.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What was compared. Its classes are known once the whole is settled.
    pub count: Count,
    /// Inputs that followed a declared deviation where it differs from the contract's scheme.
    pub deviations: BTreeMap<Class, u64>,
    /// Differences by zone of the yardstick and regime.
    pub buckets: BTreeMap<(usize, Regime), Bucket>,
    /// Smallest difference.
    pub smallest: Option<(Observation, i64)>,
}

/// A tally with its reasons.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// What was counted.
    pub tally: Tally,
    /// Smallest mismatch.
    pub witness: Option<Seen>,
    /// The smallest mismatches kept.
    pub kept: Vec<Seen>,
}

/// What was seen against one yardstick, with reasons or without.
pub trait Side {
    /// Adds another part.
    fn merge(&mut self, other: Self);
}

impl Side for Tally {
    fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        add(&mut self.deviations, other.deviations);
        for (key, bucket) in other.buckets {
            self.buckets.entry(key).or_default().merge(bucket);
        }
        if let Some(seen) = other.smallest {
            self.offer(seen);
        }
    }
}

impl Tally {
    /// What was counted, with no cause looked for.
    pub fn unsettled(&self) -> Account {
        let unsettled = (self.count.differ > 0).then_some((Class::Unsettled, self.count.differ));
        let count = Count { classes: unsettled.into_iter().collect(), ..self.count.clone() };
        let tally = Self { count, deviations: self.deviations.clone(), ..Self::default() };
        Account { tally, ..Account::default() }
    }

    /// Takes outputs of other inputs as evidence for the differences there are, without counting them.
    pub fn learn_from(&mut self, other: Self) {
        for (key, bucket) in &mut self.buckets {
            if let Some(more) = other.buckets.get(key) {
                bucket.differing.extend(&more.differing);
                bucket.agreeing.extend(&more.agreeing);
            }
        }
    }

    /// Takes `seen` as the smallest difference if it is.
    pub fn offer(&mut self, seen: (Observation, i64)) {
        if self.smallest.as_ref().is_none_or(|s| seen.0.case.size() < s.0.case.size()) {
            self.smallest = Some(seen);
        }
    }

    /// The smallest difference is evidence too, whatever was thinned out: it is the one that is shown with its reason.
    fn keep_smallest(&mut self, yardstick: &Yardstick) {
        let Some(smallest) = self.smallest else { return };
        let case = &smallest.0.case;
        let bucket = self.buckets.get_mut(&(yardstick.zone_of(case), Regime::of(case.channel.shift)));
        if let Some(bucket) = bucket.filter(|b| !b.differing.contains(&smallest)) {
            bucket.differing.insert(0, smallest);
        }
    }

    /// Names the cause of everything seen. `holds` says that the kernel keeps its contract on all of it.
    pub fn settle(mut self, yardstick: &Yardstick, holds: bool) -> Account {
        self.keep_smallest(yardstick);
        let mut account = Account::default();
        for ((zone, _), bucket) in std::mem::take(&mut self.buckets) {
            if bucket.differing.is_empty() {
                continue;
            }
            match explain(yardstick, zone, &bucket.evidence(), holds) {
                Some(explanation) => account.add(yardstick, zone, &bucket, &explanation),
                None => {
                    for key in bucket.counts.keys() {
                        let part = bucket.only(*key);
                        let explanation = explain(yardstick, zone, &part.evidence(), holds);
                        account.add(yardstick, zone, &part, &explanation.unwrap_or_else(Explanation::none));
                    }
                }
            }
        }
        account.witness = self.smallest.map(|smallest| account.seen_as(yardstick, smallest));
        account.kept.sort_by_key(|seen| seen.case().size());
        account.kept.truncate(KEPT);
        self.count.classes = std::mem::take(&mut account.tally.count.classes);
        account.tally = self;
        account
    }
}

impl Side for Account {
    fn merge(&mut self, other: Self) {
        self.tally.merge(other.tally);
        if let Some(seen) = other.witness
            && self.witness.as_ref().is_none_or(|w| seen.case().size() < w.case().size())
        {
            self.witness = Some(seen);
        }
        self.kept.extend(other.kept);
        self.kept.sort_by_key(|seen| seen.case().size());
        self.kept.truncate(KEPT);
    }
}

impl Account {
    fn add(&mut self, yardstick: &Yardstick, zone: usize, bucket: &Bucket, explanation: &Explanation) {
        *self.tally.count.classes.entry(explanation.class).or_default() += bucket.counts.values().sum::<u64>();
        self.kept.extend(bucket.differing.iter().map(|(observation, expected)| Seen {
            observation: *observation,
            expected: *expected,
            explanation: explanation.clone(),
            scheme: yardstick.zones[zone].norm.scheme.label(),
        }));
    }

    /// Gives everything one reason.
    pub fn explain_all(&mut self, explanation: &Explanation) {
        self.tally.count.classes = BTreeMap::from([(explanation.class, self.tally.count.differ)]);
        for seen in self.kept.iter_mut().chain(&mut self.witness) {
            seen.explanation = explanation.clone();
        }
    }

    /// The reason of one difference: that of its bucket.
    fn seen_as(&self, yardstick: &Yardstick, (observation, expected): (Observation, i64)) -> Seen {
        let key = |case: &Case| (yardstick.zone_of(case), Regime::of(case.channel.shift));
        let same = |seen: &&Seen| key(seen.case()) == key(&observation.case);
        let alike =
            |seen: &&Seen| seen.case().channel == observation.case.channel && seen.explanation.covers(&observation);
        let explanation = self
            .kept
            .iter()
            .filter(same)
            .find(alike)
            .or_else(|| self.kept.iter().filter(same).find(|seen| seen.explanation.covers(&observation)))
            .map_or_else(Explanation::none, |seen| seen.explanation.clone());
        let scheme = yardstick.zones[yardstick.zone_of(&observation.case)].norm.scheme.label();
        Seen { observation, expected, explanation, scheme }
    }
}

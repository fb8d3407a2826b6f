//! Groups of candidates with equal outputs, and the input that separates the most groups.
//!
//! Outputs at probes split the candidates into parts. In each part, every candidate is compared with the first, and an input on which the two differ
//! becomes a further probe. Candidates that remain together are equal on every accumulator, or on all accumulators that were compared.

use super::candidates::{Candidate, Key};
use super::difference::{Difference, difference};
use super::observations::Observations;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Candidates that are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Indices of the candidates.
    pub members: Vec<usize>,
    /// Largest magnitude of compared accumulators, if not all were compared.
    pub within: Option<i64>,
}

/// Input that separates groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// Index of the setting.
    pub setting: usize,
    /// Accumulator.
    pub x: i32,
    /// Output of each group.
    pub outputs: Vec<Option<i32>>,
}

/// Upper bound on the settings that the search uses. At further settings, candidates of one group may differ.
pub const MOST_SETTINGS: usize = 16;
/// Number of probes around zero, over all settings.
const AROUND_ZERO: usize = 4096;

/// Limits of magnitude: larger accumulators are proposed only if no smaller one separates any groups.
const FAR: [u32; 3] = [AROUND_ZERO as u32, 1 << 16, 1 << 24];

/// Partition of the candidates, as a part number for each, with the probes that refined it.
struct Parting<'a> {
    observations: &'a Observations,
    candidates: &'a [Candidate],
    /// One candidate for each key.
    distinct: Vec<usize>,
    part: Vec<usize>,
    probes: Vec<(usize, i32)>,
}

/// Returns the groups of the candidates `left`, in their order, and the input that separates the most groups.
pub fn groups(observations: &Observations, candidates: &[Candidate], left: &[usize]) -> (Vec<Group>, Option<Next>) {
    let (distinct, same) = by_key(observations, candidates, left);
    let part = vec![0; distinct.len()];
    let mut parting = Parting { observations, candidates, distinct, part, probes: Vec::new() };
    for (setting, x) in probes(observations.settings.len().min(MOST_SETTINGS)) {
        parting.probe(setting, x);
    }
    let mut groups = Vec::new();
    let mut settled = 0;
    while let Some(first) = (0..parting.part.len()).find(|i| parting.part[*i] == settled) {
        let within = parting.settle(first);
        let members = (0..parting.part.len()).filter(|i| parting.part[*i] == settled);
        let mut members: Vec<usize> = members.flat_map(|i| same[i].iter().copied()).collect();
        members.sort_unstable();
        groups.push((first, Group { members, within }));
        settled += 1;
    }
    groups.sort_by_key(|(_, group)| group.members.first().copied());
    let firsts: Vec<usize> = groups.iter().map(|(first, _)| *first).collect();
    let next = if groups.len() > 1 { parting.next(&firsts) } else { None };
    (groups.into_iter().map(|(_, group)| group).collect(), next)
}

/// Returns the first candidate of each key, and all candidates of each key.
fn by_key(observations: &Observations, candidates: &[Candidate], left: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut at: HashMap<Vec<Key>, usize> = HashMap::new();
    let mut same: Vec<Vec<usize>> = Vec::new();
    for &i in left {
        let functions = candidates[i].functions.iter().zip(&observations.settings);
        let key = functions.map(|(function, setting)| function.key(&setting.output)).collect();
        let at = *at.entry(key).or_insert_with(|| {
            same.push(Vec::new());
            same.len() - 1
        });
        same[at].push(i);
    }
    (same.iter().map(|all| all[0]).collect(), same)
}

/// Returns accumulators around zero and at powers of two, for each setting.
fn probes(settings: usize) -> impl Iterator<Item = (usize, i32)> {
    let near = (AROUND_ZERO / settings) as i32;
    let powers = (0..32).flat_map(|k| [-1, 0, 1].map(|d| (1i64 << k) + d));
    let corners: Vec<i32> = powers.flat_map(|x| [x, -x]).filter_map(|x| i32::try_from(x).ok()).collect();
    (0..settings).flat_map(move |setting| (-near..=near).chain(corners.clone()).map(move |x| (setting, x)))
}

impl Parting<'_> {
    fn at(&self, i: usize, setting: usize, x: i32) -> Option<i32> {
        self.candidates[self.distinct[i]].at(self.observations, setting, x)
    }

    /// Splits the parts by their outputs at a probe. Candidates that agree with the first of their part keep its number.
    fn probe(&mut self, setting: usize, x: i32) {
        let mut next = self.part.iter().copied().max().map_or(0, |last| last + 1);
        let mut numbers: HashMap<(usize, Option<i32>), usize> = HashMap::new();
        let mut seen: Vec<bool> = vec![false; next];
        for i in 0..self.part.len() {
            let part = self.part[i];
            let number = *numbers.entry((part, self.at(i, setting, x))).or_insert_with(|| {
                if std::mem::replace(&mut seen[part], true) {
                    next += 1;
                    next - 1
                } else {
                    part
                }
            });
            self.part[i] = number;
        }
        self.probes.push((setting, x));
    }

    /// Compares a part with its first candidate until no candidate differs; candidates that differ leave the part. Returns the limit of the
    /// comparison, if any.
    fn settle(&mut self, first: usize) -> Option<i64> {
        let mut within: Option<i64> = None;
        for i in first + 1..self.part.len() {
            let mut reach = None;
            for setting in 0..self.observations.settings.len().min(MOST_SETTINGS) {
                if self.part[i] != self.part[first] {
                    break;
                }
                let function = |i: usize| &self.candidates[self.distinct[i]].functions[setting];
                let output = &self.observations.settings[setting].output;
                match difference(function(first), function(i), output) {
                    Difference::At(x) => self.probe(setting, x),
                    Difference::Nowhere => {}
                    Difference::NotWithin(limit) => reach = Some(reach.map_or(limit, |r: i64| r.min(limit))),
                }
            }
            if self.part[i] == self.part[first] {
                within = [within, reach].into_iter().flatten().min();
            }
        }
        within
    }

    /// Returns the probe that separates best: the largest number of groups with equal output is smallest, then the number of different outputs is
    /// largest, then the probe is nearest to zero. Probes at which every group has an output come first, and among them accumulators that a layer can
    /// have.
    fn next(&self, firsts: &[usize]) -> Option<Next> {
        let of = |&(setting, x): &(usize, i32)| {
            let outputs: Vec<Option<i32>> = firsts.iter().map(|i| self.at(*i, setting, x)).collect();
            let mut answers: BTreeMap<Option<i32>, usize> = BTreeMap::new();
            for output in &outputs {
                *answers.entry(*output).or_default() += 1;
            }
            let largest = answers.values().copied().max().unwrap_or(0);
            let far = FAR.iter().filter(|far| x.unsigned_abs() > **far).count();
            let near = (x.unsigned_abs(), x < 0, setting);
            let score = (answers.contains_key(&None), far, largest, Reverse(answers.len()), near);
            (answers.len() > 1).then_some((score, Next { setting, x, outputs }))
        };
        self.probes.iter().filter_map(of).min_by_key(|(score, _)| *score).map(|(_, next)| next)
    }
}

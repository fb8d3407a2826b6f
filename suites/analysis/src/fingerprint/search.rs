//! Groups candidates that give the same outputs, and finds the input that separates the most groups.
//!
//! Outputs at probes divide the candidates; within a part each is compared with the first, and where the two differ that input is a
//! probe more. What is left together is the same on every accumulator, or as far as was looked.

use super::candidates::{Candidate, Key};
use super::difference::{Difference, difference};
use super::observations::Observations;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Candidates that are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Indices of candidates.
    pub members: Vec<usize>,
    /// Where it was looked no further: the largest magnitude of accumulators on which all are the same.
    pub within: Option<i64>,
}

/// An input that separates groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// Index of the setting.
    pub setting: usize,
    /// Accumulator.
    pub x: i32,
    /// What each group gives.
    pub outputs: Vec<Option<i32>>,
}

/// Settings among which the next input is looked for; beyond them candidates of one group may differ.
pub const MOST_SETTINGS: usize = 16;
/// Accumulators around zero that are probed, over all settings.
const AROUND_ZERO: usize = 4096;

/// Accumulators of larger magnitude are proposed only if no smaller one separates any groups.
const FAR: [u32; 3] = [AROUND_ZERO as u32, 1 << 16, 1 << 24];

/// Parts of candidates, by a number each, and the inputs that parted them.
struct Parting<'a> {
    observations: &'a Observations,
    candidates: &'a [Candidate],
    /// A candidate of each key.
    distinct: Vec<usize>,
    part: Vec<usize>,
    probes: Vec<(usize, i32)>,
}

/// The groups of the candidates `left`, in their order, and the input that separates the most of them.
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

/// The first candidate of each key, and all of each.
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

/// Accumulators around zero and at powers of two, of each setting.
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

    /// Parts what an input parts. A part keeps its number for the candidates that agree with its first.
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

    /// Holds a part against its first until nothing differs; what does leaves it. How far it was looked, where not everywhere.
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

    /// The probe at which the largest number of groups with one answer is smallest; of those, the one with most answers, and of those
    /// the nearest to zero. Before all that come probes at which every group has an answer, and accumulators that a layer can have.
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

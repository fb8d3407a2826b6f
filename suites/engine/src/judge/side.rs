//! Comparison with a scheme: counts, and cases kept as evidence, by the groups in which differences are explained.

use crate::count::Count;
use crate::erased::Params;
use crate::operation::case::Case;
use crate::operation::element::Element;
use crate::operation::expected::{Expected, is_all};
use crate::operation::fault::Faulty;
use crate::operation::observed::{Observed, SMALL, elements};
use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use tiebreak_common::class::Class;

/// Limit on agreeing cases kept as evidence for each group; the limit on differing cases is twice as high.
const EVIDENCE: usize = 48;

/// Number of largest cases among the evidence; small cases with few values fit many causes.
const LARGEST: usize = 6;

/// Answer of a lane for a case.
pub(crate) struct Results<'a> {
    pub(crate) case: &'a Case<Params>,
    pub(crate) outs: &'a [i32],
    pub(crate) faulty: &'a Faulty,
    /// Group of each result; empty without groups.
    pub(crate) groups: &'a [usize],
    /// Known class of each differing result.
    pub(crate) due: &'a [Option<Class>],
}

/// Results of a case with their expected results.
struct Compared<'a> {
    element: &'a Element,
    outs: &'a [i32],
    expected: &'a Expected,
    faulty: &'a Faulty,
    groups: &'a [usize],
}

impl Compared<'_> {
    /// Counts results and differences. Returns, for each group, the number of differing results, and how many of them follow a known fault.
    fn count(&self, count: &mut Count, excused: bool) -> BTreeMap<usize, [usize; 2]> {
        let words = self.element.words();
        let mut found: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
        if is_all(self.expected, self.outs) {
            count.inputs += (self.outs.len() / words) as u64;
            return found;
        }
        let is_faulty = |index: usize| self.faulty.get(index).is_some_and(Option::is_some);
        // Neighbours mostly share a group, whose counts are added to the map at its end.
        let (mut group, mut counts) = (0, [0, 0]);
        let mut add = |group: usize, counts: [usize; 2]| {
            if counts[0] > 0 {
                found.entry(group).or_default().iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
            }
        };
        for (index, (expected, out)) in self.expected.chunks(words).zip(self.outs.chunks(words)).enumerate() {
            if is_all(expected, out) {
                count.inputs += 1;
                continue;
            }
            if expected.iter().any(Option::is_none) {
                count.out_of_domain += 1;
                continue;
            }
            count.inputs += 1;
            if excused && is_faulty(index) {
                continue;
            }
            let own = self.groups.get(index).copied().unwrap_or(0);
            if own != group {
                add(std::mem::replace(&mut group, own), std::mem::take(&mut counts));
            }
            counts[0] += 1;
            counts[1] += usize::from(is_faulty(index));
            count.differs(self.delta(expected, out), None, 1);
        }
        add(group, counts);
        found
    }

    /// Returns the distance of a result from its expected words.
    fn delta(&self, expected: &[Option<i32>], out: &[i32]) -> i64 {
        let place = match expected {
            [Some(one)] => self.element.place(slice::from_ref(one)),
            words => self.element.place(&words.iter().copied().flatten().collect::<Vec<_>>()),
        };
        self.element.place(out).saturating_sub(place)
    }
}

/// Evidence of a group of results, whose differences are explained together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Number of differing results.
    pub differ: u64,
    /// Cases with differences. Expected results of other groups are left out.
    pub differing: Vec<Observed<Params>>,
    /// Cases without differences.
    pub agreeing: Vec<Observed<Params>>,
    /// Cases of another run, which distinguish causes but are not counted.
    pub learnt: Vec<Observed<Params>>,
}

impl Group {
    fn merge(&mut self, other: Self) {
        self.differ += other.differ;
        self.differing.extend(other.differing);
        self.agreeing.extend(other.agreeing);
        self.learnt.extend(other.learnt);
        self.thin();
    }

    /// True if a case with a number of elements is kept. A large case is kept only as the first difference, because a copy takes as long as its
    /// comparison.
    fn takes(&self, elements: usize, differs: bool) -> bool {
        let (kept, room) = if differs { (&self.differing, EVIDENCE) } else { (&self.agreeing, EVIDENCE / 2) };
        kept.len() < room * 2 && (elements <= SMALL || (differs && kept.is_empty()))
    }

    /// Keeps the smallest and the largest cases, and every other remaining case, until few enough are left.
    fn thin(&mut self) {
        let size = |seen: &Observed<Params>| elements(&seen.case, &seen.outs);
        for (kept, most) in [(&mut self.differing, EVIDENCE), (&mut self.agreeing, EVIDENCE / 2)] {
            if kept.len() > most * 2 {
                kept.sort_by_cached_key(size);
                let largest = kept.split_off(kept.len() - LARGEST);
                let rest = kept.split_off(most / 2);
                kept.extend(rest.into_iter().step_by(2));
                kept.truncate(most * 2 - LARGEST);
                kept.extend(largest);
            }
        }
    }

    /// Returns the smallest case with a difference; a difference without a known fault is preferred.
    pub fn smallest(&self) -> Option<&Observed<Params>> {
        self.differing.iter().min_by_key(|seen| (seen.differ == 0, elements(&seen.case, &seen.outs)))
    }

    /// Returns the evidence of the current run.
    pub fn own(&self) -> Vec<&Observed<Params>> {
        self.differing.iter().chain(&self.agreeing).collect()
    }

    /// Returns all evidence, including other runs.
    pub fn evidence(&self) -> Vec<&Observed<Params>> {
        self.own().into_iter().chain(&self.learnt).collect()
    }
}

/// Comparison with a scheme.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Counts. Differences are classified if they are due to a known step of the path to the contract.
    pub count: Count,
    /// Evidence by group.
    pub groups: BTreeMap<usize, Group>,
}

impl Side {
    /// Judges a case. If `excused` is set, results that follow a known fault are no differences.
    pub(crate) fn judge(
        &mut self,
        element: &Element,
        given: &Results<'_>,
        expected: &Expected,
        excused: bool,
    ) -> usize {
        let Results { case, outs, faulty: excuses, groups, due } = *given;
        let judged = Compared { element, outs, expected, faulty: excuses, groups };
        let found = judged.count(&mut self.count, excused);
        for group in distinct(groups) {
            let [differ, faulty] = found.get(&group).copied().unwrap_or_default();
            let kept = self.groups.entry(group).or_default();
            kept.differ += differ as u64;
            if kept.takes(elements(case, outs), differ > 0) {
                let expected = of_group(expected, element.words(), groups, group);
                let (case, outs, faults) = (case.clone(), outs.to_vec(), excuses.clone());
                let due = if differ > 0 { due.to_vec() } else { Vec::new() };
                let seen = Observed { case, outs, expected, differ: differ - faulty, faulty: faults, due };
                if differ > 0 { &mut kept.differing } else { &mut kept.agreeing }.push(seen);
                kept.thin();
            }
        }
        found.values().map(|[differ, _]| differ).sum()
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        for (group, seen) in other.groups {
            self.groups.entry(group).or_default().merge(seen);
        }
    }

    /// Adds the evidence of another run, without the counts.
    pub(crate) fn learn_from(&mut self, other: Self) {
        for (group, seen) in other.groups {
            let known = self.groups.entry(group).or_default();
            known.learnt.extend(seen.differing);
            known.learnt.extend(seen.agreeing);
        }
    }

    /// Returns the smallest case with a difference.
    pub fn smallest(&self) -> Option<&Observed<Params>> {
        let smallest = self.groups.values().filter_map(Group::smallest);
        smallest.min_by_key(|seen| (seen.differ == 0, elements(&seen.case, &seen.outs)))
    }

    /// Returns all evidence.
    pub fn evidence(&self) -> Vec<&Observed<Params>> {
        self.groups.values().flat_map(Group::evidence).collect()
    }
}

/// Returns the groups of the results; group 0 if the operation has no groups. Neighbours mostly share a group.
fn distinct(groups: &[usize]) -> BTreeSet<usize> {
    let runs = groups.chunk_by(|a, b| a == b).filter_map(|run| run.first().copied());
    if groups.is_empty() { [0].into() } else { runs.collect() }
}

/// Returns the expected results of a group; `None` for results of other groups.
pub fn of_group(expected: &Expected, words: usize, groups: &[usize], group: usize) -> Expected {
    if groups.is_empty() {
        return expected.clone();
    }
    let is = |word: usize| groups.get(word / words).is_none_or(|of| *of == group);
    expected.iter().enumerate().map(|(word, value)| value.filter(|_| is(word))).collect()
}

//! Known faults of the compiler or library of a lane's code. A result that equals a possible value of a fault is counted for that fault and breaks no
//! contract; any other value breaks the contract. The result itself stays unchanged: the reference and every comparison use it.

use crate::operation::expected::{Expected, differs};
use std::collections::BTreeMap;
use tiebreak_common::class::Class;

/// Known-fault class of each result; empty if no result follows a known fault.
pub type Faulty = Vec<Option<Class>>;

/// Sightings of each known fault, by class; includes faults without a sighting.
pub type Seen = BTreeMap<Class, Sighting>;

/// Sightings of a known fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Number of results that follow the fault.
    pub results: u64,
    /// Description of the fault, with a one-line reproducer.
    pub reason: &'static str,
    /// Predicted number of affected results, if arithmetic gives a bound.
    pub extent: Option<Extent>,
}

/// Predicted number of results that a known fault affects, of all results judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Upper bound on affected results.
    pub most: u64,
    /// True if the fault affects exactly `most` results.
    pub each: bool,
    /// Derivation of the bound.
    pub because: String,
}

impl Sighting {
    /// Creates a sighting without results.
    pub fn none(reason: &'static str) -> Self {
        Self { results: 0, reason, extent: None }
    }

    /// Describes a contradiction between sightings and predicted extent; `None` if they agree.
    pub fn contradiction(&self) -> Option<String> {
        let Extent { most, each, because } = self.extent.as_ref()?;
        let wrong = if *each { self.results != *most } else { self.results > *most };
        let bound = if *each { "exactly" } else { "at most" };
        wrong.then(|| format!("{} results follow it; it changes {bound} {most} ({because})", self.results))
    }
}

/// Adds the sightings of another part of a run.
pub fn merge(seen: &mut Seen, other: Seen) {
    for (class, sighting) in other {
        seen.entry(class).or_insert_with(|| Sighting::none(sighting.reason)).results += sighting.results;
    }
}

/// Known fault at a case.
#[derive(Clone, Debug)]
pub struct KnownFault {
    /// Class of the differences.
    pub class: Class,
    /// Description of the fault, with a one-line reproducer.
    pub reason: &'static str,
    /// True if the fault changes every result that it can change, because no part of the code avoids the fault.
    pub each: bool,
    /// Possible values of each result in addition to the contract's value, their words concatenated.
    pub may: Vec<Vec<i32>>,
}

impl KnownFault {
    /// True if the fault can give a value for result `index`.
    pub fn gives(&self, index: usize, out: &[i32]) -> bool {
        self.may.get(index).is_some_and(|values| values.chunks(out.len()).any(|value| value == out))
    }

    /// Counts the results that the fault can change: results with a possible value other than the contract's.
    pub fn extent(&self, expected: &Expected, words: usize) -> u64 {
        let changes = |(values, expected): &(&Vec<i32>, &[Option<i32>])| {
            values.chunks(words).any(|value| differs(expected, value))
        };
        self.may.iter().zip(expected.chunks(words)).filter(changes).count() as u64
    }
}

/// Returns and counts the known-fault class of each result that breaks the contract; empty without such results. `words` is the size of a result.
pub fn faulty(faults: &[KnownFault], expected: &Expected, words: usize, outs: &[i32], seen: &mut Seen) -> Faulty {
    for fault in faults {
        seen.entry(fault.class).or_insert_with(|| Sighting::none(fault.reason));
    }
    let of = |(i, (out, expected)): (usize, (&[i32], &[Option<i32>]))| {
        let wrong = differs(expected, out);
        faults.iter().find(|fault| wrong && fault.gives(i, out)).map(|fault| fault.class)
    };
    let all: Faulty = outs.chunks(words).zip(expected.chunks(words)).enumerate().map(of).collect();
    for class in all.iter().flatten() {
        seen.get_mut(class).expect("entered above").results += 1;
    }
    if all.iter().all(Option::is_none) { Faulty::new() } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_gives_its_values_and_no_other() {
        let fault =
            KnownFault { class: Class::TieDirection, reason: "", each: false, may: vec![vec![1, 2], vec![], vec![3]] };
        let gives = |i, out: i32| fault.gives(i, &[out]);
        assert_eq!([gives(0, 1), gives(0, 2), gives(0, 3)], [true, true, false]);
        assert_eq!([gives(1, 1), gives(2, 3), gives(2, 4), gives(3, 3)], [false, true, false, false]);
        // The words of one value are compared together.
        assert!(!fault.gives(0, &[2, 1]) && fault.gives(0, &[1, 2]));
        let expected: Expected = [Some(1), Some(5), Some(3)].to_vec();
        assert_eq!(fault.extent(&expected, 1), 1);
    }

    #[test]
    fn more_than_the_arithmetic_says_is_a_contradiction() {
        let of = |results, each| {
            let extent = Some(Extent { most: 3, each, because: "3 of 4".to_owned() });
            Sighting { results, reason: "", extent }.contradiction()
        };
        assert_eq!([of(2, false), of(3, false), of(3, true)], [None, None, None]);
        assert!(of(4, false).is_some_and(|described| described.contains("at most 3")));
        assert!(of(2, true).is_some_and(|described| described.contains("exactly 3")));
    }
}

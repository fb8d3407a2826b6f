//! Known faults of what made a lane's code: a result that is one of those which the fault can give, and no other, is counted as such and breaks no
//! contract. What came out stays as it is: the reference is judged on it, and so is every comparison.

use crate::operation::expected::{Expected, differs};
use std::collections::BTreeMap;
use tiebreak_common::class::Class;

/// Of each result the class of the known fault that it follows; nothing at all where none does.
pub type Faulty = Vec<Option<Class>>;

/// What was seen of each known fault, by its class. A class of which nothing was seen is there, too.
pub type Seen = BTreeMap<Class, Sighting>;

/// What was seen of a known fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Results that follow it.
    pub results: u64,
    /// What is at fault, with a reproducer of one line.
    pub reason: &'static str,
    /// How many results it changes, where arithmetic says so.
    pub extent: Option<Extent>,
}

/// How many results a known fault changes of all that were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// So many at most.
    pub most: u64,
    /// Whether it changes each of them, so that as many must be seen.
    pub each: bool,
    /// The arithmetic.
    pub because: String,
}

impl Sighting {
    /// Of this reason, nothing yet.
    pub fn none(reason: &'static str) -> Self {
        Self { results: 0, reason, extent: None }
    }

    /// Why what was seen is not what the fault does; `None` where it may be.
    pub fn contradiction(&self) -> Option<String> {
        let Extent { most, each, because } = self.extent.as_ref()?;
        let wrong = if *each { self.results != *most } else { self.results > *most };
        let bound = if *each { "exactly" } else { "at most" };
        wrong.then(|| format!("{} results follow it; it changes {bound} {most} ({because})", self.results))
    }
}

/// Adds what another part of a run saw.
pub fn merge(seen: &mut Seen, other: Seen) {
    for (class, sighting) in other {
        seen.entry(class).or_insert_with(|| Sighting::none(sighting.reason)).results += sighting.results;
    }
}

/// A known fault, at one case.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Class of the differences.
    pub class: Class,
    /// What is at fault, with a reproducer of one line.
    pub reason: &'static str,
    /// Whether it changes every result that it can change: nothing of the code goes another way.
    pub each: bool,
    /// Of each result of the case the values that it may be beside what the contract says, their words in a row.
    pub may: Vec<Vec<i32>>,
}

impl Fault {
    /// Whether it may give this for the result at that index.
    pub fn gives(&self, index: usize, out: &[i32]) -> bool {
        self.may.get(index).is_some_and(|values| values.chunks(out.len()).any(|value| value == out))
    }

    /// How many results it can change: those of which a value differs from what the contract says.
    pub fn extent(&self, expected: &Expected, words: usize) -> u64 {
        let changes = |(values, expected): &(&Vec<i32>, &[Option<i32>])| {
            values.chunks(words).any(|value| differs(expected, value))
        };
        self.may.iter().zip(expected.chunks(words)).filter(changes).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_gives_its_values_and_no_other() {
        let fault =
            Fault { class: Class::TieDirection, reason: "", each: false, may: vec![vec![1, 2], vec![], vec![3]] };
        let gives = |i, out: i32| fault.gives(i, &[out]);
        assert_eq!([gives(0, 1), gives(0, 2), gives(0, 3)], [true, true, false]);
        assert_eq!([gives(1, 1), gives(2, 3), gives(2, 4), gives(3, 3)], [false, true, false, false]);
        // Words of one value belong together.
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

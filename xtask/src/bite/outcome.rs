//! Outcomes of changes, counted for an operation.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ended {
    /// `verify` detected the change.
    Verify,
    /// `verify` held, but a unit test failed.
    Tests,
    /// The change ran for too long. `verify` reports this for a kernel, too.
    TimedOut,
    /// The change does not compile.
    NotViable,
    /// Nothing detected the change, and the list has a reason why it is equivalent.
    Equivalent,
    /// Nothing detected the change.
    Missed,
}

/// Result of one run of cargo-mutants for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Caught,
    Missed,
    TimedOut,
    NotViable,
}

/// Lists of changes that cargo-mutants writes, a name a line.
const LISTS: [(&str, Seen); 4] = [
    ("caught.txt", Seen::Caught),
    ("missed.txt", Seen::Missed),
    ("timeout.txt", Seen::TimedOut),
    ("unviable.txt", Seen::NotViable),
];

/// Reads the result of each change, by its name.
pub(crate) fn read(directory: &Path) -> Result<BTreeMap<String, Seen>> {
    let mut all = BTreeMap::new();
    for (name, seen) in LISTS {
        let path = directory.join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        all.extend(text.lines().map(|line| (line.to_owned(), seen)));
    }
    Ok(all)
}

/// Changes of one operation.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Operation.
    pub(crate) op: String,
    /// Number of all changes.
    pub(crate) every: usize,
    ended: Vec<(String, Ended, Option<String>)>,
    /// True if a change that unit tests detect counts as detected.
    by_tests: bool,
}

impl Tally {
    /// Counts changes, each with the reason why it is equivalent, if listed.
    pub(crate) fn new(op: String, every: usize, ended: Vec<(String, Ended, Option<String>)>, by_tests: bool) -> Self {
        let listed = |(name, ended, reason): (String, Ended, Option<String>)| match ended {
            Ended::Missed if reason.is_some() => (name, Ended::Equivalent, reason),
            _ => (name, ended, None),
        };
        Self { op, every, ended: ended.into_iter().map(listed).collect(), by_tests }
    }

    /// Sums up several tallies, if there is one.
    pub(crate) fn of(tallies: &[Self]) -> Option<Self> {
        let by_tests = tallies.first()?.by_tests;
        let every = tallies.iter().map(|tally| tally.every).sum();
        let ended = tallies.iter().flat_map(|tally| tally.ended.iter().cloned()).collect();
        Some(Self { op: "all".to_owned(), every, ended, by_tests })
    }

    /// Returns the number of tried changes.
    pub(crate) fn tried(&self) -> usize {
        self.ended.len()
    }

    /// Returns the number of changes with this outcome.
    pub(crate) fn count(&self, wanted: Ended) -> usize {
        self.ended.iter().filter(|(_, ended, _)| *ended == wanted).count()
    }

    /// Returns the number of undetected changes that are not equivalent.
    pub(crate) fn missed(&self) -> usize {
        self.count(Ended::Missed)
    }

    /// Returns the changes that the measured check does not detect: `verify`, or the tests if these judge.
    pub(crate) fn survivors(&self) -> impl Iterator<Item = (&str, Ended)> {
        let ended = self.ended.iter().map(|(name, ended, _)| (name.as_str(), *ended));
        ended.filter(|(_, ended)| *ended == Ended::Missed || (*ended == Ended::Tests && !self.by_tests))
    }

    /// Returns every tried change.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, Ended)> {
        self.ended.iter().map(|(name, ended, _)| (name.as_str(), *ended))
    }

    /// Returns the equivalent changes, with the reasons.
    pub(crate) fn equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ended.iter().filter_map(|(name, _, reason)| Some((name.as_str(), reason.as_deref()?)))
    }

    /// Returns the share of detected changes among those that compile and are not equivalent.
    pub(crate) fn rate(&self) -> String {
        let by_tests = if self.by_tests { self.count(Ended::Tests) } else { 0 };
        let killed = self.count(Ended::Verify) + self.count(Ended::TimedOut) + by_tests;
        match killed + self.survivors().count() {
            0 => "-".to_owned(),
            viable => format!("{:.1} %", 100.0 * killed as f64 / viable as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_what_compiles_and_changes_something() {
        let change = |i: usize, ended| (format!("f.rs:{i}:1: change"), ended, None);
        let ended = [Ended::Verify, Ended::Verify, Ended::TimedOut, Ended::NotViable, Ended::Tests];
        let ended: Vec<_> = ended.into_iter().enumerate().map(|(i, ended)| change(i, ended)).collect();
        let tally = |by_tests| Tally::new("add".to_owned(), 9, ended.clone(), by_tests);
        let counts = |tally: Tally| (tally.tried(), tally.rate(), tally.survivors().count());
        assert_eq!(counts(tally(false)), (5, "75.0 %".to_owned(), 1));
        assert_eq!(counts(tally(true)), (5, "100.0 %".to_owned(), 0));
        assert_eq!(Tally::new("add".to_owned(), 9, Vec::new(), false).rate(), "-");
        assert_eq!(tally(false).missed(), 0, "a unit test sees the survivor");
        let missed = |reason: Option<&str>| {
            let (name, ended, _) = change(7, Ended::Missed);
            Tally::new("add".to_owned(), 9, vec![(name, ended, reason.map(str::to_owned))], false).missed()
        };
        assert_eq!([missed(None), missed(Some("it changes nothing"))], [1, 0]);
    }
}

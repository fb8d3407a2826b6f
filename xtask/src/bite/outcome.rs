//! How changes ended, counted for an operation.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ended {
    /// `verify` detected it.
    Verify,
    /// `verify` held, and a unit test failed.
    Tests,
    /// It ran for too long, which `verify` says of a kernel, too.
    TimedOut,
    /// It does not compile.
    NotViable,
    /// Nothing saw it, and the list says why it changes nothing.
    Equivalent,
    /// Nothing saw it.
    Missed,
}

/// What one run of cargo-mutants says of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Caught,
    Missed,
    TimedOut,
    NotViable,
}

/// The lists of changes that cargo-mutants writes, a name a line.
const LISTS: [(&str, Seen); 4] = [
    ("caught.txt", Seen::Caught),
    ("missed.txt", Seen::Missed),
    ("timeout.txt", Seen::TimedOut),
    ("unviable.txt", Seen::NotViable),
];

/// What became of each change, by its name.
pub(crate) fn read(directory: &Path) -> Result<BTreeMap<String, Seen>> {
    let mut all = BTreeMap::new();
    for (name, seen) in LISTS {
        let path = directory.join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        all.extend(text.lines().map(|line| (line.to_owned(), seen)));
    }
    Ok(all)
}

/// The changes of one operation.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The operation.
    pub(crate) op: String,
    /// How many changes there are.
    pub(crate) every: usize,
    ended: Vec<(String, Ended, Option<String>)>,
    /// A change that unit tests see is detected.
    by_tests: bool,
}

impl Tally {
    /// Counts changes, each with the reason why the list calls it equivalent, if it does.
    pub(crate) fn new(op: String, every: usize, ended: Vec<(String, Ended, Option<String>)>, by_tests: bool) -> Self {
        let listed = |(name, ended, reason): (String, Ended, Option<String>)| match ended {
            Ended::Missed if reason.is_some() => (name, Ended::Equivalent, reason),
            _ => (name, ended, None),
        };
        Self { op, every, ended: ended.into_iter().map(listed).collect(), by_tests }
    }

    /// All of several, if there is one.
    pub(crate) fn of(tallies: &[Self]) -> Option<Self> {
        let by_tests = tallies.first()?.by_tests;
        let every = tallies.iter().map(|tally| tally.every).sum();
        let ended = tallies.iter().flat_map(|tally| tally.ended.iter().cloned()).collect();
        Some(Self { op: "all".to_owned(), every, ended, by_tests })
    }

    /// Changes that were tried.
    pub(crate) fn tried(&self) -> usize {
        self.ended.len()
    }

    /// Changes that ended so.
    pub(crate) fn count(&self, wanted: Ended) -> usize {
        self.ended.iter().filter(|(_, ended, _)| *ended == wanted).count()
    }

    /// Those that neither `verify` nor a unit test sees, and that change something.
    pub(crate) fn missed(&self) -> usize {
        self.count(Ended::Missed)
    }

    /// Those that are not detected by what is measured: `verify`, or the tests where these judge.
    pub(crate) fn survivors(&self) -> impl Iterator<Item = (&str, Ended)> {
        let ended = self.ended.iter().map(|(name, ended, _)| (name.as_str(), *ended));
        ended.filter(|(_, ended)| *ended == Ended::Missed || (*ended == Ended::Tests && !self.by_tests))
    }

    /// Every change that was tried.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, Ended)> {
        self.ended.iter().map(|(name, ended, _)| (name.as_str(), *ended))
    }

    /// Those that change nothing, with the reasons.
    pub(crate) fn equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ended.iter().filter_map(|(name, _, reason)| Some((name.as_str(), reason.as_deref()?)))
    }

    /// Share detected, of those that compile and change something.
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

//! How changes ended, counted for an operation.

use super::known::Known;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ended {
    /// `verify` convicted it.
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
}

impl Tally {
    /// Counts; what nothing saw is looked for in the list.
    pub(crate) fn new(op: String, every: usize, ended: Vec<(String, Ended)>, known: &Known) -> Self {
        let listed = |(name, ended): (String, Ended)| match known.reason(&name).map(str::to_owned) {
            Some(reason) if ended == Ended::Missed => (name, Ended::Equivalent, Some(reason)),
            _ => (name, ended, None),
        };
        Self { op, every, ended: ended.into_iter().map(listed).collect() }
    }

    /// Changes that were tried.
    pub(crate) fn tried(&self) -> usize {
        self.ended.len()
    }

    /// Changes that ended so.
    pub(crate) fn count(&self, wanted: Ended) -> usize {
        self.ended.iter().filter(|(_, ended, _)| *ended == wanted).count()
    }

    /// Those that `verify` does not see and should.
    pub(crate) fn survivors(&self) -> impl Iterator<Item = (&str, Ended)> {
        let ended = self.ended.iter().map(|(name, ended, _)| (name.as_str(), *ended));
        ended.filter(|(_, ended)| matches!(ended, Ended::Tests | Ended::Missed))
    }

    /// Those that change nothing, with the reasons.
    pub(crate) fn equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ended.iter().filter_map(|(name, _, reason)| Some((name.as_str(), reason.as_deref()?)))
    }

    /// Convicted by `verify`, of those that compile and change something.
    pub(crate) fn rate(&self) -> String {
        let killed = self.count(Ended::Verify) + self.count(Ended::TimedOut);
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
        let ended = [Ended::Verify, Ended::Verify, Ended::TimedOut, Ended::NotViable, Ended::Tests];
        let ended = ended.into_iter().enumerate().map(|(i, ended)| (format!("f.rs:{i}:1: change"), ended)).collect();
        let tally = Tally::new("add".to_owned(), 9, ended, &Known::default());
        assert_eq!((tally.tried(), tally.rate().as_str(), tally.survivors().count()), (5, "75.0 %", 1));
        assert_eq!(Tally::new("add".to_owned(), 9, Vec::new(), &Known::default()).rate(), "-");
    }
}

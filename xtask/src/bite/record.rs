//! What became of changes, kept in a file: a run that is given it tries the others only, so that a long measurement can be made in parts.

use super::outcome::Ended;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A row of the file.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    operation: String,
    outcome: Ended,
    /// As cargo-mutants names it, with its line and column: a change that has moved is tried again.
    change: String,
}

/// Outcomes by operation and change.
#[derive(Debug, Default)]
pub(crate) struct Record {
    path: Option<PathBuf>,
    known: BTreeMap<(String, String), Ended>,
}

impl Record {
    /// Reads a file, which need not be there yet; without one nothing is kept.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self> {
        let mut record = Self { path, known: BTreeMap::new() };
        if let Some(path) = record.path.as_deref().filter(|path| path.exists()) {
            let wrong = || format!("cannot read {}: it is no CSV of operation, outcome and change", path.display());
            let rows = csv::Reader::from_path(path).with_context(wrong)?.into_deserialize::<Row>();
            for row in rows {
                let Row { operation, outcome, change } = row.with_context(wrong)?;
                record.known.insert((operation, change), outcome);
            }
        }
        Ok(record)
    }

    /// What became of a change, if it was tried.
    pub(crate) fn of(&self, op: &str, change: &str) -> Option<Ended> {
        self.known.get(&(op.to_owned(), change.to_owned())).copied()
    }

    /// Forgets the changes of an operation that are none any more.
    pub(crate) fn keep(&mut self, op: &str, every: &[String]) {
        self.known.retain(|(of, change), _| of != op || every.contains(change));
    }

    /// Adds outcomes, and writes the file.
    pub(crate) fn add(&mut self, op: &str, ended: &[(String, Ended)]) -> Result<()> {
        self.known.extend(ended.iter().map(|(change, ended)| ((op.to_owned(), change.clone()), *ended)));
        let Some(path) = &self.path else { return Ok(()) };
        let mut csv = csv::Writer::from_writer(Vec::new());
        for ((operation, change), outcome) in &self.known {
            csv.serialize(Row { operation: operation.clone(), outcome: *outcome, change: change.clone() })?;
        }
        let bytes = csv.into_inner().context("the rows are complete")?;
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_is_read_again_and_what_has_moved_is_not() {
        let directory = std::env::temp_dir().join(format!("tiebreak-bite-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let path = Some(directory.join("outcomes.csv"));
        let [here, moved] = ["f.rs:1:2: replace +, with - in \"f\"", "f.rs:9:2: change"].map(str::to_owned);
        let mut record = Record::open(path.clone()).expect("none yet");
        record.add("add", &[(here.clone(), Ended::Verify), (moved.clone(), Ended::Missed)]).expect("written");
        let mut again = Record::open(path).expect("read");
        assert_eq!([again.of("add", &here), again.of("mul", &here)], [Some(Ended::Verify), None]);
        again.keep("add", std::slice::from_ref(&here));
        assert_eq!(again.of("add", &moved), None);
        let wrong = directory.join("wrong.csv");
        fs::write(&wrong, "a,b\n1,2\n").expect("written");
        let error = format!("{:#}", Record::open(Some(wrong)).expect_err("no outcomes"));
        assert!(error.contains("wrong.csv: it is no CSV of operation, outcome and change"), "{error}");
        fs::remove_dir_all(&directory).expect("removed");
    }
}

//! Cache of proofs in a file of JSON lines. A row with the same question and solvers is not proved again, and an interrupted run continues where it
//! ended.
//!
//! The key of a line is the SHA-256 of everything on which a verdict depends: the kernel and its form, the full text of each query, with code,
//! contract, domain and axioms, and the versions of the solvers. A report with an unknown shift is not kept.

use super::decide::Verdict;
use super::report::Report;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// File of reports; without a file, nothing is kept.
#[derive(Debug, Default)]
pub struct ReportCache {
    known: HashMap<String, (Report, f64)>,
    file: Option<Mutex<File>>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    seconds: f64,
    report: Report,
}

impl ReportCache {
    /// Reads a file if it exists, and appends to it. A torn line is ignored.
    pub fn open(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let known = lines.map(|line| (line.key, (line.report, line.seconds))).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path);
        if let Ok(file) = &mut file
            && !text.is_empty()
            && !text.ends_with('\n')
        {
            writeln!(file)?;
        }
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { known, file: Some(Mutex::new(file)) })
    }

    /// Returns the report of a key, and its duration in seconds.
    pub(super) fn get(&self, key: &str) -> Option<(Report, f64)> {
        self.known.get(key).cloned()
    }

    /// Appends a report, if every shift is decided.
    pub(super) fn put(&self, key: &str, report: &Report, seconds: f64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if report.verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Unknown(_))) {
            return Ok(());
        }
        let line = serde_json::to_string(&Line { key: key.to_owned(), seconds, report: report.clone() })? + "\n";
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).context("the proofs that are done cannot be kept")
    }
}

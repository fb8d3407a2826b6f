//! Partial results of a run that does not end: whole operations, and whole kernels of the operations in progress.

use crate::ledger::section::{LedgerSection, Outcome};
use crate::operation::request::Request;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Finding, Ledger, Row, Verdict};

/// Partial results, filled during a run; clones share them.
#[derive(Clone, Debug, Default)]
pub struct PartialRun(Arc<Mutex<Stages>>);

#[derive(Debug, Default)]
struct Stages {
    lanes: Vec<ledger::Lane>,
    /// Findings about the lanes themselves.
    of_lanes: LedgerSection,
    /// Parts of the operations that have begun, in order.
    of_operations: Vec<(&'static str, LedgerSection)>,
}

impl Stages {
    fn of(&mut self, op: &'static str) -> &mut LedgerSection {
        let at = self.of_operations.iter().position(|(known, _)| *known == op).unwrap_or_else(|| {
            self.of_operations.push((op, LedgerSection::default()));
            self.of_operations.len() - 1
        });
        &mut self.of_operations[at].1
    }
}

/// Facts known before a run begins.
#[derive(Clone, Debug)]
pub struct Heading {
    /// Command that repeats the run.
    pub command: String,
    /// Seed of every stream.
    pub seed: u64,
    /// Effort of the run.
    pub effort: Effort,
    /// Time of the start.
    pub begun: Instant,
}

impl PartialRun {
    fn stages(&self) -> MutexGuard<'_, Stages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the lanes of the run, and the findings about them.
    pub fn lanes(&self, lanes: &[ledger::Lane], section: &LedgerSection) {
        let mut stages = self.stages();
        stages.lanes = lanes.to_vec();
        stages.of_lanes = section.clone();
    }

    /// Adds a finished kernel of an operation in progress.
    pub fn kernel(&self, op: &'static str, section: &LedgerSection) {
        self.stages().of(op).extend(section.clone());
    }

    /// Stores a finished operation; `part` is the whole operation.
    pub fn operation(&self, op: &'static str, section: &LedgerSection) {
        *self.stages().of(op) = section.clone();
    }

    /// Returns a ledger without a verdict, with the reason.
    pub fn unfinished(&self, heading: &Heading, why: &str) -> Outcome {
        let stages = self.stages();
        let mut part = stages.of_lanes.clone();
        stages.of_operations.iter().for_each(|(_, one)| part.extend(one.clone()));
        let mut outcome = part.outcome(heading, stages.lanes.clone());
        outcome.ledger.unfinished = Some(why.to_owned());
        outcome
    }
}

impl LedgerSection {
    /// Builds a ledger without bounds and without a verdict.
    pub fn outcome(self, heading: &Heading, lanes: Vec<ledger::Lane>) -> Outcome {
        let meanings = meanings(&self.rows, &self.findings);
        let ledger = Ledger {
            format: ledger::FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: heading.command.clone(),
            seed: heading.seed,
            effort: heading.effort.name().to_owned(),
            verdict: Verdict::Unfinished,
            seconds: heading.begun.elapsed().as_secs_f64(),
            lanes,
            rows: self.rows,
            catalogue: self.catalogue,
            agreements: self.agreements,
            outside_domain: self.outside_domain,
            planned: self.planned,
            positions: self.positions,
            unchecked: self.unchecked,
            self_checks: self.self_checks,
            findings: self.findings,
            meanings,
            ..Ledger::default()
        };
        Outcome { ledger, mismatches: self.mismatches }
    }
}

/// Returns the meanings of the classes in rows and findings.
fn meanings(rows: &[Row], findings: &[Finding]) -> BTreeMap<String, String> {
    let of_rows = rows.iter().flat_map(|row| row.classes.keys().chain(row.declared.keys()));
    let shown: BTreeSet<&str> = of_rows.chain(findings.iter().map(|finding| &finding.class)).map(|s| &**s).collect();
    let known = Class::ALL.iter().filter(|class| shown.contains(class.name()));
    known.map(|class| (class.name().to_owned(), class.meaning().to_owned())).collect()
}

/// Fails if there are findings and the run ends at the first.
pub(crate) fn go_on(request: &Request, findings: &[Finding]) -> Result<(), FirstFinding> {
    if request.fail_fast && !findings.is_empty() { Err(FirstFinding) } else { Ok(()) }
}

/// Error that ends a run at the first finding: [`Request::fail_fast`]. The partial results are kept.
#[derive(Debug, thiserror::Error)]
#[error("--fail-fast ended it at the first finding")]
pub(crate) struct FirstFinding;

//! What one operation or kernel adds to a ledger.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tiebreak_reports::ledger::{self, Finding, Ledger, Mismatch};

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The ledger.
    pub ledger: Ledger,
    /// Kept mismatches.
    pub mismatches: Vec<Mismatch>,
}

/// What one operation adds to a ledger.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// One for each kernel, lane, scheme and coverage.
    pub rows: Vec<ledger::Row>,
    /// What the catalogues gave.
    pub catalogue: Vec<ledger::CatalogueRun>,
    /// Comparisons to the bit.
    pub agreements: Vec<ledger::Agreement>,
    /// Kernels that take nothing of the run.
    pub outside_domain: Vec<ledger::OutsideDomain>,
    /// What was planned and run.
    pub planned: Vec<ledger::Planned>,
    /// Results that the caller named.
    pub positions: Vec<ledger::Position>,
    /// Lanes without self-checks.
    pub unchecked: Vec<ledger::Unchecked>,
    /// Mutants and controls.
    pub self_checks: Vec<ledger::SelfCheck>,
    /// What breaks the run.
    pub findings: Vec<Finding>,
    /// Mismatches that are kept.
    pub mismatches: Vec<Mismatch>,
}

impl Part {
    /// Adds what another operation or kernel adds.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.catalogue.extend(other.catalogue);
        self.agreements.extend(other.agreements);
        self.outside_domain.extend(other.outside_domain);
        self.planned.extend(other.planned);
        self.positions.extend(other.positions);
        self.unchecked.extend(other.unchecked);
        self.self_checks.extend(other.self_checks);
        self.findings.extend(other.findings);
        self.mismatches.extend(other.mismatches);
    }

    /// Without findings about a kernel in a lane that `other` has, from more inputs, one about.
    pub fn without_findings_of(mut self, other: &Self) -> Self {
        let key = |f: &Finding| (f.kernel.clone(), f.lane.clone());
        let known: BTreeSet<_> = other.findings.iter().map(key).collect();
        self.findings.retain(|f| !known.contains(&key(f)));
        self
    }
}

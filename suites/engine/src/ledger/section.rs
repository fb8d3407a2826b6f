//! Contribution of an operation or kernel to a ledger.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tiebreak_reports::ledger::{self, Finding, Ledger, Mismatch};

/// Outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Ledger of the run.
    pub ledger: Ledger,
    /// Mismatches kept for the CSV file.
    pub mismatches: Vec<Mismatch>,
}

/// Contribution of an operation to a ledger.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LedgerSection {
    /// Rows, by kernel, lane, scheme and coverage.
    pub rows: Vec<ledger::Row>,
    /// Outcomes of the catalogues.
    pub catalogue: Vec<ledger::CatalogueRun>,
    /// Bitwise comparisons.
    pub agreements: Vec<ledger::Agreement>,
    /// Kernels whose domain has no input of the run.
    pub outside_domain: Vec<ledger::OutsideDomain>,
    /// Numbers of inputs planned and run.
    pub planned: Vec<ledger::Planned>,
    /// Results that the caller named by `at`.
    pub positions: Vec<ledger::Position>,
    /// Lanes without self-checks.
    pub unchecked: Vec<ledger::Unchecked>,
    /// Outcomes of mutants and controls.
    pub self_checks: Vec<ledger::SelfCheck>,
    /// Findings, which break the run.
    pub findings: Vec<Finding>,
    /// Mismatches kept for the CSV file.
    pub mismatches: Vec<Mismatch>,
}

impl LedgerSection {
    /// Adds the contribution of another operation or kernel.
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

    /// Removes findings about a kernel in a lane if `other`, which has more inputs, also has a finding about both.
    pub fn without_findings_of(mut self, other: &Self) -> Self {
        let key = |f: &Finding| (f.kernel.clone(), f.lane.clone());
        let known: BTreeSet<_> = other.findings.iter().map(key).collect();
        self.findings.retain(|f| !known.contains(&key(f)));
        self
    }
}

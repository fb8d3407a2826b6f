//! `--format json`: the summary of a ledger, for programs. `docs/src/json.md` documents the keys. The form is as stable as the ledger: within one
//! [`crate::ledger::FORMAT`], fields are added, but never renamed or given another meaning.

use crate::ledger::{
    Agreement, Bound, CatalogueRun, Environment, Figure, Finding, Lane, Ledger, LeftOut, OutsideDomain, Planned,
    Position,
};
use crate::ledger::{Rewrite, Row, Unchecked, Verdict};
use crate::self_checks::SelfChecks;
use crate::view;
use serde::Serialize;
use std::collections::BTreeMap;

/// Summary of a ledger, printed by `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary<'a> {
    /// Version of this form, equal to that of the ledger.
    pub format: u32,
    /// Version of the program.
    pub version: &'a str,
    /// Command that reproduces the run.
    pub command: &'a str,
    /// Seed of every sampled stream.
    pub seed: u64,
    /// `quick`, `standard` or `exhaustive`.
    pub effort: &'a str,
    /// Scheme of the reference rows, if they share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'a str>,
    /// `holds` or `broken`; `unfinished` if the run did not end.
    pub verdict: Verdict,
    /// Reason why the run did not end; `None` if the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<&'a str>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// Date, sources and machine of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<&'a Environment>,
    /// Requested lanes, in order.
    pub lanes: &'a [Lane],
    /// Rows, one for each kernel, lane and scheme of comparison.
    pub rows: &'a [Row],
    /// Runs of the corner catalogue, by operation and lane.
    pub catalogue: &'a [CatalogueRun],
    /// Bit-for-bit comparisons of kernels, also without a contract value.
    pub agreements: &'a [Agreement],
    /// Safe bounds of each kernel.
    pub bounds: &'a [Bound],
    /// Rewrites of the quant dialect, with the counts that the project records.
    #[serde(skip_serializing_if = "<[Rewrite]>::is_empty")]
    pub rewrites: &'a [Rewrite],
    /// Kernels whose domain has no parameter of the run.
    pub outside_domain: &'a [OutsideDomain],
    /// Inputs of the caller that no kernel takes.
    #[serde(skip_serializing_if = "<[LeftOut]>::is_empty")]
    pub left_out: &'a [LeftOut],
    /// Planned and run inputs of each kernel in each lane.
    pub planned: &'a [Planned],
    /// Results that the caller's case selects by `at`.
    pub positions: &'a [Position],
    /// Lanes without self-checks of an operation.
    pub unchecked: &'a [Unchecked],
    /// Counts of self-checks, and the failed self-checks.
    pub self_checks: SelfChecks<'a>,
    /// Findings: everything that breaks a contract.
    pub findings: &'a [Finding],
    /// Meanings of classes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: &'a BTreeMap<String, String>,
    /// Files with the code of kernels that have a finding.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub code: &'a BTreeMap<String, String>,
    /// Numbers of the figures of a report.
    #[serde(skip_serializing_if = "<[Figure]>::is_empty")]
    pub figures: &'a [Figure],
}

/// Summarises a ledger.
pub fn summary(ledger: &Ledger) -> Summary<'_> {
    Summary {
        format: ledger.format,
        version: &ledger.version,
        command: &ledger.command,
        seed: ledger.seed,
        effort: &ledger.effort,
        reference: view::reference(ledger),
        verdict: ledger.verdict,
        unfinished: ledger.unfinished.as_deref(),
        seconds: ledger.seconds,
        environment: ledger.environment.as_ref(),
        lanes: &ledger.lanes,
        rows: &ledger.rows,
        catalogue: &ledger.catalogue,
        agreements: &ledger.agreements,
        bounds: &ledger.bounds,
        rewrites: &ledger.rewrites,
        outside_domain: &ledger.outside_domain,
        left_out: &ledger.left_out,
        planned: &ledger.planned,
        positions: &ledger.positions,
        unchecked: &ledger.unchecked,
        self_checks: SelfChecks::of(ledger),
        findings: &ledger.findings,
        meanings: &ledger.meanings,
        code: &ledger.code,
        figures: &ledger.figures,
    }
}

/// Returns the summary as indented text with a newline at the end, keys in the documented order.
pub fn render(ledger: &Ledger) -> String {
    pretty(&summary(ledger))
}

/// Returns indented JSON of a form of this crate. All its keys are strings, so the conversion cannot fail.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("string keys only");
    text.push('\n');
    text
}

//! Ledger: what ran, what it covered, and what was found. Every report is made from the ledger alone.
//!
//! The JSON form is stable: fields are added, never renamed or given another meaning, within one [`FORMAT`].

mod agreement;
mod bound;
mod case;
mod contradictions;
mod figure;
mod finding;
mod lane;
mod network;
mod planned;
mod rewrite;
mod row;
mod self_check;
mod sums;
mod theorem;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use agreement::{Agreement, AgreementWitness};
pub use bound::{Bound, BoundWitness};
pub use case::{Case, Example, Value, Witness};
pub use figure::{Column, Environment, Figure, FigureKind};
pub use finding::{Finding, Mismatch};
pub use lane::{Content, Lane, LaneStatus, Role};
pub use network::{AtLayer, Family, FirstDifference, LayerCount, Network, NetworkLayer};
pub use planned::{CatalogueRun, DropReason, Dropped, LeftOut, OutsideDomain, Planned, Position, Unchecked, Unit};
pub use rewrite::{Counts, Rewrite};
pub use row::{Against, Coverage, Extent, PathStep, Range, Row, Size};
pub use self_check::{CheckKind, SelfCheck};
pub use theorem::{Proofs, Theorem};

/// Version of the JSON form.
pub const FORMAT: u32 = 4;

/// Oldest version that can be read; later versions only added fields.
pub const OLDEST: u32 = 3;

/// Verification run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ledger {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Command that reproduces the run.
    pub command: String,
    /// Seed of every sampled stream.
    pub seed: u64,
    /// `quick`, `standard` or `exhaustive`.
    pub effort: String,
    /// `holds` or `broken`; `unfinished` if the run did not end.
    pub verdict: Verdict,
    /// Reason why the run did not end; the other fields then cover the run up to that point. `None` if the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// Date, sources and machine of the run; `None` in ledgers of format 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// Requested lanes, in order.
    pub lanes: Vec<Lane>,
    /// Rows, one for each kernel, lane and scheme of comparison.
    pub rows: Vec<Row>,
    /// Runs of the corner catalogue, by operation and lane.
    #[serde(default)]
    pub catalogue: Vec<CatalogueRun>,
    /// Bit-for-bit comparisons of kernels, also without a contract value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<Agreement>,
    /// Safe bounds of each kernel. Each is shown to be right and tight by running the kernel at the bound and one past it.
    #[serde(default)]
    pub bounds: Vec<Bound>,
    /// Recorded proofs of the run's kernels and known bugs, for all inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Proofs>,
    /// Rewrites of the quant dialect, with the counts that the project records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<Rewrite>,
    /// Kernels not run, because their domain has no parameter of the run.
    #[serde(default)]
    pub outside_domain: Vec<OutsideDomain>,
    /// Inputs of the caller that no kernel takes, such as a layer in floats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Planned and run inputs of each kernel in each lane, and dropped inputs with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<Planned>,
    /// Results at the position that the caller's case selects by `at`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
    /// Lanes whose worker offers no mutant and no control of an operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// Self-checks of the harness: each mutant must be detected with its class, and each control must be equal.
    pub self_checks: Vec<SelfCheck>,
    /// Everything that breaks a contract. Empty if the verdict is `holds`, and never empty if it is `broken`.
    pub findings: Vec<Finding>,
    /// Meaning of each class in the differences and findings of the run, in a sentence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: BTreeMap<String, String>,
    /// File with the code of each kernel that has a finding, by operation and kernel, `fpm tvm-relay`. The file is a source file of the project,
    /// relative to its root, or the library of the caller.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub code: BTreeMap<String, String>,
    /// Network that `verify --model` ran, layer after layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Numbers of the figures of a report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every contract held on all inputs that the run covered.
    Holds,
    /// The run has at least one finding.
    Broken,
    /// The run goes on, or did not end.
    #[default]
    Unfinished,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

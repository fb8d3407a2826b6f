//! The ledger: what ran, what it covered, what was found. Every report is made from it and states nothing else.
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

/// The oldest version that is read: since then fields were added only.
pub const OLDEST: u32 = 3;

/// One verification run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ledger {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// The command that runs it again.
    pub command: String,
    /// Seed of every sampled stream.
    pub seed: u64,
    /// `quick`, `standard` or `exhaustive`.
    pub effort: String,
    /// `holds` or `broken`; `unfinished` of a run that has none.
    pub verdict: Verdict,
    /// Why the run did not end, where it did not: then what follows is what it had until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// When and where it ran; nothing in ledgers of format 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// Lanes asked for, in order.
    pub lanes: Vec<Lane>,
    /// One row for each kernel, lane and scheme of comparison.
    pub rows: Vec<Row>,
    /// The corner catalogue, by operation and lane.
    #[serde(default)]
    pub catalogue: Vec<CatalogueRun>,
    /// Kernels compared to the bit, also where their contract gives no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<Agreement>,
    /// Safe bounds of each kernel: each shown to be right, and tight, by running the kernel at the bound and one past it.
    #[serde(default)]
    pub bounds: Vec<Bound>,
    /// Recorded proofs of the run's kernels and known bugs, for all inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Proofs>,
    /// Rewrites of the quant dialect, against what the project records of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<Rewrite>,
    /// Kernels not run because their domain holds none of the run's parameters.
    #[serde(default)]
    pub outside_domain: Vec<OutsideDomain>,
    /// What the caller gave and no kernel takes, such as a layer in floats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Planned and run inputs of each kernel in each lane, and dropped inputs with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<Planned>,
    /// The results at the position that the caller's case names by `at`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
    /// Lanes whose worker offers nothing that the harness checks itself by, for each operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// The harness checking itself: each mutant must die with its class, each control must come out equal.
    pub self_checks: Vec<SelfCheck>,
    /// Everything that breaks a contract; empty where the verdict is `holds`, and never where it is `broken`.
    pub findings: Vec<Finding>,
    /// Meaning of each class of the run's differences and findings, in a sentence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: BTreeMap<String, String>,
    /// The file with the code of each kernel that has a finding, by operation and kernel, `fpm tvm-relay`: a source file of the project, relative to its
    /// root, or the caller's library.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub code: BTreeMap<String, String>,
    /// The network that `verify --model` ran, layer after layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The numbers of the figures of a report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every contract held on everything the run covered.
    Holds,
    /// The run has at least one finding.
    Broken,
    /// None: the run goes on, or did not end.
    #[default]
    Unfinished,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

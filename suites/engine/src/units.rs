//! The units of a run, which a shard runs: each kernel of an operation in all lanes, each group of its self-checks, and the bounds of all operations.
//!
//! What a unit gives depends on the request and on nothing else of the run, and is data. What only the whole run can say (totals of a catalogue, findings that
//! another one makes superfluous, coverage, the verdict) is made from all units by the same code, whoever ran them.

use crate::ledger::catalogued::InLanes;
use crate::ledger::part::Part;
use serde::{Deserialize, Serialize};
use tiebreak_reports::ledger::{Bound, SelfCheck};

/// What a unit gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    /// A kernel in every lane.
    Kernel {
        /// Its cases and sweeps.
        part: Box<Part>,
        /// The catalogue's cases, where the run has them.
        catalogue: Option<InLanes>,
    },
    /// Self-checks, each with its place among those of the operation.
    Checks(Vec<Placed>),
    /// Bounds of all operations.
    Bounds(Vec<Bound>),
}

/// A self-check with its place: mutants before controls, then by lane, then in the operation's order.
pub type Placed = ((bool, usize, usize), SelfCheck);

/// What is known of an operation's part of a run before its units have run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Names of the lanes that its kernels are looked for in.
    pub lanes: Vec<String>,
    /// Whether the caller named no kernel.
    pub is_all: bool,
    /// Whether the catalogue runs.
    pub has_catalogue: bool,
    /// Whether the harness checks itself.
    pub has_checks: bool,
}

/// Takes what a unit gave, by its number, with the seconds that it took beside others.
pub type Ended<'a> = &'a (dyn Fn(usize, Done, f64) -> anyhow::Result<()> + Sync);

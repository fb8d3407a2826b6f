//! Units of a run, which shards run: each kernel of an operation in all lanes, each group of self-checks, and the bounds of all operations.
//!
//! The result of a unit depends on the request only, and is data. Results of the whole run (totals of a catalogue, findings that another finding
//! makes superfluous, coverage, the verdict) are computed from all units by the same code, regardless of where the units ran.

use crate::ledger::catalogued::InLanes;
use crate::ledger::section::LedgerSection;
use serde::{Deserialize, Serialize};
use tiebreak_reports::ledger::{Bound, SelfCheck};

/// Result of a unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    /// Result of a kernel in every lane.
    Kernel {
        /// Results of cases and sweeps.
        part: Box<LedgerSection>,
        /// Outcome of the catalogue's cases, if the run has them.
        catalogue: Option<InLanes>,
    },
    /// Self-checks, with their places in the operation.
    Checks(Vec<Placed>),
    /// Bounds of all operations.
    Bounds(Vec<Bound>),
}

/// Self-check with its place: mutants before controls, then by lane, then in the operation's order.
pub type Placed = ((bool, usize, usize), SelfCheck);

/// Facts about an operation's part of a run, before any unit has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Names of the lanes in which kernels are searched.
    pub lanes: Vec<String>,
    /// True if the caller named no kernel.
    pub is_all: bool,
    /// True if the catalogue runs.
    pub has_catalogue: bool,
    /// True if the self-checks run.
    pub has_checks: bool,
}

/// Callback that takes the result of a unit, by number, with the seconds.
pub type Ended<'a> = &'a (dyn Fn(usize, Done, f64) -> anyhow::Result<()> + Sync);

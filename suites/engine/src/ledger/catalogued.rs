//! Outcome of the catalogue's cases for a kernel.

use serde::{Deserialize, Serialize};
use tiebreak_reports::ledger::Finding;

/// Outcome in each lane of a run; `None` for a lane without the kernel.
pub type InLanes = Vec<Option<Catalogued>>;

/// Outcome in a lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Catalogued {
    /// Indices of the cases in the kernel's domain.
    pub taken: Vec<usize>,
    /// Number of inputs judged, of differences, and of cases without an answer.
    pub counts: [u64; 3],
    /// Findings, which break the run.
    pub findings: Vec<Finding>,
}

//! What the catalogue's cases gave on one kernel.

use serde::{Deserialize, Serialize};
use tiebreak_reports::ledger::Finding;

/// In each lane of a run; nothing where the lane does not offer the kernel.
pub type InLanes = Vec<Option<Catalogued>>;

/// In one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Catalogued {
    /// Which of the cases the kernel takes.
    pub taken: Vec<usize>,
    /// Inputs judged, those that differ, and cases without an answer.
    pub counts: [u64; 3],
    /// What breaks the run.
    pub findings: Vec<Finding>,
}

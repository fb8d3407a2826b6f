//! Registry of the operations of a program.

use crate::lane::Lane;
use crate::operation::request::Request;
use crate::pipeline::Pipeline;
use anyhow::Result;
use tiebreak_reports::ledger::Bound;

/// Operations of a program.
#[derive(Clone, Copy)]
pub struct Registry {
    /// Every operation, in the order of reports.
    pub operations: &'static [Pipeline],
    /// Computes the bounds of the requested operations, and shows them in the lanes.
    pub bounds: fn(&Request, &[Lane]) -> Result<Vec<Bound>>,
}

impl Registry {
    /// Finds the operation of a name.
    pub fn find(&self, op: &str) -> Option<&'static Pipeline> {
        self.operations.iter().find(|known| known.op() == op)
    }

    /// Returns every name that `--kernel` accepts for the named operations, known bugs last.
    pub fn kernel_names(&self, ops: &[String]) -> Vec<&'static str> {
        let asked = self.operations.iter().filter(|op| ops.iter().any(|name| name == op.op()));
        asked.flat_map(|op| op.names()).collect()
    }
}

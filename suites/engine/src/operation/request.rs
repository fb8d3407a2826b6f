//! Request for a verification.

use crate::lane::config::Lanes;
use crate::operation::command::Command;
use crate::operation::selection::{CaseSelection, Wanted};
use serde::{Deserialize, Serialize};
use tiebreak_common::budget::Effort;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_reports::ledger::{LeftOut, Network};

/// Request for a verification.
#[derive(Clone, Debug)]
pub struct Request {
    /// Operations, by name.
    pub ops: Vec<String>,
    /// Kernels by name; all kernels if empty.
    pub kernels: Vec<String>,
    /// Lanes by name; the default lanes if empty.
    pub lanes: Vec<String>,
    /// True if the caller named the operations; otherwise the other options of the request select them.
    pub ops_named: bool,
    /// Lanes that may be absent.
    pub allow_not_run: Vec<String>,
    /// True if named kernels may leave out given parameters.
    pub allow_outside_domain: bool,
    /// True if the run ends at its first finding.
    pub fail_fast: bool,
    /// Effort, which sets the budget.
    pub effort: Effort,
    /// Cases in place of the plan.
    pub selection: CaseSelection,
    /// Parameters that the caller gave and no kernel takes, for example a layer in floats.
    pub left_out: Vec<LeftOut>,
    /// Network whose layers run, before they are judged.
    pub network: Option<Network>,
    /// Scheme of fixed point multiply as reference, with the overflow policy.
    pub reference: String,
    /// Rounding rule of the single-rounding reference for quantizations.
    pub rounding: RoundingRule,
    /// Seed of every stream.
    pub seed: u64,
    /// Command that repeats the run.
    pub command: Command,
    /// All known lanes.
    pub known_lanes: Lanes,
}

/// Names in a request, from which a run derives what it left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// [`Request::ops`].
    pub ops: Vec<String>,
    /// [`Request::ops_named`].
    pub ops_named: bool,
    /// [`Request::kernels`].
    pub kernels: Vec<String>,
    /// [`Request::lanes`].
    pub lanes: Vec<String>,
    /// [`Request::allow_outside_domain`].
    pub allow_outside_domain: bool,
    /// [`Request::left_out`].
    pub left_out: Vec<LeftOut>,
}

impl Request {
    /// Returns the names in the request.
    pub fn scope(&self) -> Scope {
        Scope {
            ops: self.ops.clone(),
            ops_named: self.ops_named,
            kernels: self.kernels.clone(),
            lanes: self.lanes.clone(),
            allow_outside_domain: self.allow_outside_domain,
            left_out: self.left_out.clone(),
        }
    }

    /// Returns the schemes that differences are counted against.
    pub fn wanted(&self) -> Wanted {
        Wanted { multiplication: self.reference.clone(), rounding: self.rounding }
    }
}

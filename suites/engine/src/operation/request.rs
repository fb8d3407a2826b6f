//! What is to be verified.

use crate::lane::config::Lanes;
use crate::operation::asked::{Asked, Wanted};
use crate::operation::command::Command;
use serde::{Deserialize, Serialize};
use tiebreak_common::budget::Effort;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_reports::ledger::{LeftOut, Network};

/// What is to be verified.
#[derive(Clone, Debug)]
pub struct Request {
    /// Operations, by name.
    pub ops: Vec<String>,
    /// Kernels by name; all when empty.
    pub kernels: Vec<String>,
    /// Lanes by name; the default ones when empty.
    pub lanes: Vec<String>,
    /// Whether the caller named the operations; otherwise they are those that the rest of the request goes with.
    pub ops_named: bool,
    /// Lanes that may be absent.
    pub allow_not_run: Vec<String>,
    /// Whether kernels that are named may leave out parameters that are given.
    pub allow_outside_domain: bool,
    /// Whether the run ends at its first finding.
    pub fail_fast: bool,
    /// How much.
    pub effort: Effort,
    /// What operations run in place of their plan.
    pub asked: Asked,
    /// What the caller gave and no kernel takes, such as a layer in floats.
    pub left_out: Vec<LeftOut>,
    /// The network whose layers run, before anything is judged.
    pub network: Option<Network>,
    /// Scheme of fixed point multiply that differences are counted against, with its policy.
    pub reference: String,
    /// Rule by which a quantization is rounded once, for what its differences are counted against.
    pub rounding: RoundingRule,
    /// Seed of every stream.
    pub seed: u64,
    /// How to ask for this run again.
    pub command: Command,
    /// The lanes there are.
    pub known_lanes: Lanes,
}

/// What a request names, by which a run says what it left out.
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
    /// What it names.
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

    /// What differences are counted against.
    pub fn wanted(&self) -> Wanted {
        Wanted { multiplication: self.reference.clone(), rounding: self.rounding }
    }
}

//! Interface of operations for a run, independent of their types, and the registry of operations.

use crate::identify::Identified;
use crate::lane::Lane;
use crate::ledger::partial_run::PartialRun;
use crate::ledger::section::LedgerSection;
use crate::offline::Bench;
use crate::operation::request::Request;
use crate::operation::selection::{Layer, Parameter, ReferenceOption, Stage};
use crate::self_check::Measure;
use crate::self_check::planted::Tried;
use crate::units::{Done, Ended, Extent};
use crate::vectors::{Vectors, Wanted};
use anyhow::Result;
use serde_json::Value;
use tiebreak_common::budget::Effort;
use tiebreak_impls::operation as impls;
use tiebreak_impls::operation::Code;
use tiebreak_impls::protocol::Offer;
use tiebreak_mlir::Function;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::bite::{Kill, Planted};
use tiebreak_reports::ledger::Bound;

/// Operation, independent of the types of cases and kernels.
pub trait Verifies: Sync {
    /// Returns the name of the operation.
    fn op(&self) -> &'static str;
    /// Returns the names of the kernels, known bugs last.
    fn names(&self) -> Vec<&'static str>;
    /// Describes the kernels and mutants for a listing.
    fn listed(&self) -> Vec<Value>;
    /// Describes the schemes.
    fn schemes(&self) -> Vec<Described>;
    /// True if a compiler makes some of the kernels, which run in lanes of compiled modules.
    fn is_compiled(&self) -> bool;
    /// True if a caller may give this kind of parameters in place of the plan.
    fn takes(&self, parameter: Parameter) -> bool;
    /// True if the operation runs a layer of a model.
    fn takes_layer(&self, layer: &Layer) -> bool;
    /// True if a kernel of the operation takes the case of a network's layer.
    fn takes_stage(&self, stage: &Stage) -> bool;
    /// Returns the option by which a caller chooses the reference.
    fn reference_option(&self) -> ReferenceOption;
    /// Returns the functions required in modules for the named kernels (for all kernels without names).
    fn functions(&self, request: &Request, names: &[String]) -> Result<Vec<Function>>;
    /// Returns the generators of the plan that detect each known bug.
    fn kills(&self, measure: &Measure<'_>) -> Result<Vec<Kill>>;
    /// Injects faults at one place only, and returns the detected faults.
    fn planted(&self, measure: &Measure<'_>) -> Result<Vec<Planted>>;
    /// Returns the names of the kernels into which faults are injected.
    fn planted_in(&self, lane: &Lane) -> Vec<&'static str>;
    /// Injects the faults into a kernel.
    fn planted_in_kernel(&self, measure: &Measure<'_>, kernel: &str) -> Result<Vec<Tried>>;
    /// Groups the outcomes of all kernels, as in [`Verifies::planted`].
    fn planted_rows(&self, each: Vec<Vec<Tried>>) -> Vec<Planted>;
    /// Chooses few cases of a scheme that detect known bugs.
    fn vectors(&self, wanted: &Wanted) -> Result<Vectors>;
    /// Creates the judge for lines of a file of cases.
    fn bench(&self) -> Box<dyn Bench>;
    /// Adds the kernel of a caller's offer to the operation. Fails if the offer is wrong; the message describes the error.
    fn adopt(&self, offer: &Offer) -> Result<()>;
    /// Identifies the scheme of a kernel that a lane offers.
    fn identify(&self, offer: &Offer, lane: &Lane, effort: Effort, seed: u64) -> Result<Identified>;
    /// Runs the named kernels; without names all kernels, and self-checks. Partial results are kept.
    fn verify(&self, run: (&Request, &PartialRun), names: &[String], lanes: &[Lane]) -> Result<LedgerSection>;
    /// Returns the facts about the operation's part of a run, before a unit has run.
    fn extent(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Extent;
    /// Returns the names of the units: each kernel, then each group of self-checks.
    fn units(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Vec<String>>;
    /// Runs units by number; `ended` takes each result.
    fn run_units(&self, run: (&Request, &[String], &[Lane]), units: &[usize], ended: Ended<'_>) -> Result<()>;
    /// Combines the results of all units, in order.
    fn whole(&self, extent: &Extent, done: Vec<Done>) -> Result<LedgerSection>;
}

/// Operations of a program.
#[derive(Clone, Copy)]
pub struct Registry {
    /// Every operation, in the order of reports.
    pub operations: &'static [&'static dyn Verifies],
    /// Computes the bounds of the requested operations, and shows them in the lanes.
    pub bounds: fn(&Request, &[Lane]) -> Result<Vec<Bound>>,
}

impl Registry {
    /// Finds the operation of a name.
    pub fn find(&self, op: &str) -> Option<&'static dyn Verifies> {
        self.operations.iter().copied().find(|known| known.op() == op)
    }

    /// Returns every name that `--kernel` accepts for the named operations, known bugs last.
    pub fn kernel_names(&self, ops: &[String]) -> Vec<&'static str> {
        let asked = self.operations.iter().filter(|op| ops.iter().any(|name| name == op.op()));
        asked.flat_map(|op| op.names()).collect()
    }
}

/// Returns the names of an operation's kernels, known bugs last.
pub fn every_name<O: impls::Operation>() -> Vec<&'static str> {
    O::every().chain(O::process_mutants()).map(Code::name).collect()
}

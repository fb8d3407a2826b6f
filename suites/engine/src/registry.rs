//! What a run asks of an operation, whatever its types, and the registry that it is given.

use crate::identify::Identified;
use crate::lane::Lane;
use crate::ledger::kept::Kept;
use crate::ledger::part::Part;
use crate::offline::Bench;
use crate::operation::asked::{Layer, Parameter, ReferenceOption, Stage};
use crate::operation::request::Request;
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

/// An operation, whatever its types.
pub trait Verifies: Sync {
    /// Its name.
    fn op(&self) -> &'static str;
    /// Its kernels, known bugs last.
    fn names(&self) -> Vec<&'static str>;
    /// Its kernels and mutants, as they are listed.
    fn listed(&self) -> Vec<Value>;
    /// Its schemes.
    fn schemes(&self) -> Vec<Described>;
    /// Whether a compiler makes kernels of it, which run in lanes of compiled modules.
    fn is_compiled(&self) -> bool {
        false
    }
    /// What a caller may give in place of its plan, beside a case.
    fn takes(&self, parameter: Parameter) -> bool;
    /// Whether it runs a layer of a model.
    fn takes_layer(&self, layer: &Layer) -> bool;
    /// Whether a kernel of it takes the case of a network's layer.
    fn takes_stage(&self, _stage: &Stage) -> bool {
        false
    }
    /// The option by which a caller chooses what its differences are counted against.
    fn reference_option(&self) -> ReferenceOption {
        ReferenceOption::Reference
    }
    /// What modules must hold for the kernels of these names (all where there is no name).
    fn functions(&self, _request: &Request, _names: &[String]) -> Result<Vec<Function>> {
        Ok(Vec::new())
    }
    /// Which part of the plan shows which known bug.
    fn kills(&self, _measure: &Measure<'_>) -> Result<Vec<Kill>> {
        Ok(Vec::new())
    }
    /// Which faults of one place the plan shows.
    fn planted(&self, _measure: &Measure<'_>) -> Result<Vec<Planted>> {
        Ok(Vec::new())
    }
    /// The kernels in which faults are planted, by name.
    fn planted_in(&self, _lane: &Lane) -> Vec<&'static str> {
        Vec::new()
    }
    /// Those faults of one of them.
    fn planted_in_kernel(&self, _measure: &Measure<'_>, _kernel: &str) -> Result<Vec<Tried>> {
        Ok(Vec::new())
    }
    /// What came of the faults of each kernel, as [`Verifies::planted`] has it.
    fn planted_rows(&self, _each: Vec<Vec<Tried>>) -> Vec<Planted> {
        Vec::new()
    }
    /// Few cases of a scheme that detect known bugs.
    fn vectors(&self, wanted: &Wanted) -> Result<Vectors>;
    /// Lines of a file of cases.
    fn bench(&self) -> Box<dyn Bench>;
    /// From now on it has the kernel of an offer of somebody else's. An error says what is wrong with the offer.
    fn adopt(&self, offer: &Offer) -> Result<()>;
    /// Which of its schemes a kernel follows that a lane offers.
    fn identify(&self, offer: &Offer, lane: &Lane, effort: Effort, seed: u64) -> Result<Identified>;
    /// Runs the kernels of these names; all, with self-checks, if there is no name. What was judged so far is kept.
    fn verify(&self, run: (&Request, &Kept), names: &[String], lanes: &[Lane]) -> Result<Part>;
    /// What is known of its part of a run before a unit has run.
    fn extent(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Extent;
    /// Its units, by name: each kernel, then each group of self-checks.
    fn units(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Vec<String>>;
    /// Runs those of its units, by number; `ended` takes each as it ends.
    fn run_units(&self, run: (&Request, &[String], &[Lane]), units: &[usize], ended: Ended<'_>) -> Result<()>;
    /// What all of its units, in their order, are together.
    fn whole(&self, extent: &Extent, done: Vec<Done>) -> Result<Part>;
}

/// The operations of a program.
#[derive(Clone, Copy)]
pub struct Registry {
    /// Every operation, in the order of reports.
    pub operations: &'static [&'static dyn Verifies],
    /// The bounds of the operations asked for, shown in these lanes.
    pub bounds: fn(&Request, &[Lane]) -> Result<Vec<Bound>>,
}

impl Registry {
    /// The operation of that name.
    pub fn find(&self, op: &str) -> Option<&'static dyn Verifies> {
        self.operations.iter().copied().find(|known| known.op() == op)
    }

    /// Everything that can be named with `--kernel` for these operations, known bugs last.
    pub fn kernel_names(&self, ops: &[String]) -> Vec<&'static str> {
        let asked = self.operations.iter().filter(|op| ops.iter().any(|name| name == op.op()));
        asked.flat_map(|op| op.names()).collect()
    }
}

/// Kernels of an operation, known bugs last.
pub fn every_name<O: impls::Operation>() -> Vec<&'static str> {
    O::every().chain(O::process_mutants()).map(Code::name).collect()
}

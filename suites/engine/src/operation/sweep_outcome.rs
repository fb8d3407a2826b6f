//! Results of a sweep: every input of a kind, judged.

use crate::count::Count;
use crate::lane::runner::FailedBatch;
use crate::operation::fault;
use crate::operation::outside::Outside;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against, Value};

/// Every input of a kind, judged.
#[derive(Clone, Debug)]
pub struct SweepOutcome {
    /// Kind of the inputs: `pair sums`, `patterns`.
    pub what: &'static str,
    /// True if the sweep leaves out no input.
    pub exhaustive: bool,
    /// Comparison with contract and reference.
    pub sides: Vec<SweptSide>,
    /// Results that follow a known fault of the lane's code, which are no differences of a side.
    pub faults: fault::Seen,
    /// Blocks that gave no output at first, each with an input that reproduces the failure, if any.
    pub failures: Vec<FailedBatch<ledger::Case>>,
    /// Inputs that the worker refused as outside the kernel's domain.
    pub outside: Outside,
    /// Number of multipliers and shifts for which every input was run, if the sweep counts them.
    pub parameters: u64,
    /// Seconds of lane and judge.
    pub seconds: f64,
}

/// Side of a sweep.
#[derive(Clone, Debug)]
pub struct SweptSide {
    /// Contract or reference.
    pub against: Against,
    /// Label of the scheme.
    pub scheme: String,
    /// Counts of results and differences.
    pub count: Count,
    /// Class of the witness.
    pub class: Option<Class>,
    /// Description of the cause.
    pub because: String,
    /// Path from the reference to the contract's scheme.
    pub path: Vec<ledger::PathStep>,
    /// Input that differs.
    pub witness: Option<SweptWitness>,
}

/// Input of a sweep that differs.
#[derive(Clone, Debug)]
pub struct SweptWitness {
    /// Input, by argument.
    pub case: ledger::Case,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
}

//! What a sweep saw: every input of one kind, judged.

use crate::count::Count;
use crate::lane::runner::FailedBatch;
use crate::operation::fault;
use crate::operation::outside::Outside;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against, Value};

/// Every input of one kind, judged.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What its inputs are: `pair sums`, `patterns`.
    pub what: &'static str,
    /// Whether none is left out.
    pub exhaustive: bool,
    /// Against contract and reference.
    pub sides: Vec<SweptSide>,
    /// Results that follow a known fault of what made the lane's code, which differ from no side for it.
    pub faults: fault::Seen,
    /// Blocks that gave no output at first, each with the input that makes it happen again, if one does.
    pub failures: Vec<FailedBatch<ledger::Case>>,
    /// Inputs that the worker called outside the domain of its kernel.
    pub outside: Outside,
    /// Multipliers and shifts of which every input was run, where that is what is counted.
    pub parameters: u64,
    /// Seconds of lane and judge.
    pub seconds: f64,
}

/// One side of a sweep.
#[derive(Clone, Debug)]
pub struct SweptSide {
    /// Contract or reference.
    pub against: Against,
    /// The scheme, by label.
    pub scheme: String,
    /// What was counted.
    pub count: Count,
    /// Class of the witness.
    pub class: Option<Class>,
    /// What the differences are due to, in words.
    pub because: String,
    /// How the reference becomes the contract's scheme.
    pub path: Vec<ledger::PathStep>,
    /// An input that differs.
    pub witness: Option<SweptWitness>,
}

/// An input of a sweep that differs.
#[derive(Clone, Debug)]
pub struct SweptWitness {
    /// The input by argument.
    pub case: ledger::Case,
    /// What the kernel gave.
    pub got: Value,
    /// What the scheme gives.
    pub expected: Value,
}

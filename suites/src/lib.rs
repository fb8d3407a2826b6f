//! Comparison of kernels with the oracle: the rooms of the harness under one name, fuzzing, and the program `tiebreak`.
//!
//! Every run follows one path: inputs are generated, run in a lane, judged against the oracle, and written to a ledger.

#![forbid(unsafe_code)]

pub mod cli;
pub mod code;
pub mod fuzzing;
pub mod network;
pub mod program;
pub mod proofs;
pub mod rewritten;

pub use tiebreak_analysis::{atlas, audit, figures, fingerprint, model, rewrites, space};
pub use tiebreak_common::{accumulators, budget, class, floats, fraction, identity, parameters, sources, stream};
pub use tiebreak_engine::{self as engine, lane, operation};
pub use tiebreak_mlir::{self as mlir, quant_type};
pub use tiebreak_ops::*;

/// Runs of all registered operations.
pub mod verify {
    pub use crate::engine::ledger::partial_run::{Heading, PartialRun};
    pub use crate::engine::ledger::section::{LedgerSection, Outcome};
    pub use crate::engine::pipeline::Pipeline;
    pub use crate::engine::progress::progress;
    pub use crate::engine::registry::Registry;
    pub use crate::operation::{Command, Request};
    pub use tiebreak_ops::registry::{OPERATIONS, OPS, REGISTRY, Visitor, kernel_names, run, visit_tensors};
}

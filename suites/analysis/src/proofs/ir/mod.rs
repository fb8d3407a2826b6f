//! Proofs of code: LLVM IR functions as terms over bit vectors, compared with a scheme of the oracle.

mod arithmetic;
mod axioms;
mod compiled;
mod contract;
mod decide;
mod eval;
mod execute;
mod inputs;
mod instruction;
mod intrinsics;
mod kept;
mod kernels;
mod module;
mod query;
mod range;
mod report;
mod search;
mod settle;
mod subject;
mod term;
mod text;
mod value;
mod x86;

pub use axioms::{Axiom, axioms, prove_axioms};
pub use compiled::{Clang, Compiled};
pub use decide::{Argument, Counterexample, Question, Verdict};
pub use inputs::inputs;
pub(super) use intrinsics::fitted;
pub use kept::ReportCache;
pub use kernels::{Modules, Row, kernels};
pub use module::Module;
pub(super) use query::{Products, Query};
pub use report::{Code, Report};
pub use settle::Prover;
pub(super) use term::{Op, Term, Terms};

//! Proofs of code: functions of LLVM IR as terms over bit vectors, against a scheme of the oracle.

mod arithmetic;
mod axioms;
mod contract;
mod decide;
mod eval;
mod execute;
mod instruction;
mod intrinsics;
mod module;
mod query;
mod term;
mod text;
mod value;
mod x86;

pub use axioms::prove_axioms;
pub use decide::{Argument, Counterexample, Question, Verdict};
pub use module::Module;

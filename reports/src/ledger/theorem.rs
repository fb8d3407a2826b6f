//! Proofs about kernels, as they were recorded.

use serde::{Deserialize, Serialize};

/// The recorded proofs of kernels over all accumulators and all multipliers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proofs {
    /// SHA-256 of the sources of the kernels that were proved.
    pub sources: String,
    /// True if the program of the run has other sources: then the proofs say nothing about its kernels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Versions of the SMT solvers.
    pub solvers: Vec<String>,
    /// One for each form of a kernel and contract.
    pub theorems: Vec<Theorem>,
}

/// One form of a kernel at some positions of a batch, against its contract.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Theorem {
    /// The operation.
    pub op: String,
    /// The kernel.
    pub kernel: String,
    /// Whether it is a known bug, which must be refuted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mutant: bool,
    /// `portable` or `native`.
    pub form: String,
    /// Positions in a batch of a vector and one element more.
    pub positions: Vec<usize>,
    /// The scheme, with its policy for results that do not fit.
    pub contract: String,
    /// True if the form equals the scheme at every shift of the contract's domain.
    pub proved: bool,
    /// True if it is wrong at a shift, by an input at which its code was run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuted: bool,
    /// The shifts of each verdict, and an input that refutes it or the reason why there is no verdict.
    pub verdict: Vec<String>,
    /// SHA-256 of what was proved: code, contract and axioms as terms, at every shift.
    pub terms: String,
    /// Seconds, wall clock.
    pub seconds: f64,
}

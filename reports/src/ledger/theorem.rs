//! Recorded proofs about kernels.

use serde::{Deserialize, Serialize};

/// Recorded proofs of kernels over all accumulators and all multipliers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proofs {
    /// SHA-256 of the proved kernels' sources.
    pub sources: String,
    /// True if the program of the run has other sources; the proofs then do not apply to its kernels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Versions of the SMT solvers.
    pub solvers: Vec<String>,
    /// Proofs, one for each form of a kernel and contract.
    pub theorems: Vec<Theorem>,
}

/// Proof of one form of a kernel at some positions of a batch, against its contract.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Theorem {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// True if the kernel is a known bug, which must be refuted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mutant: bool,
    /// `portable` or `native`.
    pub form: String,
    /// Positions in a batch with a vector and one more element.
    pub positions: Vec<usize>,
    /// Scheme, with its policy for results that do not fit.
    pub contract: String,
    /// True if the form equals the scheme at every shift of the contract's domain.
    pub proved: bool,
    /// True if the form is wrong at some shift, shown by an input on which its code was run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuted: bool,
    /// Shifts of each verdict, with a refuting input, or the reason why there is no verdict.
    pub verdict: Vec<String>,
    /// SHA-256 of the proved statement: code, contract and axioms as terms, at every shift.
    pub terms: String,
    /// Wall-clock seconds.
    pub seconds: f64,
}

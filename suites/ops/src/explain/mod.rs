//! Explanation of one input: the steps of schemes and kernels with their exact values, and why the results differ.
//!
//! The steps of a scheme are its own. Kernels run in this process. The steps of a kernel that keeps its contract are those of the contract's
//! scheme; otherwise those of the hypothesis that reproduces the kernel around the input. `fpm.rs` and `requantize.rs` collect the parties,
//! `words.rs` describes the difference of two parties, `word_losses.rs` finds a
//! difference that a wrap or a saturation makes, and `sheet.rs` holds the printed form for all operations. `steps.rs` and `stages.rs` give
//! the steps of one result of a tensor. `quantize` and `dequantize.rs` compare two schemes by the changes that the operation lists, in `cast.rs`.

pub mod case;
pub mod cast;
pub mod dequantize;
pub mod evidence;
pub mod fpm;
pub mod kernel;
pub mod quantize;
pub mod requantize;
pub mod sheet;
pub mod stages;
pub mod steps;
pub mod word_losses;
pub mod words;

use tiebreak_common::Class;
use tiebreak_impls::job_error::JobError;
use tiebreak_mlir::types::TypeError;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::Trace;
use tiebreak_oracle::names::UnknownName;

/// Error of an explanation of a cast.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The oracle does not accept the type.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// The type has no scale.
    #[error("the type has no scale")]
    NoScale,
    /// The scheme of a kernel's contract is unknown.
    #[error(transparent)]
    Scheme(#[from] UnknownName),
    /// The type is outside a kernel's domain.
    #[error("kernel `{kernel}` promises nothing of this type: its domain is {domain}")]
    Domain {
        /// Name of the kernel.
        kernel: &'static str,
        /// Text of the domain.
        domain: String,
    },
    /// A kernel gave no results.
    #[error(transparent)]
    Kernel(#[from] JobError),
}

/// Explanation of one input.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Exact value.
    pub exact: Rational,
    /// Schemes and kernels; the party with which all are compared comes first.
    pub parties: Vec<Party>,
    /// Comparisons of the parties.
    pub comparisons: Vec<Comparison>,
}

/// Scheme or kernel with its result for one input.
#[derive(Clone, Debug)]
pub struct Party {
    /// Name; for a kernel whose body and tail differ, with the place.
    pub name: String,
    /// Result; `None` if the input is out of domain.
    pub value: Option<i64>,
    /// Steps; `None` for a kernel that no hypothesis reproduces.
    pub trace: Option<Trace>,
    /// Kernels only: description of the source of the steps, a scheme or a hypothesis.
    pub steps_of: Option<String>,
}

/// Comparison of two parties, by their indices in [`Explained::parties`].
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Index of the party that is the reference.
    pub left: usize,
    /// Index of the party that is compared.
    pub right: usize,
    /// Class of the difference. If the results for this input agree, or if this input shows only roundings, the class is that of all inputs
    /// examined at this multiplier and shift. `None` if no examined input shows a difference, or if the exact values of the parties are not the
    /// same.
    pub class: Option<Class>,
    /// Hypothesis that gives the class, and the number of outputs that it reproduces.
    pub because: Option<String>,
    /// Sentence with values, class and cause for this input.
    pub sentence: String,
}

impl Party {
    /// Builds the party `name` with the steps and the result of `trace`.
    pub fn of(name: String, trace: Trace) -> Self {
        let value = trace.result.as_ref().and_then(|v| v.to_i64());
        Self { name, value, trace: Some(trace), steps_of: None }
    }

    /// Returns the difference of the result from the exact value. Gemmlowp's legacy requantization has an exact value of its own.
    pub fn error(&self) -> Option<Rational> {
        Some(Rational::from(self.value?) - &self.trace.as_ref()?.exact)
    }
}

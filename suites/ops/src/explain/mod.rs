//! One input through schemes and kernels, every step of each with its exact value, and why their results differ.
//!
//! A scheme's steps are its own. A kernel is run in this process; its steps are those of its contract's scheme where it keeps the
//! contract, otherwise those of the hypothesis that reproduces it around the input. `fpm.rs` and `requantize.rs` put the
//! parties together, `words.rs` says what separates two of them, and `sheet.rs` holds what is
//! printed of any operation. `steps.rs` and `stages.rs` have the steps of one result of a tensor. `quantize` and `dequantize.rs` compare two schemes by the changes that the operation lists, in `cast.rs`.

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
pub mod words;

use tiebreak_common::class::Class;
use tiebreak_impls::job_error::JobError;
use tiebreak_mlir::types::TypeError;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::Trace;
use tiebreak_oracle::names::UnknownName;

/// Why a cast is not explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The type is none that the oracle takes.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// The type has no scale.
    #[error("the type has no scale")]
    NoScale,
    /// A kernel promises a scheme that there is not.
    #[error(transparent)]
    Scheme(#[from] UnknownName),
    /// The type is outside a kernel's domain.
    #[error("kernel `{kernel}` promises nothing of this type: its domain is {domain}")]
    Domain {
        /// The kernel.
        kernel: &'static str,
        /// What it takes.
        domain: String,
    },
    /// A kernel gives no results.
    #[error(transparent)]
    Kernel(#[from] JobError),
}

/// One input explained.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The exact value.
    pub exact: Rational,
    /// Schemes and kernels, those compared with first.
    pub parties: Vec<Party>,
    /// What separates them.
    pub comparisons: Vec<Comparison>,
}

/// A scheme or a kernel at one input.
#[derive(Clone, Debug)]
pub struct Party {
    /// Name, for a kernel of which body and tail differ with the place.
    pub name: String,
    /// The result, or `None` if the input is out of domain.
    pub value: Option<i64>,
    /// Its steps; nothing for a kernel that no hypothesis reproduces.
    pub trace: Option<Trace>,
    /// For a kernel, whose steps these are, in words.
    pub steps_of: Option<String>,
}

/// Two parties, by their place in [`Explained::parties`].
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is compared with.
    pub left: usize,
    /// What is compared.
    pub right: usize,
    /// The class of what separates them at this multiplier and shift, also where they agree on this input. Nothing where no input
    /// examined separates them, or where their exact values are not the same.
    pub class: Option<Class>,
    /// The hypothesis that gives the class, and how much it reproduces.
    pub because: Option<String>,
    /// Values, class and cause at this input.
    pub sentence: String,
}

impl Party {
    /// `name` with the steps of `trace`.
    pub fn of(name: String, trace: Trace) -> Self {
        let value = trace.result.as_ref().and_then(|v| v.to_i64());
        Self { name, value, trace: Some(trace), steps_of: None }
    }

    /// How far the result is from the exact value, which is another for gemmlowp's legacy requantization than for the others.
    pub fn error(&self) -> Option<Rational> {
        Some(Rational::from(self.value?) - &self.trace.as_ref()?.exact)
    }
}

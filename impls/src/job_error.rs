//! Reasons why a job gives no results: it was refused, or its kernel did something forbidden.

use crate::shape::ShapeError;
use serde::{Deserialize, Serialize};

/// Outcome of a job that gives no results, as named in the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The job was refused.
    #[default]
    Refused,
    /// The kernel panicked.
    Panic,
    /// The kernel wrote outside its results.
    StrayWrite,
    /// The kernel changed an operand.
    ChangedOperand,
    /// The kernel left a result unwritten.
    Unwritten,
    /// The kernel changed the float mode.
    FloatMode,
    /// The worker reports that the batch is outside the domain of its kernel: neither a failure nor a pass.
    OutsideDomain,
}

impl FailureKind {
    /// True if nothing ran. An answer without a kind means this.
    pub fn is_refused(&self) -> bool {
        *self == Self::Refused
    }
}

/// Reason why a job gives no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The operation has no kernel of this name.
    #[error("unknown {op} kernel {kernel}")]
    UnknownKernel {
        /// Operation.
        op: &'static str,
        /// Name of the kernel.
        kernel: String,
    },
    /// The kernel's code is not in this process.
    #[error("{kernel} runs in {place}")]
    Elsewhere {
        /// Name of the kernel.
        kernel: String,
        /// Place of its code.
        place: &'static str,
    },
    /// A parameter breaks a rule of the operation.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The job asks for a number of results that is not the shape's.
    #[error("{requested} results asked for where the shape gives {expected}")]
    Results {
        /// Number of results that the job asks for.
        requested: usize,
        /// Number of results of the shape.
        expected: usize,
    },
    /// A slice has the wrong length for the job.
    #[error("expected {expected} elements, got {got}")]
    Length {
        /// Number of elements that the job needs.
        expected: usize,
        /// Number of elements in the slice.
        got: usize,
    },
    /// A value of an operand does not fit the operand's type.
    #[error("{operand}: {value} is no {element}")]
    Element {
        /// Name of the operand.
        operand: String,
        /// Value that does not fit.
        value: i32,
        /// Name of the operand's type.
        element: &'static str,
    },
    /// The batch is longer than a worker accepts.
    #[error("a batch of {len} elements; at most {most} are accepted")]
    TooLong {
        /// Elements in the batch.
        len: usize,
        /// Largest accepted number of elements.
        most: usize,
    },
    /// The misalignment is not smaller than a cache line.
    #[error("misaligned by {misalign} elements; a cache line has {line}")]
    Misaligned {
        /// Misalignment, in elements past the boundary.
        misalign: usize,
        /// Elements in a cache line.
        line: usize,
    },
    /// The payload has the wrong length for the batch.
    #[error("a payload of {bytes} B; the batch needs {needed} B")]
    Payload {
        /// Bytes in the payload.
        bytes: usize,
        /// Bytes that the batch needs.
        needed: usize,
    },
    /// The batch gives a range of inputs, but the operation takes only a payload.
    #[error("this operation takes a payload, not a range")]
    NoRanges,
    /// A compiled module lacks the job's function, or the function returns a tensor that does not fit the job.
    #[error("{0}")]
    Module(String),
    /// The job is outside the kernel's domain.
    #[error("{0}")]
    OutsideDomain(String),
    /// The kernel panicked.
    #[error("{kernel} panicked: {message}")]
    Panicked {
        /// Name of the kernel.
        kernel: &'static str,
        /// Message of the panic.
        message: String,
    },
    /// The kernel wrote outside its results.
    #[error("it wrote outside its results: {changed} {unit} {place}")]
    StrayWrite {
        /// Number of changed units.
        changed: usize,
        /// Unit: words or bytes.
        unit: &'static str,
        /// Place of the change, such as `after its results`.
        place: String,
    },
    /// The kernel changed an element of its input.
    #[error("it changed its input: element {at} of {len}")]
    ChangedInput {
        /// Index of the first changed element.
        at: usize,
        /// Elements in the input.
        len: usize,
    },
    /// The kernel changed an operand of 8 or 16 bits.
    #[error("it changed its input {operand}")]
    ChangedOperand {
        /// Name of the operand.
        operand: String,
    },
    /// The kernel left a result unwritten.
    #[error("it left result {at} of {len} unwritten")]
    Unwritten {
        /// Index of the first unwritten result.
        at: usize,
        /// Number of results of the job.
        len: usize,
    },
    /// The kernel returned with a changed float mode.
    #[error("it left another float mode behind: {register} {after:#x} where it was {before:#x} ({what})")]
    ChangedFloatMode {
        /// Name of the mode register.
        register: &'static str,
        /// Mode before the call.
        before: u64,
        /// Mode after the call.
        after: u64,
        /// Description of the change.
        what: String,
    },
}

impl JobError {
    /// Returns the outcome as the protocol names it.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Panicked { .. } => FailureKind::Panic,
            Self::StrayWrite { .. } => FailureKind::StrayWrite,
            Self::ChangedInput { .. } | Self::ChangedOperand { .. } => FailureKind::ChangedOperand,
            Self::Unwritten { .. } => FailureKind::Unwritten,
            Self::ChangedFloatMode { .. } => FailureKind::FloatMode,
            Self::OutsideDomain(_) => FailureKind::OutsideDomain,
            _ => FailureKind::Refused,
        }
    }
}

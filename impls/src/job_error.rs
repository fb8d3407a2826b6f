//! Why a job gives no results: it was refused, or its kernel did what none may.

use crate::shape::ShapeError;
use serde::{Deserialize, Serialize};

/// What became of a job that gives no results, as the protocol names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// It was refused.
    #[default]
    Refused,
    /// The kernel panicked.
    Panic,
    /// The kernel wrote outside its results.
    StrayWrite,
    /// The kernel changed an operand.
    ChangedOperand,
    /// The kernel left a result as it was.
    Unwritten,
    /// The kernel left another float mode behind.
    FloatMode,
    /// The worker says that the batch is outside the domain of its kernel: neither a failure nor a pass.
    OutsideDomain,
}

impl FailureKind {
    /// Whether nothing ran: what an answer means that does not say.
    pub fn is_refused(&self) -> bool {
        *self == Self::Refused
    }
}

/// Why a job gives no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// No kernel of the operation is called so.
    #[error("unknown {op} kernel {kernel}")]
    UnknownKernel {
        /// The operation.
        op: &'static str,
        /// The name.
        kernel: String,
    },
    /// The kernel's code is not in this process.
    #[error("{kernel} runs in {place}")]
    Elsewhere {
        /// Its name.
        kernel: String,
        /// Where its code is.
        place: &'static str,
    },
    /// A parameter breaks a rule of the operation.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The job is asked for another number of results than its shape has.
    #[error("{asked} results asked for where the shape gives {given}")]
    Results {
        /// Results asked for.
        asked: usize,
        /// Results of the shape.
        given: usize,
    },
    /// A slice has another length than the job needs.
    #[error("expected {expected} elements, got {got}")]
    Length {
        /// Elements that the job needs.
        expected: usize,
        /// Elements of the slice.
        got: usize,
    },
    /// An operand holds a value that its type does not have.
    #[error("{operand}: {value} is no {element}")]
    Element {
        /// The operand.
        operand: String,
        /// The value.
        value: i32,
        /// Its type.
        element: &'static str,
    },
    /// The batch is longer than a worker accepts.
    #[error("a batch of {len} elements; at most {most} are accepted")]
    TooLong {
        /// Elements of the batch.
        len: usize,
        /// As many as are accepted.
        most: usize,
    },
    /// The buffers lie further from a boundary than the boundaries from each other.
    #[error("misaligned by {misalign} elements; a cache line has {line}")]
    Misaligned {
        /// Elements past the boundary.
        misalign: usize,
        /// Elements between two.
        line: usize,
    },
    /// The payload has another length than the batch needs.
    #[error("a payload of {bytes} bytes where the batch needs {needed}")]
    Payload {
        /// Bytes of the payload.
        bytes: usize,
        /// Bytes that the batch needs.
        needed: usize,
    },
    /// A range stands for no inputs of the operation.
    #[error("this operation takes a payload, not a range")]
    NoRanges,
    /// A compiled module does not have the job's function, or the function returns another tensor than the job's.
    #[error("{0}")]
    Module(String),
    /// The kernel is not meant for the job.
    #[error("{0}")]
    OutsideDomain(String),
    /// The kernel panicked.
    #[error("{kernel} panicked: {message}")]
    Panicked {
        /// Its name.
        kernel: &'static str,
        /// What it said.
        message: String,
    },
    /// The kernel wrote outside its results.
    #[error("it wrote outside its results: {changed} {unit} {place}")]
    StrayWrite {
        /// What changed.
        changed: usize,
        /// Of what: words, or bytes.
        unit: &'static str,
        /// Where, such as `after its results`.
        place: String,
    },
    /// The kernel changed an element of its input.
    #[error("it changed its input: element {at} of {len}")]
    ChangedInput {
        /// The first that changed.
        at: usize,
        /// Elements of the input.
        len: usize,
    },
    /// The kernel changed an operand of 8 or 16 bits.
    #[error("it changed its input {operand}")]
    ChangedOperand {
        /// The operand.
        operand: String,
    },
    /// The kernel left a result as it was.
    #[error("it left result {at} of {len} unwritten")]
    Unwritten {
        /// The first such result.
        at: usize,
        /// Results of the job.
        len: usize,
    },
    /// The kernel changed how the processor computes floats, and returned.
    #[error("it left another float mode behind: {register} {after:#x} where it was {before:#x} ({what})")]
    ChangedFloatMode {
        /// The register.
        register: &'static str,
        /// The mode before the call.
        before: u64,
        /// The mode after it.
        after: u64,
        /// What changed, in words.
        what: String,
    },
}

impl JobError {
    /// What became of the job.
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

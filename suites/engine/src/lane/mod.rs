//! Lanes, in which kernels run: this process, or a worker process reached over [`tiebreak_worker::protocol`].

mod built;
pub mod config;
mod group;
mod in_process;
mod modules;
mod not_run;
#[cfg_attr(not(target_os = "linux"), path = "orphans_elsewhere.rs")]
mod orphans;
mod patience;
mod pipes;
mod pool;
mod process;
pub mod runner;

use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tiebreak_common::class::Class;
use tiebreak_impls::job_error::{FailureKind, JobError};
use tiebreak_worker::execute::lengths;
use tiebreak_worker::protocol::{Batch, Job, Source};

pub use group::end_all;
pub use in_process::{FORM, serve};
pub use modules::provide;
pub use not_run::{NotRun, OpenError};
pub use pool::{Lane, Lease};

/// Failure of a batch without an output: always a finding about the kernel or the lane, never the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The worker process ended.
    #[error("the worker died ({0})")]
    Crashed(String),
    /// The worker was silent for too long, by the rule in `patience.rs`, and was killed.
    #[error("no answer within {0:?}; the worker was killed")]
    Hung(Duration),
    /// The output has a wrong length.
    #[error("{got} results for {expected} inputs")]
    WrongLength {
        /// Number of results requested.
        expected: usize,
        /// Number of results given.
        got: usize,
    },
    /// The worker refused the job, or reported a violation by the kernel; with the reason.
    #[error("{1}")]
    Failed(FailureKind, String),
    /// The lane cannot run the batch, or the answer violates the protocol; with the reason.
    #[error("{0}")]
    Unusable(String),
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        Self::Failed(error.kind(), error.to_string())
    }
}

impl Failure {
    /// Class of the finding.
    pub fn class(&self) -> Class {
        match self {
            Self::Crashed(_) => Class::Crash,
            Self::Hung(_) => Class::Hang,
            Self::WrongLength { .. } => Class::WrongLength,
            Self::Unusable(_) => Class::Refused,
            Self::Failed(kind, _) => match kind {
                FailureKind::Refused => Class::Refused,
                FailureKind::Panic => Class::Panic,
                FailureKind::StrayWrite => Class::StrayWrite,
                FailureKind::ChangedOperand => Class::ChangedOperand,
                FailureKind::Unwritten => Class::Unwritten,
                FailureKind::FloatMode => Class::FloatMode,
                FailureKind::OutsideDomain => Class::OutsideDomain,
            },
        }
    }

    /// Returns the worker's reason for a batch outside the domain of its kernel; `None` for other failures.
    pub fn outside(&self) -> Option<&str> {
        match self {
            Self::Failed(FailureKind::OutsideDomain, reason) => Some(reason),
            _ => None,
        }
    }

    /// True if the worker refused a batch as outside the kernel's domain.
    pub fn is_outside(&self) -> bool {
        self.outside().is_some()
    }

    /// True if the worker answered by the protocol and can take the next batch.
    pub fn goes_on(&self) -> bool {
        matches!(self, Self::Failed(FailureKind::OutsideDomain | FailureKind::Refused, _))
    }

    /// Creates the failure of a lane that cannot run the batch.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Unusable(reason.into())
    }
}

/// Batch with inputs, as a lane takes it.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Operation, kernel and parameters.
    pub job: &'a Job,
    /// Inputs of the batch.
    pub input: Input<'a>,
    /// Elements between a 64-byte boundary and the first element.
    pub misalign: usize,
    /// Number of multiply-accumulates, not counting one operation for each element read and written; decides the time limit of a worker.
    pub products: u64,
}

/// Inputs of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// `len` elements, as the operation lays them out.
    Values {
        /// Number of elements of the batch.
        len: usize,
        /// All operands; shared, so that the lane of this process need not copy them.
        values: &'a Arc<Vec<i32>>,
    },
    /// Consecutive accumulators.
    Range {
        /// First accumulator.
        start: i32,
        /// Number of elements of the batch; counts words if a result has several words.
        len: usize,
    },
}

impl Order<'_> {
    fn len(&self) -> usize {
        match self.input {
            Input::Values { len, .. } | Input::Range { len, .. } => len,
        }
    }

    /// Returns the source of a worker's inputs.
    fn source(&self) -> Source {
        match self.input {
            Input::Values { values, .. } => Source::Payload { bytes: size_of_val(values.as_slice()) },
            Input::Range { start, .. } => Source::Range { start },
        }
    }

    /// Builds the header for a worker.
    fn header(&self) -> Batch {
        Batch { job: self.job.clone(), len: self.len(), source: self.source(), misalign: self.misalign }
    }

    /// Returns the number of int32 results that the batch must give.
    fn results(&self) -> usize {
        match lengths(self.job, self.len()) {
            Ok(lengths) => lengths.output,
            // Kernel of the worker: the harness has counted its results by the domain that the kernel claims.
            Err(JobError::UnknownKernel { .. }) => self.len(),
            // The lane refuses batches without sizes, with a message.
            Err(_) => 0,
        }
    }
}

/// Session that runs batches in order. Several batches may be in flight: `submit`, `submit`, `collect`, ... Answers from before a failure come first.
pub trait Session: Send {
    /// Hands over a batch.
    fn submit(&mut self, order: &Order<'_>) -> Result<(), Failure>;
    /// Returns the results of the oldest batch not yet collected.
    fn collect(&mut self, out: &mut Vec<i32>) -> Result<(), Failure>;
}

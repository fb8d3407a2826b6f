//! Lanes: where kernels run. In this process, or in a worker process reached over [`tiebreak_impls::protocol`].

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
use tiebreak_impls::execute::lengths;
use tiebreak_impls::job_error::{FailureKind, JobError};
use tiebreak_impls::protocol::{Batch, Job, Source};

pub use group::end_all;
pub use in_process::{FORM, serve};
pub use modules::provide;
pub use not_run::{NotRun, OpenError};
pub use pool::{Lane, Lease};

/// Why a batch gave no output. Every one of these is a finding about the kernel or its lane, never the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The worker process ended.
    #[error("the worker died ({0})")]
    Crashed(String),
    /// Silent for longer than its patience, as `patience.rs` has the rule; the worker was killed.
    #[error("no answer within {0:?}; the worker was killed")]
    Hung(Duration),
    /// The output has another length than promised.
    #[error("{got} results for {expected} inputs")]
    WrongLength {
        /// Results asked for.
        expected: usize,
        /// Results given.
        got: usize,
    },
    /// The worker answered that it refuses the job, or that its kernel did what none may; the reason in words.
    #[error("{1}")]
    Failed(FailureKind, String),
    /// The lane cannot be asked, or its answer is none of the protocol; the reason in words.
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

    /// Why the worker says that a batch is outside the domain of its kernel, if it says so.
    pub fn outside(&self) -> Option<&str> {
        match self {
            Self::Failed(FailureKind::OutsideDomain, reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the worker says that a batch is outside the domain of its kernel.
    pub fn is_outside(&self) -> bool {
        self.outside().is_some()
    }

    /// Whether the worker answered in the protocol and can be asked the next batch.
    pub fn goes_on(&self) -> bool {
        matches!(self, Self::Failed(FailureKind::OutsideDomain | FailureKind::Refused, _))
    }

    /// The lane cannot be asked, or its answer was refused, for this reason.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Unusable(reason.into())
    }
}

/// A batch with its inputs, as a lane takes it.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Operation, kernel and parameters.
    pub job: &'a Job,
    /// The inputs.
    pub input: Input<'a>,
    /// Elements between a 64-byte boundary and the first element.
    pub misalign: usize,
    /// Multiply-accumulates, beside one operation for each element read and written: what the patience with a worker is measured by.
    pub products: u64,
}

/// Inputs of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// `len` elements, as the operation lays them out.
    Values {
        /// Number of elements of the batch.
        len: usize,
        /// Everything the operation reads; shared, so that a lane of this process need not copy it.
        values: &'a Arc<Vec<i32>>,
    },
    /// Consecutive accumulators.
    Range {
        /// First accumulator.
        start: i32,
        /// Number of elements of the batch, as above: words of results, where a result is of several.
        len: usize,
    },
}

impl Order<'_> {
    fn len(&self) -> usize {
        match self.input {
            Input::Values { len, .. } | Input::Range { len, .. } => len,
        }
    }

    /// Where a worker gets the inputs from.
    fn source(&self) -> Source {
        match self.input {
            Input::Values { values, .. } => Source::Payload { bytes: size_of_val(values.as_slice()) },
            Input::Range { start, .. } => Source::Range { start },
        }
    }

    /// The header that a worker reads.
    fn header(&self) -> Batch {
        Batch { job: self.job.clone(), len: self.len(), source: self.source(), misalign: self.misalign }
    }

    /// Number of int32 results this batch must give.
    fn results(&self) -> usize {
        match lengths(self.job, self.len()) {
            Ok(lengths) => lengths.output,
            // A kernel of the worker's own: as many as the harness has counted by the domain that the kernel claims.
            Err(JobError::UnknownKernel { .. }) => self.len(),
            // The lane refuses what has no sizes, in words.
            Err(_) => 0,
        }
    }
}

/// A place that runs batches one after another. Several may be in flight: `submit`, `submit`, `collect`, and so on. Those that were answered before a failure
/// are collected first.
pub trait Session: Send {
    /// Hand over a batch.
    fn submit(&mut self, order: &Order<'_>) -> Result<(), Failure>;
    /// Take the results of the oldest batch not yet collected.
    fn collect(&mut self, out: &mut Vec<i32>) -> Result<(), Failure>;
}

//! Presentation of each operation: one small batch, and the steps of one result. `explain`, the protocol page, `check-worker` and the text pipe
//! read it from here, so that a new operation is in all of them.

pub mod fitting;
pub mod sample;

use crate::explain::steps::{self, Steps};
use crate::fuzzing::Fuzzed;
use sample::Sample;
use serde_json::Value;
use tiebreak_engine::operation::{Operation, job};
use tiebreak_impls::operation::Operation as _;

pub use fitting::Fitting;
pub(crate) use sample::Drawn;

/// Presentation of an operation.
pub trait Presented: Fuzzed {
    /// The operation in one line, for the help of `explain`.
    const ABOUT: &'static str;
    /// Kernel in the example of the protocol page.
    const SHOWN: &'static str;
    /// True if the sizes of a batch depend on the kernel, so that the sample fits only the shown kernel.
    const SIZED_BY_KERNEL: bool = false;
    /// Steps of one result.
    const STEPS: Steps<Self> = steps::none::<Self>;

    /// Builds one small batch. Its results are exact, so that every scheme gives the same results.
    fn sample(fitting: Fitting) -> Drawn<Self::Params>;
}

/// Builds the sample batch of an operation for a kernel; `None` for an unknown operation.
pub fn sample(op: &str, kernel: &str, fitting: Fitting) -> Option<Sample> {
    for_operation!(op, O => {
        let Drawn { params, len, input } = O::sample(fitting);
        Some(Sample { job: job::<O>(kernel, &params), len, input })
    }, _ => None)
}

/// Returns the kernel in the example of the protocol page for an operation.
pub fn shown(op: &str) -> Option<&'static str> {
    for_operation!(op, O => Some(O::SHOWN), _ => None)
}

/// True if the sample of an operation fits only the shown kernel.
pub fn is_sized_by_kernel(op: &str) -> bool {
    for_operation!(op, O => O::SIZED_BY_KERNEL, _ => false)
}

/// Returns the domain of a known kernel, in the form of an offer.
pub fn domain(op: &str, kernel: &str) -> Option<Value> {
    for_operation!(op, O => {
        let known = <O as Operation>::Impl::find(kernel).ok()?;
        let domain = &known.contract.domain;
        serde_json::to_value(domain).ok()
    }, _ => None)
}

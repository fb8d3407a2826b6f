//! Presentation of each operation: one small batch, and the steps of one result. `explain`, the protocol page, `check-worker` and the text pipe
//! read it from here, so that a new operation is in all of them.

pub mod fitting;
pub mod sample;

use crate::explain::steps::{self, Steps};
use crate::fuzzing::Fuzzed;
use crate::registry::{Visitor, visit_tensors};
use sample::Sample;
use serde_json::Value;
use tiebreak_engine::operation::job;
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

/// Query to the operation of one name, with its answer.
struct One<'a, T> {
    op: &'a str,
    found: Option<T>,
}

/// Evaluates `ask` for the operation of one name.
macro_rules! of_one {
    ($op:expr, $answer:ty, [$($captured:ident: $captured_type:ty),*] $ask:expr) => {{
        struct Asks<'a> {
            one: One<'a, $answer>,
            $($captured: $captured_type),*
        }
        impl Visitor for Asks<'_> {
            fn visit<O: Presented>(&mut self) {
                let Self { one, $($captured),* } = self;
                if O::OP == one.op {
                    one.found = $ask;
                }
            }
        }
        let mut asks = Asks { one: One { op: $op, found: None }, $($captured),* };
        visit_tensors(&mut asks);
        asks.one.found
    }};
}

/// Builds the sample batch of an operation for a kernel; `None` for an unknown operation.
pub fn sample(op: &str, kernel: &str, fitting: Fitting) -> Option<Sample> {
    let kernel = kernel.to_owned();
    of_one!(op, Sample, [kernel: String, fitting: Fitting] {
        let Drawn { params, len, input } = O::sample(*fitting);
        Some(Sample { job: job::<O>(kernel, &params), len, input })
    })
}

/// Returns the kernel in the example of the protocol page for an operation.
pub fn shown(op: &str) -> Option<&'static str> {
    of_one!(op, &'static str, [] Some(O::SHOWN))
}

/// True if the sample of an operation fits only the shown kernel.
pub fn is_sized_by_kernel(op: &str) -> bool {
    of_one!(op, bool, [] Some(O::SIZED_BY_KERNEL)) == Some(true)
}

/// Returns the domain of a known kernel, in the form of an offer.
pub fn domain(op: &str, kernel: &str) -> Option<Value> {
    let kernel = kernel.to_owned();
    of_one!(op, Value, [kernel: String] {
        let known = O::Impl::find(kernel).ok();
        known.and_then(|known| serde_json::to_value(&known.contract.domain).ok())
    })
}

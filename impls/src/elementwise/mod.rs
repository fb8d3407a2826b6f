//! Quantized operations on two tensors, element by element: each tensor has a scale and a zero point. [`add`], [`sub`] and [`mul`] have one
//! file for each system.

pub mod add;
pub(crate) mod loops;
pub mod mul;
mod params;
pub mod sub;
#[cfg(test)]
pub(crate) mod tests;

use crate::element::Element;
use crate::kernel;
use crate::shape::{ShapeError, Sizes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

pub use params::{Operand, Params};

/// The scales that a kernel takes.
pub trait Scales: Copy + Debug + Eq + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// Largest scale that any kernel takes; the smallest one is 1 over it.
    const LARGEST: f32;

    /// Checks parameters that a kernel of this type with such scales has to take. An error names the argument that it does not take.
    fn check(self, element: Element, params: &Params) -> Result<(), ShapeError>;
}

/// The parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize", deserialize = "S: DeserializeOwned"))]
pub struct Domain<S> {
    /// Type of both operands and of the result.
    pub element: Element,
    /// Scales.
    pub scales: S,
    /// Whether the kernel clamps to any bounds; otherwise the bounds are those of the type.
    pub clamp: bool,
}

impl<S: Scales> Domain<S> {
    /// Sizes of both operands and of the results. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let sizes = params.sizes(self.element, self.clamp, &(1.0 / S::LARGEST..=S::LARGEST))?;
        self.scales.check(self.element, params)?;
        Ok(sizes)
    }
}

/// `run(params, lhs, rhs, out)`: bytes of the element type, results as int32. `params` and lengths have been checked.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// A kernel with such scales.
pub type Kernel<S> = kernel::Kernel<Run, Domain<S>>;

/// The items of [`crate::operation::TensorOperation`] that are the same in these operations, beside those that all operations share.
macro_rules! items {
    () => {
        fn call(call: $crate::operation::Call<'_, Self>) -> Result<(), $crate::job_error::JobError> {
            let $crate::operation::Call { code, domain, params, tensors: [lhs, rhs, _], output, misalign, .. } = call;
            let operands = [("lhs", domain.element, lhs), ("rhs", domain.element, rhs)];
            $crate::execute::packed(operands, misalign, |lhs, rhs| code(params, lhs, rhs, output))
        }
    };
}
use items;

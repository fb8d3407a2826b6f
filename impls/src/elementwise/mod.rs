//! Quantized elementwise operations on two tensors with scale and zero point. [`add`], [`sub`] and [`mul`] have one file for each system.

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

/// Scales that a kernel accepts.
pub trait Scales: Copy + Debug + Eq + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// Largest scale that any kernel accepts. The smallest accepted scale is its reciprocal.
    const LARGEST: f32;

    /// Checks the scales of parameters for a kernel of this element type. An error names the argument outside the domain.
    fn check(self, element: Element, params: &Params) -> Result<(), ShapeError>;
}

/// The parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize", deserialize = "S: DeserializeOwned"))]
pub struct Domain<S> {
    /// Type of both operands and of the result.
    pub element: Element,
    /// Accepted scales.
    pub scales: S,
    /// True if the kernel clamps to arbitrary bounds; otherwise the type's bounds apply.
    pub clamp: bool,
}

impl<S: Scales> Domain<S> {
    /// Sizes of both operands and of the results, in elements. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let sizes = params.sizes(self.element, self.clamp, &(1.0 / S::LARGEST..=S::LARGEST))?;
        self.scales.check(self.element, params)?;
        Ok(sizes)
    }
}

/// `run(params, lhs, rhs, out)`: operands are bytes of the element type, results are int32. Callers have checked `params` and the lengths.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// Kernel of an elementwise operation whose accepted scales are an `S`.
pub type Kernel<S> = kernel::Kernel<Run, Domain<S>>;

/// Items of [`crate::operation::TensorOperation`] that addition, subtraction and multiplication share, in addition to those of all operations.
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

//! Quantized operations on two tensors, element by element: each tensor has a scale and a zero point. [`add`], [`sub`] and [`mul`] are the instances
//! of [`Arithmetic`], with one file for each system.

pub mod add;
pub(crate) mod loops;
pub mod mul;
mod params;
pub mod sub;
#[cfg(test)]
pub(crate) mod tests;

use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::mutants::tensor::Mutant;
use crate::operation::{Call, TensorOperation};
use crate::protocol::Job;
use crate::shape::{ShapeError, Sizes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::marker::PhantomData;

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

/// The arithmetic of an operation: what it computes of two elements.
pub trait Arithmetic: 'static {
    /// Name of the operation.
    const OP: &'static str;
    /// The scales that a kernel takes.
    type Scales: Scales;

    /// Every kernel, in the order of reports.
    fn kernels() -> &'static [Kernel<Self::Scales>];
    /// Known bugs.
    fn mutants() -> &'static [Mutant<Run, Domain<Self::Scales>>];
    /// The job of a kernel.
    fn job(kernel: String, params: Params) -> Job;
}

/// The operation of an arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elementwise<A>(PhantomData<A>);

impl<A: Arithmetic> TensorOperation for Elementwise<A> {
    const OP: &'static str = A::OP;
    type Params = Params;
    type Domain = Domain<A::Scales>;
    type Run = Run;

    fn kernels() -> &'static [Kernel<A::Scales>] {
        A::kernels()
    }

    fn mutants() -> &'static [Mutant<Run, Self::Domain>] {
        A::mutants()
    }

    fn job(kernel: &str, params: &Params) -> Job {
        A::job(kernel.to_owned(), *params)
    }

    fn sizes(domain: &Self::Domain, params: &Params) -> Result<Sizes, ShapeError> {
        domain.sizes(params)
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [lhs, rhs, _], output, misalign, .. } = call;
        let operands = [("lhs", domain.element, lhs), ("rhs", domain.element, rhs)];
        packed(operands, misalign, |lhs, rhs| code(params, lhs, rhs, output))
    }
}

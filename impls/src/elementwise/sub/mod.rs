//! Quantized subtraction of two tensors; one file for each system. The scales that kernels take are those of [`super::add`].

mod onnx;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
mod tosa;
pub(crate) mod tvm;
pub(crate) mod xnnpack;

use super::{Arithmetic, Elementwise};
use crate::mutants;
use crate::mutants::tensor::Mutant;
use crate::protocol::Job;

pub use super::add::{Domain, Kernel, Scales};
pub use super::{Operand, Params, Run};

/// Every kernel, in the order of reports.
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// The kernel of that name; mutants are not kernels.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// Differences of quantized tensors.
pub type Sub = Elementwise<Subtraction>;

/// The subtraction of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subtraction {}

impl Arithmetic for Subtraction {
    const OP: &'static str = "sub";
    type Scales = Scales;

    fn kernels() -> &'static [Kernel] {
        KERNELS
    }

    fn mutants() -> &'static [Mutant<Run, Domain>] {
        mutants::sub::MUTANTS
    }

    fn job(kernel: String, params: Params) -> Job {
        Job::Sub { kernel, params }
    }
}

static KERNELS: &[Kernel] = &[
    tflite::DOUBLE_I8,
    tflite::DOUBLE_U8,
    tflite::DOUBLE_I16,
    tflite::SINGLE_I8,
    tflite::NEGATED_I8,
    tflite::NEGATED_U8,
    tosa::DOUBLE_I8,
    tosa::DOUBLE_U8,
    tosa::SINGLE_I8,
    xnnpack::QS8,
    xnnpack::QU8,
    xnnpack::NEON_QS8,
    onnx::I8,
    onnx::U8,
    tvm::I8,
    tvm::U8,
    tvm::TO_NEAREST_I8,
];

//! Quantized subtraction of two tensors; one file for each system. [`super::add`] defines the accepted scales.

mod onnx;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
mod tosa;
pub(crate) mod tvm;
pub(crate) mod xnnpack;

use super::items;
use crate::operation::{TensorOperation, common_items, lookups};

pub use super::add::{Domain, Kernel, Scales};
pub use super::{Operand, Params, Run};

lookups!();

/// Differences of quantized tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sub {}

impl TensorOperation for Sub {
    common_items!(sub, Sub);
    items!();
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

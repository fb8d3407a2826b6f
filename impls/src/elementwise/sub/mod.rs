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

/// Differences of quantized tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sub {}

impl TensorOperation for Sub {
    common_items!(sub);
    items!();
}

lookups! {
    tflite: DOUBLE_I8 DOUBLE_U8 DOUBLE_I16 SINGLE_I8 NEGATED_I8 NEGATED_U8;
    tosa: DOUBLE_I8 DOUBLE_U8 SINGLE_I8;
    xnnpack: QS8 QU8 NEON_QS8;
    onnx: I8 U8;
    tvm: I8 U8 TO_NEAREST_I8;
}

//! TFLite models.

pub(super) mod layers;
pub(super) mod network;
pub(super) mod operators;
pub(super) mod tables;
mod tensor;
mod transposed;

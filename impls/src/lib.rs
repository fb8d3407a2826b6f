//! What people ship: kernels under test, each with its contract beside it.
//!
//! One folder for each operation, one file for each system. This crate depends on no other room and builds for every target.

pub mod add;
pub mod contract;
pub mod conv2d;
pub mod dequantize;
pub mod dot;
pub mod element;
pub mod elementwise;
pub mod execute;
pub(crate) mod expressed;
pub mod fpm;
pub mod frame;
pub mod instruction;
pub mod kernel;
pub mod matmul;
pub mod mul;
pub mod mutants;
pub mod operation;
pub mod protocol;
pub mod quantize;
pub mod quantized;
pub mod requantize;
pub mod shape;
pub mod simd;
pub mod transform;
pub mod worker;

/// Which form of a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Scalar code, or vector code over [`simd::Portable`]: the same on every target.
    Portable,
    /// Real vector instructions where this build has them, otherwise the portable form.
    Native,
}

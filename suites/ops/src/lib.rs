//! The operations, one folder each: what is tried, what is expected, and which changes to a scheme a kernel may make. [`registry`] lists them.
//!
//! An operation here is a type of its own, not the type in `impls`: a crate may implement a foreign trait only for its own
//! types.

#![forbid(unsafe_code)]

/// The types of an operation: its kernels and known bugs, from which parameters, domain and function type follow, and its schemes.
macro_rules! types_of {
    ($impl:ty, $scheme:ty) => {
        type Impl = $impl;
        type Params = <$impl as tiebreak_impls::operation::TensorOperation>::Params;
        type Domain = <$impl as tiebreak_impls::operation::TensorOperation>::Domain;
        type Run = <$impl as tiebreak_impls::operation::TensorOperation>::Run;
        type Scheme = $scheme;
    };
}

pub mod bounds;
pub mod concat;
pub mod conv2d;
pub mod dequantize;
pub mod dot;
pub mod elementwise;
pub mod exp;
pub mod explain;
pub mod fpm;
mod fused;
pub mod fuzzing;
pub mod instruction;
pub mod listing;
pub mod matmul;
mod pairs;
pub mod pool;
pub mod presented;
pub mod qconv2d;
pub mod qmatmul;
pub mod quantize;
pub mod quantized;
pub mod registry;
pub mod requantize;
pub mod softmax;
pub mod transform;
mod types;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

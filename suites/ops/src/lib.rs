//! Operations, one folder each: cases, expected results, and the changes that a kernel may make to a scheme. [`registry`] lists the operations.
//!
//! Each operation is a type of this crate, not the type in `impls`, because a crate may implement a foreign trait only for its own types.

#![forbid(unsafe_code)]

/// Defines the types of an operation: implementation (kernels and mutants), parameters, domain, function type, and schemes.
macro_rules! types_of {
    ($impl:ty, $scheme:ty) => {
        type Impl = $impl;
        type Params = <$impl as tiebreak_impls::operation::TensorOperation>::Params;
        type Domain = <$impl as tiebreak_impls::operation::TensorOperation>::Domain;
        type Run = <$impl as tiebreak_impls::operation::TensorOperation>::Run;
        type Scheme = $scheme;
    };
}

/// Lists fields of parameters for the text of a case: kind and name of each, in brackets its place if it is not directly in the parameters, and
/// `always` if it is written even at its default.
macro_rules! fields {
    (@of $p:ident $name:ident) => { &mut $p.$name };
    (@of $p:ident $name:ident $($place:ident).+) => { &mut $p.$($place).+ };
    ($params:ty; $($kind:ident $name:ident $([$($place:ident).+])? $($always:ident)?);+) => {
        [$(
            tiebreak_engine::operation::Field::<$params>::$kind(
                stringify!($name),
                |p| fields!(@of p $name $($($place).+)?),
            )$(.$always())?
        ),+]
    };
}

/// Builds a struct from the fields of the same names in another value, then from fields with values of their own.
macro_rules! mirrored {
    ($from:ident => $type:ident { $($field:ident),+ $(; $($name:ident: $value:expr),+)? }) => {
        $type { $($field: $from.$field,)+ $($($name: $value),+)? }
    };
}

#[macro_use]
pub mod registry;

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
pub mod requantize;
pub mod softmax;
pub mod transform;
mod types;

/// SHA-256 of this crate's sources, set by the build script; `None` in a copy without a build script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

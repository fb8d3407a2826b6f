//! What is true. Rounding rules, schemes and instructions in exact arithmetic: big integers and rationals first, fast
//! integer forms beside them that are derived on their own and held against the big ones.
//!
//! Knows nothing of any kernel. No `unsafe`, no SIMD, no float decides.

#![forbid(unsafe_code)]

pub mod add;
pub mod arithmetic;
pub mod bounds;
pub mod census;
pub mod conv2d;
pub mod dequantize;
pub mod derivation;
pub mod dot;
pub mod float;
pub mod fpm;
pub mod instruction;
pub mod matmul;
pub mod names;
pub mod pair_sum;
pub mod quantize;
pub mod requantize;
pub mod rounding;
pub mod scheme;
pub mod shape;
pub mod transform;
pub mod word;

pub use rug::Rational;

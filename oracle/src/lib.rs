//! The oracle: rounding rules, schemes and instructions in exact arithmetic. Big integers and rationals define them; fast integer forms are
//! derived independently and compared with the definitions.
//!
//! The oracle knows no kernel and has neither `unsafe` nor SIMD. No float takes part in a decision.

#![forbid(unsafe_code)]

pub mod arithmetic;
pub mod bounds;
pub mod census;
pub mod concat;
pub mod conv2d;
pub mod dequantize;
pub mod derivation;
pub mod dot;
pub mod elementary;
pub mod elementwise;
pub mod exp;
pub mod float;
pub mod fpm;
pub mod instruction;
pub mod matmul;
pub mod names;
pub mod pair_sum;
pub mod pool;
pub mod proof;
pub mod qconv2d;
pub mod qmatmul;
pub mod quantize;
pub mod requantize;
pub mod rounding;
pub mod rows;
pub mod scheme;
pub mod shape;
pub mod softmax;
pub mod transform;
pub mod word;

pub use rug::{Integer, Rational};

/// SHA-256 of the sources of this crate, set by its build script; `None` in a copy without a build script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

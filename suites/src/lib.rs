//! What is compared with what: plan, generators, lanes, judge, catalogue; and the program `tiebreak`.
//!
//! One way through: parameters and accumulators are generated, run in a lane, judged against the oracle, written to a ledger.

#![forbid(unsafe_code)]

pub mod accumulators;
pub mod add;
pub mod atlas;
pub mod bounds;
pub mod budget;
pub mod class;
pub mod cli;
pub mod conv2d;
pub mod dequantize;
pub mod dot;
pub mod engine;
pub mod explain;
pub mod fingerprint;
pub mod floats;
pub mod fpm;
pub mod fraction;
pub mod fuzzing;
pub mod identity;
pub mod instruction;
pub mod lane;
pub mod listing;
pub mod matmul;
pub mod mlir;
pub mod model;
pub mod parameters;
pub mod quant_type;
pub mod quantize;
pub mod quantized;
pub mod requantize;
pub mod rewrites;
pub mod space;
pub mod stream;
pub mod tensor;
pub mod transform;
pub mod verify;

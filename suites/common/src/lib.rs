//! Parts that every room of the harness may use: classes, budgets, parameters, random streams, decimals, files by content.

#![forbid(unsafe_code)]

pub mod accumulators;
pub mod budget;
pub mod called;
pub mod class;
pub mod covering;
pub mod floats;
pub mod fraction;
pub mod identity;
pub mod parallel;
pub mod parameters;
pub mod sizes;
pub use tiebreak_sources as sources;
pub mod stream;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

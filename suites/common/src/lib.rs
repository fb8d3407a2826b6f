//! Parts for every room of the harness: classes, budgets, parameters, random streams, decimals, identification of files by content.

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

/// SHA-256 of the sources of this crate, set by its build script; `None` outside a workspace of the project.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

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
pub mod stream;

pub use budget::{Budget, Effort};
pub use class::Class;
pub use stream::{below, int32, int32_of_any_size, stream};
pub use tiebreak_sources as sources;

/// SHA-256 of the sources of this crate, set by its build script; `None` outside a workspace of the project.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

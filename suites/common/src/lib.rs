//! What every room of the harness may use, and what knows of none: classes, budgets, parameters, random streams, decimals, files by content.

#![forbid(unsafe_code)]

pub mod accumulators;
pub mod budget;
pub mod class;
pub mod floats;
pub mod fraction;
pub mod identity;
pub mod parallel;
pub mod parameters;
pub mod shell;
pub mod sizes;
pub mod stream;

//! Runs of cases in lanes.

pub mod anchor;
pub mod answers;
pub mod repeats;
pub mod shrink;
pub mod sparing;
pub mod subject;
pub mod sweep;

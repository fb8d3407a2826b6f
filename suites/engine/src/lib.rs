//! One way for every operation, which names none: plan, generate, run in a lane, judge, count, find the cause, shrink, sweep, write ledger rows.
//!
//! The engine uses `mlir`, because a lane of compiled modules is a lane: it gets its objects before it starts.

#![forbid(unsafe_code)]

pub mod activity;
pub mod bite;
pub mod count;
pub mod lane;
pub mod runner;
pub mod sweep;
pub mod tensor;
pub mod verify;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

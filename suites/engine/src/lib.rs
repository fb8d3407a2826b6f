//! One way for every operation, which names none. A request goes through stages, each of which knows those before it alone:
//! [`operation`], [`case`], [`plan`], [`run`], [`judge`], [`explain`], [`ledger`], [`verification`]. Kernels run in [`lane`]s, up to [`explain`]; from there on
//! there is data. [`self_check`] runs known bugs through the same stages, and [`vectors`] chooses few cases that detect them.
//!
//! The engine uses `mlir`, because a lane of compiled modules is a lane: it gets its objects before it starts.

#![forbid(unsafe_code)]

pub mod activity;
mod adopted;
pub mod case;
pub mod count;
pub mod explain;
pub mod identify;
pub mod judge;
pub mod lane;
pub mod ledger;
pub mod offline;
mod opened;
pub mod operation;
pub mod pipeline;
pub mod plan;
pub mod progress;
pub mod registry;
pub mod run;
mod selected;
pub mod self_check;
pub mod sharded;
pub mod units;
pub mod vectors;
pub mod verification;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

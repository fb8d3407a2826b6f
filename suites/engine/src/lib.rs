//! Verification engine, shared by all operations; the engine names no operation. A request goes through stages, and each stage knows only earlier
//! stages: [`operation`], [`case`], [`plan`], [`run`], [`judge`], [`explain`], [`ledger`], [`verification`]. Kernels run in [`lane`]s, up to the
//! stage [`explain`]; later stages work on data. [`self_check`] runs known bugs through the same stages, and [`vectors`] chooses few cases that
//! detect them.
//!
//! The engine uses `mlir` because a lane of compiled modules gets its objects before the lane starts.

#![forbid(unsafe_code)]

pub mod activity;
mod adopted;
pub mod case;
pub mod count;
pub mod erased;
pub mod explain;
pub mod identify;
pub mod judge;
pub mod lane;
pub mod ledger;
pub mod offered;
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

/// SHA-256 of the crate's sources, set by the build script; `None` in a copy without the build script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

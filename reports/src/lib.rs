//! The ledger of a run and every report that is made from it. This crate knows neither the oracle nor any kernel.
//!
//! Every report is a pure function of the [`ledger`]: the same ledger gives the same bytes. [`table`] is the terminal's
//! text, [`json`] is for programs, [`summary`] for a pull request, [`markdown`] is the complete report, [`junit`] is for a build
//! server, [`sarif`] and [`annotations`] are for a host of code, and [`files`] writes them. [`mod@read`] reads input files within a limit. [`space`] is the ledger of a census of a whole
//! space. [`left_out`] says what a run did not look at. [`drawable`] makes the text of others fit to be drawn. [`text`] is the one place that formats a number, a case or a finding.

mod agreement;
pub mod annotations;
pub mod bite;
pub mod calls;
pub mod diff;
pub mod drawable;
pub mod files;
mod findings;
pub mod html;
pub mod json;
pub mod junit;
pub mod ledger;
pub mod left_out;
pub mod markdown;
mod network;
mod overview;
pub mod proofs;
pub mod read;
pub mod sarif;
#[cfg(test)]
mod schema;
pub mod self_checks;
pub mod space;
mod space_plan;
mod spans;
pub mod summary;
pub mod table;
pub mod text;
mod uncovered;
mod view;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

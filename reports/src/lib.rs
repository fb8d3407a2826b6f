//! Ledger of a run, and every report that is made from it. This crate depends neither on the oracle nor on any kernel.
//!
//! Every report is a pure function of the [`ledger`]: the same ledger gives the same bytes. [`table`] is the text for the terminal, [`json`] is
//! for programs, [`summary`] for a pull request, [`markdown`] is the complete report, [`junit`] is for a build server, [`sarif`] and
//! [`annotations`] are for a code host, and [`files`] writes them. [`mod@read`] reads input files within a limit. [`space`] is the ledger of
//! a census of a whole space. [`left_out`] lists uncovered inputs. [`drawable`] makes foreign text safe to show. [`text`] formats all
//! numbers, cases and findings.

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
mod named;
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

/// SHA-256 of the sources of this crate, set by its build script; `None` in a copy without the script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

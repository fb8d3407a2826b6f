//! The ledger of a run and everything drawn from it. Knows nothing of the oracle or of any kernel.
//!
//! Every report is a pure function of the [`ledger`]: the same ledger gives the same bytes. [`table`] is what a person
//! reads first, [`json`] what a program reads, [`summary`] what goes into a pull request, [`markdown`] the whole of it,
//! [`junit`] what a build server shows, and [`files`] puts them on disk; [`mod@read`] is how any file of others is read,
//! within a limit. [`space`] is the ledger of a census of a whole space. [`left_out`] says what a run did not look at. How a
//! number, a case or a finding reads is decided once, in [`text`].

mod agreement;
pub mod files;
mod findings;
pub mod json;
pub mod junit;
pub mod ledger;
pub mod left_out;
pub mod markdown;
mod overview;
pub mod read;
pub mod self_checks;
pub mod space;
mod space_plan;
mod space_possible;
pub mod summary;
pub mod table;
pub mod text;
mod uncovered;
mod view;

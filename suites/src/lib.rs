//! What is compared with what: plan, generators, lanes, judge, catalogue; and the program `tiebreak`.
//!
//! One way through: parameters and accumulators are generated, run in a lane, judged against the oracle, written to a ledger.

#![forbid(unsafe_code)]

pub mod accumulators;
pub mod budget;
pub mod cli;
pub mod fpm;
pub mod fuzzing;
pub mod instruction;
pub mod lane;
pub mod model;
pub mod parameters;
pub mod stream;
pub mod verify;

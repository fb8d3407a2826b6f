//! One way for every operation, which names none: plan, generate, run in a lane, judge, count, find the cause, shrink, sweep, write ledger rows.

#![forbid(unsafe_code)]

pub mod activity;
pub mod bite;
pub mod count;
pub mod lane;
pub mod runner;
pub mod sweep;
pub mod tensor;
pub mod verify;

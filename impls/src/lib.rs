//! What people ship: kernels under test, each with its contract beside it.
//!
//! One folder an operation, one file a system. Depends on nothing of ours and builds for every target.

pub mod contract;
pub mod fpm;
pub mod protocol;

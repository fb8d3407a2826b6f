//! Questions about schemes alone, which run no kernel in a lane.

#![deny(unsafe_code)]

pub mod atlas;
pub mod audit;
pub mod figures;
pub mod fingerprint;
pub mod model;
pub mod proofs;
pub mod rewrites;
pub mod space;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

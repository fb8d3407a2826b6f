//! Analyses of schemes and models that run no kernel in a lane.

#![deny(unsafe_code)]

pub mod atlas;
pub mod audit;
pub mod figures;
pub mod fingerprint;
pub mod model;
pub mod proofs;
pub mod rewrites;
pub mod space;

/// SHA-256 of the sources of this crate, set by its build script; `None` outside a workspace of the project.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

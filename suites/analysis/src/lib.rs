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

//! Questions about schemes alone, which run no kernel in a lane.

#![forbid(unsafe_code)]

pub mod atlas;
pub mod figures;
pub mod fingerprint;
pub mod model;
pub mod rewrites;
pub mod space;

//! What serves every operation alike and names none: how a kernel is asked in a lane, and how everything there is of some kind is swept.

pub mod count;
pub mod runner;
pub mod sweep;

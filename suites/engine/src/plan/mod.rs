//! Plans: the cases of a run.

pub mod further;
pub mod planned;
pub mod plans;
pub mod sequences;
pub mod structured;

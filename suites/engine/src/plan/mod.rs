//! Plans: which cases are tried.

pub mod further;
pub mod planned;
pub mod plans;
pub mod sequences;
pub mod structured;

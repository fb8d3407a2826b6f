//! Registry and logic of the fuzz targets. The targets themselves are glue.

pub mod census;
mod kept;
pub mod readers;
mod targets;
mod words;

pub use kept::{bytes, line};
pub use targets::{Target, find, targets};
pub use tiebreak_ops::fuzzing::{cases, numbers, quant_type, refused, seeds, tensor};
pub use words::dictionary;

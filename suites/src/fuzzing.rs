//! The logic of the fuzz targets, which themselves are only glue.

pub use tiebreak_ops::fuzzing::texts::refused;
pub use tiebreak_ops::fuzzing::{fpm, numbers, quant_type, seeds, tensor};

/// Reads `text` as a model, and as everything that the operations read. Each reader may refuse it, in words; none may panic.
pub fn texts(text: &[u8]) {
    refused(crate::model::parse(text));
    tiebreak_ops::fuzzing::texts::texts(text);
}

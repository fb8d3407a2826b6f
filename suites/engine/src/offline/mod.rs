//! Cases of a caller, evaluated by the oracle or judged with the caller's results, under a named scheme or kernel. No kernel runs here.

pub mod bench;
pub mod evaluated;
pub mod line;

pub use bench::{Bench, Cause, Difference, Exact, Verdict};
pub use evaluated::EvaluatedLine;
pub use line::Line;

//! Cases of a caller, evaluated by the oracle or judged with the caller's results, under a named scheme or kernel. No kernel runs here.

pub mod bench;
pub mod line;
pub mod posed;

pub use bench::{Bench, Benched, Cause, Difference, Exact, Verdict};
pub use line::Line;
pub use posed::Posed;

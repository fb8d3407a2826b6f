//! Cases that callers give, by the scheme or the kernel that they name, evaluated by the oracle or judged with results that somebody else
//! computed. Nothing runs here.

pub mod bench;
pub mod line;
pub mod posed;

pub use bench::{Bench, Benched, Cause, Difference, Exact, Verdict};
pub use line::Line;
pub use posed::Posed;

//! Vector instructions that kernels use, defined on big integers from the manuals of Arm and Intel. Both the portable models and the
//! real instructions are compared with these definitions.

mod lane;
mod register;

pub use lane::{ExactLane, Mnemonic};
pub use register::{Fit, Formula, Lanes, Operands, REGISTERS, Register};

//! Presentation of an instruction.

use super::Instruction;
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::instruction::Params;

impl Presented for Instruction {
    const ABOUT: &'static str = "Vector instruction: one result of a case";
    const SHOWN: &'static str = "sqrdmulh.s32";
    const SIZED_BY_KERNEL: bool = true;

    fn sample(_: Fitting) -> Drawn<Params> {
        let (a, b) = ([1 << 30, -3, 0, i32::MIN], [1 << 30, 1 << 30, 7, i32::MIN]);
        Drawn { params: Params { vectors: 1 }, len: a.len() + 1, input: [a, b].concat() }
    }
}

//! Presentation of an exponential.

use super::Exp;
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::exp::Params;

impl Presented for Exp {
    const ABOUT: &'static str = "Fixed-point exponential: one result of a case";
    const SHOWN: &'static str = "gemmlowp-exp";

    fn sample(_: Fitting) -> Drawn<Params> {
        Drawn { params: Params { len: 3, integer_bits: 5 }, len: 3, input: vec![0, i32::MIN, 0] }
    }
}

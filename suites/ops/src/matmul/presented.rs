//! Presentation of a matrix product.

use super::Matmul;
use crate::explain::steps::{self, Steps};
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::matmul::Params;

impl Presented for Matmul {
    const ABOUT: &'static str = "Matrix product: one result of a case";
    const SHOWN: &'static str = "gemmlowp-reference";
    const STEPS: Steps<Self> = steps::matmul;

    fn sample(fitting: Fitting) -> Drawn<Params> {
        let (lhs_offset, rhs_offset) = (fitting.offset(-1), fitting.offset(-2));
        let params = Params { m: 2, n: 2, k: 3, lhs_offset, rhs_offset };
        Drawn { params, len: 4, input: (1..=12).collect() }
    }
}

//! Presentation of a concatenation.

use super::Concat;
use crate::explain::steps::{self, Steps};
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::concat::{Input, Params};
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::quantized::Scale;

impl Presented for Concat {
    const ABOUT: &'static str = "Concatenation of quantized tensors: one result of a case";
    const SHOWN: &'static str = "tvm-qnn-concatenate-i8";
    const STEPS: Steps<Self> = steps::concat;

    /// Draws two rows with inputs of one and two columns. The second input has twice the output's scale, unless the kernel requires equal scales.
    fn sample(fitting: Fitting) -> Drawn<Params> {
        let (zero_point, scale) = if fitting.offsets { (1, 1.0) } else { (0, 0.5) };
        let of = |size, scale| Input { size, operand: Operand { scale: Scale(scale), zero_point } };
        let inputs = vec![of(1, 0.5), of(2, scale)];
        let out = inputs[0].operand;
        let params = Params { element: fitting.element, shape: vec![2, 3], axis: 1, inputs, out };
        Drawn { params, len: 6, input: vec![2, 4, 6, 8, 10, 12] }
    }
}

//! Products of a fuzzer's numbers.

use super::Mul;
use crate::elementwise;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use tiebreak_impls::element::Element;
use tiebreak_impls::mul::{Domain, Operand, Params};
use tiebreak_impls::quantized::Scale;

impl Fuzzed for Mul {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let mut params = elementwise::fuzzed::params(domain.element, domain.clamp, numbers);
        // Results as large as those of 8 bits, or as those of 16, whose zero points are 0.
        let mut larger = 1 << 4;
        if domain.element == Element::I16 {
            larger = 1 << 16;
            for operand in [&mut params.lhs, &mut params.rhs, &mut params.out] {
                operand.zero_point = 0;
            }
        }
        params.out = Operand { scale: Scale(params.out.scale.0 * f64::from(larger)), ..params.out };
        params
    }
}

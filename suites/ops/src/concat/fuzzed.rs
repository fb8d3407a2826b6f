//! Concatenations made from a fuzzer's numbers.

use super::Concat;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::concat::{Domain, Input, Operand, Params, Scales};

impl Fuzzed for Concat {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let range = domain.element.range();
        let mut operand = |exponents| numbers.operand(exponents, range.clone());
        let out = operand(-2..=2);
        let operands = [operand(-4..=4), operand(-4..=4), operand(-4..=4), operand(-4..=4)];
        let count = *numbers.one_of(&[2usize, 2, 3, 4]);
        let mut inputs = Vec::new();
        for operand in &operands[..count] {
            // One input in four has the output's quantization, and one in four the output's scale, as far as the domain permits.
            let operand = match (domain.scales, *numbers.one_of(&[0u8, 1, 2, 3])) {
                (Scales::Equal, _) | (_, 0) => out,
                (Scales::Quotient | Scales::Narrow, 1) => Operand { scale: out.scale, ..*operand },
                _ => *operand,
            };
            inputs.push(Input { size: numbers.size(9), operand });
        }
        let rank = *numbers.one_of(&[1usize, 2, 3, 4]);
        let axis = *numbers.one_of(&[0usize, 1, 2, 3]) % rank;
        let mut shape: Vec<usize> = (0..rank).map(|_| numbers.size(4)).collect();
        shape[axis] = inputs.iter().map(|input| input.size).sum();
        Params { element: domain.element, shape, axis, inputs, out }
    }
}

//! Parameters of two quantized tensors, made from a fuzzer's numbers.

use crate::fuzzing::Numbers;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::Params;

/// Builds the parameters of a small case.
pub(super) fn params((element, clamp): (Element, bool), numbers: &mut Numbers<'_>) -> Params {
    let range = element.range();
    // The operands' scales are within 2^-4 and 2^5 of the result's; every domain covers them.
    let mut operand = |exponents| numbers.operand(exponents, range.clone());
    let (lhs, rhs, out) = (operand(-4..=4), operand(-4..=4), operand(-1..=0));
    let (min, max) = numbers.bounds(&range, clamp);
    Params { element, len: numbers.size(40), lhs, rhs, out, min, max }
}

//! Parameters of two quantized tensors of a fuzzer's numbers.

use crate::fuzzing::numbers::Numbers;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Those of a small case.
pub(super) fn params((element, clamp): (Element, bool), numbers: &mut Numbers<'_>) -> Params {
    let range = element.range();
    // Operands' scales within 2^-4 and 2^5 of the result's: every domain has them.
    let mut operand = |exponents: std::ops::RangeInclusive<i32>| {
        let significand = *numbers.one_of(&[0, 0, 1 << 22]) | (i32::from(*numbers.one_of(&[0u8, 1])) * numbers.int32());
        let bits = (127 + numbers.of(exponents)) << 23 | significand & 0x7f_ffff;
        Operand { scale: Scale(f32::from_bits(bits as u32).into()), zero_point: numbers.of(range.clone()) }
    };
    let (lhs, rhs, out) = (operand(-4..=4), operand(-4..=4), operand(-1..=0));
    let ends = if clamp { [numbers.of(range.clone()), numbers.of(range.clone())] } else { [0; 2] };
    let (min, max) = match ends {
        [a, b] if a == b => (*range.start(), *range.end()),
        [a, b] => (a.min(b), a.max(b)),
    };
    Params { element, len: numbers.size(40), lhs, rhs, out, min, max }
}

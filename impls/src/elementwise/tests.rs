//! What the tests of both arithmetics have in common.

use super::{Kernel, Operand, Params, Scales};
use crate::Form;
use crate::element::Element;
use crate::quantized::Scale;

pub(crate) fn params(element: Element, [lhs, rhs, out]: [(f32, i32); 3], len: usize) -> Params {
    let of = |(scale, zero_point): (f32, i32)| Operand { scale: Scale(scale.into()), zero_point };
    let (min, max) = (*element.range().start(), *element.range().end());
    Params { element, len, lhs: of(lhs), rhs: of(rhs), out: of(out), min, max }
}

pub(crate) fn run<S: Scales>(kernel: &Kernel<S>, form: Form, params: &Params, lhs: &[i32], rhs: &[i32]) -> Vec<i32> {
    let element = kernel.contract.domain.element;
    kernel.contract.domain.sizes(params).expect("in the domain");
    let pack = |values: &[i32]| {
        let mut bytes = vec![0; values.len() * element.bytes()];
        element.pack(values, &mut bytes);
        bytes
    };
    let mut out = vec![i32::MIN; lhs.len()];
    kernel.run(form)(params, &pack(lhs), &pack(rhs), &mut out);
    out
}

/// Zero points for any type: moved to the middle of an unsigned type.
pub(super) fn moved(element: Element, zero_point: i32) -> i32 {
    if element == Element::U8 { zero_point + 128 } else { zero_point }
}

/// All pairs of 8 bits; every 255th value of 16 bits.
pub(super) fn pairs(element: Element) -> (Vec<i32>, Vec<i32>) {
    let step = if element == Element::I16 { 255 } else { 1 };
    let all = element.range().step_by(step);
    all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).unzip()
}

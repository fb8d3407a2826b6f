//! Tests that addition, subtraction and multiplication share.

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

/// Adapts a zero point to any type: an unsigned type moves it by 128, the middle of the range.
pub(super) fn moved(element: Element, zero_point: i32) -> i32 {
    if element == Element::U8 { zero_point + 128 } else { zero_point }
}

/// Returns all pairs of 8-bit values, or pairs of every 255th value of 16 bits.
pub(super) fn pairs(element: Element) -> (Vec<i32>, Vec<i32>) {
    let step = if element == Element::I16 { 255 } else { 1 };
    let all = element.range().step_by(step);
    all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).unzip()
}

/// Checks every kernel on all pairs of 8-bit values against `real`, the operation in doubles. Each result is within `wider` of the exact value: 0.5,
/// or more if the contract also rounds before the result. If the exact value is nearer than `near` to a half, the result may be off by up to 1.
pub(super) fn every_kernel_computes<S: Scales>(
    kernels: &[Kernel<S>],
    scales: [[(f32, i32); 3]; 3],
    placed: impl Fn(Element, i32) -> i32,
    real: impl Fn(f64, f64) -> f64,
    near: impl Fn(Element) -> f64,
    wider: impl Fn(&str) -> f64,
) {
    for kernel in kernels {
        let element = kernel.contract.domain.element;
        for operands in scales {
            let (a, b) = pairs(element);
            let p = params(element, operands.map(|(scale, zero_point)| (scale, placed(element, zero_point))), a.len());
            let got = run(kernel, Form::Native, &p, &a, &b);
            assert_eq!(got, run(kernel, Form::Portable, &p, &a, &b), "{}", kernel.name);
            for ((a, b), got) in a.iter().zip(&b).zip(got) {
                let value = |stored: i32, of: Operand| f64::from(stored - of.zero_point) * of.scale.0;
                let exact = real(value(*a, p.lhs), value(*b, p.rhs)) / p.out.scale.0 + f64::from(p.out.zero_point);
                let exact = exact.clamp(p.min.into(), p.max.into());
                let near_half = (exact.fract().abs() - 0.5).abs() < near(element);
                let off = (f64::from(got) - exact).abs();
                let right = off <= wider(kernel.name) || (near_half && off <= 1.0);
                assert!(right, "{} {a} {b}: {got}, not {exact}", kernel.name);
            }
        }
    }
}

/// The same pair gives the same result at every index of every length.
pub(super) fn every_place_and_length_gives_the_same<S: Scales>(
    kernels: &[Kernel<S>],
    placed: impl Fn(Element, i32) -> i32,
) {
    for kernel in kernels {
        let element = kernel.contract.domain.element;
        let operands = [(0.0235, 1), (0.3, 17), (0.31, 4)].map(|(scale, point)| (scale, placed(element, point)));
        let of = |len| params(element, operands, len);
        let one = run(kernel, Form::Native, &of(1), &[77], &[100])[0];
        for len in 2..=40 {
            let got = run(kernel, Form::Native, &of(len), &vec![77; len], &vec![100; len]);
            assert_eq!(got, vec![one; len], "{} {len}", kernel.name);
        }
    }
}

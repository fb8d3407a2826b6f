//! What operations on two quantized tensors are tried on: all pairs of 8 bits, zero points and bounds, random parameters, every length.

use rand_chacha::ChaCha8Rng;
use tiebreak_common::stream::{below, int32};
use tiebreak_engine::tensor::Spec;
use tiebreak_engine::tensor::fill::Fill;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Pairs of a case.
const PAIRS: usize = 4096;

/// Parameters of the `i`th zero points and the `kind`th bounds, where a kernel clamps to any.
pub(crate) fn directed(element: Element, clamp: bool, [lhs, rhs, out]: [f32; 3], (i, kind): (usize, usize)) -> Params {
    let range = element.range();
    let (lo, hi) = (*range.start(), *range.end());
    let middle = lo.midpoint(hi) + 1;
    let zero_points = [
        [middle, middle, middle],
        [middle + 3, middle - 7, middle - 5],
        [lo, hi, lo],
        [hi, lo, hi],
        [middle - 1, middle + 17, middle + 4],
    ];
    let [left, right, placed] = zero_points[i % zero_points.len()];
    let bounds = [(lo, hi), (placed, hi), (lo + 7, hi - 9)];
    let (min, max) = if clamp { bounds[(i + kind) % bounds.len()] } else { (lo, hi) };
    let of = |scale: f32, zero_point| Operand { scale: Scale(scale.into()), zero_point };
    Params { element, len: 1, lhs: of(lhs, left), rhs: of(rhs, right), out: of(out, placed), min, max }
}

/// Scales within a factor of 2^9 of the result's, powers of two among them.
pub(crate) fn random(element: Element, rng: &mut ChaCha8Rng) -> Params {
    let range = element.range();
    let mut scale = |binades: u32| {
        let significand = if below(rng, 8) == 0 { 0 } else { int32(rng) as u32 >> 9 };
        let exponent = 127 - binades / 2 + below(rng, binades);
        Operand { scale: Scale(f32::from_bits(exponent << 23 | significand).into()), zero_point: of(element, rng) }
    };
    let (lhs, rhs, out) = (scale(9), scale(9), scale(5));
    Params { element, len: 1, lhs, rhs, out, min: *range.start(), max: *range.end() }
}

fn of(element: Element, rng: &mut ChaCha8Rng) -> i32 {
    let range = element.range();
    *range.start() + below(rng, range.end().abs_diff(*range.start()) + 1) as i32
}

/// Random stored values.
pub(crate) fn stored(element: Element, len: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
    (0..len).map(|_| of(element, rng)).collect()
}

/// Every pair of stored values, in cases that are small enough to be kept as evidence; of 16 bits those around ends and zero points.
pub(crate) fn all_pairs(params: &Params, out: &mut Vec<Spec<Params>>) {
    let range = params.element.range();
    let around = |centre: i32| (centre - 21..=centre + 21).step_by(3);
    let wide = || {
        let centres = [*range.start(), *range.end(), 0, params.lhs.zero_point, params.rhs.zero_point, 4096];
        let values = centres.into_iter().flat_map(around).filter(|v| range.contains(v));
        values.collect::<Vec<_>>()
    };
    let values: Vec<i32> = if params.element == Element::I16 { wide() } else { range.clone().collect() };
    let pairs: Vec<(i32, i32)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
    for (i, pairs) in pairs.chunks(PAIRS).enumerate() {
        let (lhs, rhs) = pairs.iter().copied().unzip();
        let params = Params { len: pairs.len(), ..*params };
        out.push(Spec { params, fills: [Fill::Given(lhs), Fill::Given(rhs), Fill::None], misalign: i % 16 });
    }
}

/// The same pair in all of a tensor.
pub(crate) fn lengths(params: &Params, lengths: impl IntoIterator<Item = usize>, out: &mut Vec<Spec<Params>>) {
    for len in lengths {
        let fills = [Fill::Constant(params.lhs.zero_point + 5), Fill::Constant(params.rhs.zero_point - 3), Fill::None];
        out.push(Spec { params: Params { len, ..*params }, fills, misalign: len % 16 });
    }
}

//! Tensors at parameters for which code has a path of its own: scales that are equal, quotients that are 1, far apart or tiny; zero points that are 0 or
//! equal; operands of one value, or both the same.

use super::Arithmetic;
use super::plan::{of as any, random, varied};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::budget::Budget;
use tiebreak_common::stream::below;
use tiebreak_engine::tensor::Spec;
use tiebreak_engine::tensor::fill::Fill;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Kinds of scales, of zero points, and of operands; of all three together there is one tensor, and in longer runs there are four.
const SCALES: usize = 10;
const ZERO_POINTS: usize = 5;
const OPERANDS: usize = 3;
const ROUNDS: [usize; 2] = [1, 4];
/// The kind of scales that is the one before.
const KEPT: usize = 4;
/// Lengths go up to this.
const LONGEST: usize = 160;
/// Powers of two by which a scale is moved: those beyond the usual quotients, and beyond 32 bits.
const LARGER: std::ops::RangeInclusive<i32> = 3..=15;
const SMALLER: std::ops::RangeInclusive<i32> = 9..=45;
const TINY: std::ops::RangeInclusive<i32> = 30..=90;

/// The cases.
pub(super) fn plan<A: Arithmetic>(limits: (Element, bool), budget: &Budget, rng: &mut ChaCha8Rng) -> Vec<Spec<Params>> {
    let (element, clamp) = limits;
    let mut scales = None;
    let mut out = Vec::new();
    for i in 0..SCALES * ZERO_POINTS * OPERANDS * ROUNDS[usize::from(budget.every_tail)] {
        let mut drawn = random::<A>(element, clamp, i, rng);
        let own = [drawn.lhs, drawn.rhs, drawn.out].map(|operand| operand.scale.0);
        let these = match (i % SCALES, scales) {
            // As the case before has them, with other zero points and bounds.
            (KEPT, Some(kept)) => kept,
            (kind, _) => related(own, kind, rng),
        };
        scales = Some(these);
        let [lhs, rhs, placed] = zero_points(&drawn, i / SCALES % ZERO_POINTS);
        let of = |scale: f64, zero_point| Operand { scale: Scale(f64::from(scale as f32)), zero_point };
        drawn.lhs = of(these[0], lhs);
        drawn.rhs = of(these[1], rhs);
        drawn.out = of(these[2], placed);
        let params = A::taken(Params { len: 1 + i * 37 % LONGEST, ..drawn });
        let kind = i / (SCALES * ZERO_POINTS) % OPERANDS;
        let spec = varied(params, rng);
        out.push(Spec { fills: operands(&params, kind, spec.fills.clone(), rng), ..spec });
    }
    out
}

/// Scales that have something to do with one another.
fn related([lhs, rhs, out]: [f64; 3], kind: usize, rng: &mut ChaCha8Rng) -> [f64; 3] {
    let mut by = |range: std::ops::RangeInclusive<i32>, sign: i32| {
        2f64.powi(sign * (range.start() + below(rng, (range.end() - range.start() + 1) as u32) as i32))
    };
    let power = |scale: f64| 2f64.powi(scale.log2().floor() as i32);
    match kind {
        0 => [lhs, lhs, lhs],
        1 => [lhs, rhs, lhs],
        2 => [lhs, rhs, rhs],
        3 => [lhs, lhs, out],
        // The quotient of the product is 1.
        5 => [power(lhs), power(rhs), power(lhs) * power(rhs)],
        6 => [lhs * by(SMALLER, -1), rhs, out],
        7 => [lhs, rhs, out * by(SMALLER, 1)],
        8 => [lhs, rhs, out * by(LARGER, -1)],
        // All of one quotient with scales as tiny as any.
        _ => {
            let by = by(TINY, -1);
            [lhs * by, rhs * by, out * by]
        }
    }
}

/// Which zero points are 0, or equal. What is not in the type is its lowest value.
fn zero_points(drawn: &Params, kind: usize) -> [i32; 3] {
    let range = drawn.element.range();
    let zero = 0.clamp(*range.start(), *range.end());
    let middle = range.start().midpoint(*range.end()) + 1;
    match kind {
        0 => [drawn.lhs, drawn.rhs, drawn.out].map(|operand| operand.zero_point),
        1 => [zero; 3],
        2 => [drawn.lhs.zero_point; 3],
        3 => [zero, zero, drawn.out.zero_point],
        _ => [middle; 3],
    }
}

/// Both operands varied, or the second of one value, or both the same.
fn operands(params: &Params, kind: usize, varied: [Fill; 3], rng: &mut ChaCha8Rng) -> [Fill; 3] {
    match kind {
        0 => varied,
        1 => {
            let [lhs, _, none] = varied;
            [lhs, Fill::Constant(any(params.element, rng)), none]
        }
        _ => {
            let values: Vec<i32> = (0..params.len).map(|_| any(params.element, rng)).collect();
            [Fill::Given(values.clone()), Fill::Given(values), Fill::None]
        }
    }
}

//! Tensors with parameters that have code paths of their own: equal scales, quotients that are 1, extreme or tiny, zero points that are 0, equal or
//! at both ends, and operands that are constant, equal, extreme, or near their zero points.

use super::plan::{of as any, random, varied};
use super::{Arithmetic, Elementwise};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{Budget, below};
use tiebreak_engine::operation::{Fill, Operation, Spec};
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Number of kinds of scales, of zero points and of operands. Each combination has one tensor, and two in longer runs.
const SCALES: usize = 10;
const ZERO_POINTS: usize = 6;
const OPERANDS: usize = 5;
const ROUNDS: [usize; 2] = [1, 2];
/// Kind that repeats the scales of the case before.
const KEPT: usize = 4;
/// Largest length.
const LONGEST: usize = 160;
/// Upper bound on factors of two by which a scale is moved, as far as the kernel accepts the scale.
const MOVES: u32 = 45;
/// Largest distance from the zero point of an element that is near it.
const NEAR: i32 = 2;

/// Scales of both operands and of the result.
type Scales = [f64; 3];

/// Returns the cases.
pub(super) fn plan<A: Arithmetic>(domain: &A::Domain, budget: &Budget, rng: &mut ChaCha8Rng) -> Vec<Spec<Params>> {
    let (element, clamp) = A::limits(domain);
    let mut before = None;
    let mut out = Vec::new();
    for i in 0..SCALES * ZERO_POINTS * OPERANDS * ROUNDS[usize::from(budget.every_tail)] {
        let drawn = A::taken(random::<A>(element, clamp, i, rng));
        let drawn = placed(&drawn, [drawn.lhs, drawn.rhs, drawn.out].map(|operand| operand.scale.0));
        let points = zero_points(&drawn, i / SCALES % ZERO_POINTS);
        let moved = with_points(drawn, points);
        // A type that permits only zero points of 0 keeps them.
        let drawn = if Elementwise::<A>::covers(domain, &moved) { moved } else { drawn };
        let covers = |scales: Scales| Elementwise::<A>::covers(domain, &placed(&drawn, scales));
        let own = [drawn.lhs, drawn.rhs, drawn.out].map(|operand| operand.scale.0);
        let scales = match (i % SCALES, before) {
            // Scales of the case before, with other zero points and bounds.
            (KEPT, Some(kept)) => kept,
            (kind, _) => related::<A>(own, kind, covers, rng),
        };
        let scales = if covers(scales) { scales } else { own };
        before = Some(scales);
        let params = Params { len: 1 + i * 37 % LONGEST, ..placed(&drawn, scales) };
        let spec = varied(params, rng);
        let fills = operands(&params, i / (SCALES * ZERO_POINTS) % OPERANDS, spec.fills.clone(), rng);
        out.push(Spec { fills, ..spec });
    }
    out
}

/// Replaces the scales, each rounded to f32.
fn placed(drawn: &Params, [lhs, rhs, out]: Scales) -> Params {
    let of = |operand: Operand, scale: f64| Operand { scale: Scale(f64::from(scale as f32)), ..operand };
    Params { lhs: of(drawn.lhs, lhs), rhs: of(drawn.rhs, rhs), out: of(drawn.out, out), ..*drawn }
}

fn with_points(drawn: Params, [lhs, rhs, out]: [i32; 3]) -> Params {
    let of = |operand: Operand, zero_point| Operand { zero_point, ..operand };
    Params { lhs: of(drawn.lhs, lhs), rhs: of(drawn.rhs, rhs), out: of(drawn.out, out), ..drawn }
}

/// Returns scales that are related to one another in the way of `kind`.
fn related<A: Arithmetic>(own: Scales, kind: usize, covers: impl Fn(Scales) -> bool, rng: &mut ChaCha8Rng) -> Scales {
    let [lhs, rhs, out] = own;
    let power = |scale: f64| 2f64.powi(scale.log2().floor() as i32);
    // A random number of times, as far as the kernel accepts the scales.
    let times = below(rng, MOVES) as usize;
    let moved = |places: &[usize], factor: f64, times: usize| {
        let mut scales = own;
        for at in places.iter().cycle().take(times * places.len()) {
            let mut further = scales;
            further[*at] *= factor;
            if covers(further) {
                scales = further;
            }
        }
        scales
    };
    match kind {
        0 => [lhs, lhs, lhs],
        1 => [lhs, rhs, lhs],
        2 => [lhs, rhs, rhs],
        3 => [lhs, lhs, out],
        // The quotient of a multiplication is 1.
        5 => [power(lhs), power(rhs), power(lhs) * power(rhs)],
        6 => moved(&[0], 0.5, times),
        7 => moved(&[2], 2.0, times),
        // The largest quotient that the kernel accepts.
        8 => moved(&[2], 0.5, MOVES as usize),
        _ => moved(A::AS_SMALL, 0.5, 2 * times),
    }
}

/// Returns zero points of the draw, or zero points that are 0, equal, or at both ends. The lowest value of the type replaces a 0 outside the type.
fn zero_points(drawn: &Params, kind: usize) -> [i32; 3] {
    let (lo, hi) = (*drawn.element.range().start(), *drawn.element.range().end());
    let zero = 0.clamp(lo, hi);
    let middle = lo.midpoint(hi) + 1;
    match kind {
        0 => [drawn.lhs, drawn.rhs, drawn.out].map(|operand| operand.zero_point),
        1 => [zero; 3],
        2 => [drawn.lhs.zero_point; 3],
        3 => [zero, zero, drawn.out.zero_point],
        4 => [lo, hi, drawn.out.zero_point],
        _ => [middle; 3],
    }
}

/// Fills the operands: both varied, the second constant, both equal, both near their zero points, or both at the ends of the type.
fn operands(params: &Params, kind: usize, varied: [Fill; 3], rng: &mut ChaCha8Rng) -> [Fill; 3] {
    let (lo, hi) = (*params.element.range().start(), *params.element.range().end());
    let mut given =
        |value: &mut dyn FnMut(&mut ChaCha8Rng) -> i32| Fill::Given((0..params.len).map(|_| value(rng)).collect());
    match kind {
        0 => varied,
        1 => {
            let [lhs, _, none] = varied;
            [lhs, Fill::Constant(any(params.element, rng)), none]
        }
        2 => {
            let both = given(&mut |rng| any(params.element, rng));
            [both.clone(), both, Fill::None]
        }
        3 => {
            let mut near = |operand: Operand| {
                given(&mut |rng| (operand.zero_point - NEAR + below(rng, 2 * NEAR as u32 + 1) as i32).clamp(lo, hi))
            };
            [near(params.lhs), near(params.rhs), Fill::None]
        }
        _ => {
            let mut ends = || given(&mut |rng| if below(rng, 2) == 0 { lo } else { hi });
            [ends(), ends(), Fill::None]
        }
    }
}

//! Cases of operations on two quantized tensors: all pairs of 8-bit values with directed scales, zero points and bounds, and random parameters with
//! tensors of every length, whose values do not depend on their place.

use super::{Arithmetic, alike, near};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{Budget, below, int32, sizes, stream};
use tiebreak_engine::operation::{Fill, Spec, Turn, by};
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::quantized::Scale;

/// Pairs in a case.
const PAIRS: usize = 4096;
/// Pairs for directed scales with which not all pairs are tried.
const SOME: usize = 1024;
/// Index of the directed scales with which a short run tries all pairs; their results cover the whole range.
const IN_FULL: usize = 3;
/// Number of random scales with which 8-bit kernels try all pairs in a long run. One of every [`TURNS`] kernels runs each set.
const FURTHER_SETS: usize = 36;
const TURNS: usize = 8;
/// Number of tensors with random parameters, for each effort: enough for every 8-bit zero point.
const TENSORS: [usize; 2] = [256, 768];
/// First length that 16 bits do not count. [`FURTHER`] is a step through all pairs, coprime to their number.
const FIRST_LONG: usize = sizes::LENGTHS[0];
const FURTHER: usize = 40_503;
/// Lengths longer than two vectors of any width.
const LONG: [usize; 10] = [128, 255, 257, 512, 513, 1025, 2047, 2050, 4099, 16411];

/// Function that draws a number between two bounds, inclusive.
pub(crate) type Binades<'a> = &'a mut dyn FnMut(i32, i32) -> i32;

/// Returns the cases of a run.
pub(super) fn plan<A: Arithmetic>(domain: &A::Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let (element, clamp) = A::limits(domain);
    let mut out = Vec::new();
    let mut rng = stream(seed, &format!("{}/parameters", A::Impl::OP));
    let kinds = if budget.sweep { 3 } else { 1 };
    let scales = |kind| A::SCALES.into_iter().enumerate().map(move |(i, scales)| (i, kind, scales));
    for (i, kind, scales) in (0..kinds).flat_map(scales) {
        let params = A::taken(directed(element, clamp, scales, (i + 2 * kind, kind)));
        // Unsigned bytes repeat the same results shifted, so fewer scales suffice.
        let in_full = if element == Element::U8 { i % 3 == 0 } else { true };
        if if budget.every_tail { in_full } else { i == IN_FULL } {
            by("all pairs", &mut out, |out| all_pairs(&params, i == IN_FULL && kind == 0, out));
        }
        out.push(varied(Params { len: SOME, ..params }, &mut rng).by("directed parameters"));
    }
    if budget.every_tail && element != Element::I16 {
        by("all pairs", &mut out, |out| further_pairs::<A>(element, clamp, seed, out));
    }
    let mut previous: Option<Params> = None;
    for i in 0..TENSORS[usize::from(budget.every_tail)] {
        let mut drawn = random::<A>(element, clamp, i, &mut rng);
        if let Some(kept) = previous.filter(|_| i % 8 == 6) {
            drawn = with_scales_of(drawn, kept, i / 8);
        }
        previous = Some(drawn);
        let params = A::taken(drawn);
        out.push(varied(Params { len: length(i), ..params }, &mut rng).by("random parameters"));
    }
    let alike = alike::plan::<A>(domain, budget, &mut rng);
    out.extend(alike.into_iter().map(|spec| spec.by("random parameters")));
    by("scales at which little decides", &mut out, |out| out.extend(near::plan::<A>(domain, budget, &mut rng)));
    // The first long tensor is in the case of all pairs.
    by("long tensors", &mut out, |out| {
        for (len, of) in &sizes::lengths(budget)[1..] {
            let params = A::taken(directed(element, clamp, A::SCALES[IN_FULL], (IN_FULL, 0)));
            let turn = Turn::one_in(*of, (seed % 1024) as usize);
            let spec = Spec::new(Params { len: *len, ..params }, [Fill::Uniform, Fill::Uniform, Fill::None], 3);
            out.push(Spec { turn, ..spec });
        }
    });
    out
}

/// Returns the `i`th length. Of 16 tensors 10 have a length up to 80, 5 have one of the next 64 lengths, each equally often, and one is longer.
fn length(i: usize) -> usize {
    let (round, at) = (i / 16, i % 16);
    match at {
        0..10 => 1 + (10 * round + at) * 37 % 80,
        10..15 => 81 + (5 * round + at - 10) * 29 % 64,
        _ => LONG[round % LONG.len()],
    }
}

/// Builds a spec of varied stored values at a random alignment.
pub(super) fn varied(params: Params, rng: &mut ChaCha8Rng) -> Spec<Params> {
    Spec::new(params, [Fill::Varied, Fill::Varied, Fill::None], below(rng, 16) as usize)
}

/// Builds parameters with the `i`th zero points and, if the kernel clamps to arbitrary bounds, the `kind`th bounds.
fn directed(element: Element, clamp: bool, [lhs, rhs, out]: [f32; 3], (i, kind): (usize, usize)) -> Params {
    let range = element.range();
    let (lo, hi) = (*range.start(), *range.end());
    let middle = lo.midpoint(hi) + 1;
    let usual = [
        [middle, middle, middle],
        [middle + 3, middle - 7, middle - 5],
        [lo, hi, lo],
        [hi, lo, hi],
        [middle - 1, middle + 17, middle + 4],
    ];
    // Zero points at one end, so that the largest differences have one sign, are used with scales for which the results fit.
    let zero_points = match i % 12 {
        7 => [lo, lo, lo],
        10 => [hi, hi, middle],
        i => usual[i % usual.len()],
    };
    let [left, right, placed] = zero_points;
    let bounds = [(lo, hi), (placed, hi), (lo + 7, hi - 9)];
    let (min, max) = if clamp { bounds[(i + kind) % bounds.len()] } else { (lo, hi) };
    let of = |scale: f32, zero_point| Operand { scale: Scale(scale.into()), zero_point };
    Params { element, len: 1, lhs: of(lhs, left), rhs: of(rhs, right), out: of(out, placed), min, max }
}

/// Draws the `i`th random parameters. Each 8-bit zero point occurs equally often, and some scales are powers of two. If the kernel clamps to
/// arbitrary bounds, every fourth draw has random bounds or an activation's.
pub(super) fn random<A: Arithmetic>(element: Element, clamp: bool, i: usize, rng: &mut ChaCha8Rng) -> Params {
    let range = element.range();
    let (lo, hi) = (*range.start(), *range.end());
    let [lhs, rhs, out] = A::binades(&mut |least, most| least + below(rng, least.abs_diff(most) + 1) as i32);
    let mut operand = |binade: i32, step: usize| {
        let significand = if below(rng, 8) == 0 { 0 } else { int32(rng) as u32 >> 9 };
        let scale = f32::from_bits(((127 + binade) as u32) << 23 | significand);
        let zero_point = if element == Element::I16 { of(element, rng) } else { lo + (i * step % 256) as i32 };
        Operand { scale: Scale(scale.into()), zero_point }
    };
    let (lhs, rhs, out) = (operand(lhs, 77), operand(rhs, 181), operand(out, 59));
    let (a, b, placed) = (of(element, rng), of(element, rng), out.zero_point);
    let (min, max) = match i / 4 % 8 {
        _ if !clamp || i % 4 != 1 => (lo, hi),
        // An activation from the zero point up: to a random bound, or to the end of the type.
        0 | 1 => (placed, a.max(placed)),
        2 => (placed, hi),
        // A single possible result.
        3 => (a, a),
        _ => (a.min(b), a.max(b)),
    };
    Params { element, len: 1, lhs, rhs, out, min, max }
}

/// Keeps the scales of the case before, except for one significand, because a kernel's cache must depend on all three scales.
fn with_scales_of(drawn: Params, kept: Params, i: usize) -> Params {
    let other = |kept: Scale, drawn: Scale| {
        let [kept, drawn] = [kept, drawn].map(|scale| (scale.0 as f32).to_bits());
        Scale(f32::from_bits(kept >> 23 << 23 | drawn & 0x007f_ffff).into())
    };
    let mut scales = [kept.lhs, kept.rhs, kept.out].map(|operand| operand.scale);
    let at = i % scales.len();
    scales[at] = other(scales[at], [drawn.lhs, drawn.rhs, drawn.out][at].scale);
    let [lhs, rhs, out] = scales;
    let with = |operand: Operand, scale| Operand { scale, ..operand };
    Params { lhs: with(drawn.lhs, lhs), rhs: with(drawn.rhs, rhs), out: with(drawn.out, out), ..drawn }
}

pub(super) fn of(element: Element, rng: &mut ChaCha8Rng) -> i32 {
    let range = element.range();
    *range.start() + below(rng, range.end().abs_diff(*range.start()) + 1) as i32
}

/// Adds every pair of stored values with random parameters.
fn further_pairs<A: Arithmetic>(element: Element, clamp: bool, seed: u64, out: &mut Vec<Spec<Params>>) {
    let mut rng = stream(seed, &format!("{}/all pairs", A::Impl::OP));
    for set in 0..FURTHER_SETS {
        let first = out.len();
        all_pairs(&A::taken(random::<A>(element, clamp, set, &mut rng)), false, out);
        out[first..].iter_mut().for_each(|spec| spec.turn = Turn::one_in(TURNS, set));
    }
}

/// Adds every pair of stored values, in cases small enough to be kept as evidence or in a single call longer than 16 bits count. For 16-bit types
/// only values around ends and zero points are paired.
fn all_pairs(params: &Params, in_one_call: bool, out: &mut Vec<Spec<Params>>) {
    let range = params.element.range();
    let around = |centre: i32| (centre - 21..=centre + 21).step_by(3);
    let wide = || {
        let centres = [*range.start(), *range.end(), 0, params.lhs.zero_point, params.rhs.zero_point, 4096];
        let values = centres.into_iter().flat_map(around).filter(|v| range.contains(v));
        values.collect::<Vec<_>>()
    };
    let values: Vec<i32> = if params.element == Element::I16 { wide() } else { range.clone().collect() };
    let pairs: Vec<(i32, i32)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
    // After the last pair the list continues in another order.
    let further = (0..FIRST_LONG).map(|i| if i < pairs.len() { i } else { (i * FURTHER + 7) % pairs.len() });
    let (pairs, together) = match in_one_call {
        true => (further.map(|i| pairs[i]).collect(), FIRST_LONG),
        false => (pairs, PAIRS),
    };
    for (i, pairs) in pairs.chunks(together).enumerate() {
        let (lhs, rhs) = pairs.iter().copied().unzip();
        let params = Params { len: pairs.len(), ..*params };
        out.push(Spec::new(params, [Fill::Given(lhs), Fill::Given(rhs), Fill::None], i % 16));
    }
}

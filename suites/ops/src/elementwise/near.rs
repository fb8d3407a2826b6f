//! Scales with many results near a tie: quotients that put a result on a half, ratios that are powers of two, nearly equal scales, and identities,
//! each also one unit in the last place away. The operands are the pairs of stored values with results nearest to a half.

use super::plan::{of as any, random};
use super::{Arithmetic, Elementwise};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{Fill, Operation, Spec};
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Number of tensors of each kind, for each effort.
const ROUNDS: [usize; 2] = [12, 36];
/// Number of pairs in a tensor, and number of drawn pairs from which they are selected, for each effort.
const PAIRS: [usize; 2] = [128, 384];
const AMONG: [usize; 2] = [1 << 12, 1 << 13];
/// Sampling step among the drawn pairs after the nearest ones.
const SPREAD: usize = 8;
/// Relative distances of scales that a kernel may treat as equal.
const DISTANCES: [f64; 8] = [1e-6, -1e-4, 1e-3, -1e-6, 1e-4, -1e-3, 1e-2, -1e-5];
/// Least whole part of a half between two scales.
const LEAST_HALF: i32 = 24;
/// Distance below which pairs drawn by chance rarely tell two scales apart.
const NEAREST: f64 = 5e-4;
/// Upper bound on draws of scales until a kernel accepts them.
const DRAWS: usize = 64;

/// Relation between the scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Some pair's result is a half, as nearly as f32 scales permit.
    Half,
    /// The quotient of the operands' unit and the result's unit is a power of two.
    Power,
    /// Two scales are nearly equal, or a quotient is nearly a power of two.
    Close,
    /// The result equals an operand, or nearly equals an operand.
    Identity,
    /// The quotient is so little below a power of two that 31 bits of its significand round up to the power.
    Below,
}

const KINDS: [Kind; 5] = [Kind::Half, Kind::Power, Kind::Close, Kind::Identity, Kind::Below];

/// Number of neighbouring scales among which one is searched whose quotient is below a power of two by less than [`BELOW`], relatively.
const NEIGHBOURS: i32 = 1 << 13;
const BELOW: f64 = 1.0 / (1u64 << 33) as f64;

/// Scales of both operands and of the result.
type Scales = [f64; 3];

/// Returns the cases.
pub(super) fn plan<A: Arithmetic>(domain: &A::Domain, budget: &Budget, rng: &mut ChaCha8Rng) -> Vec<Spec<Params>> {
    let effort = usize::from(budget.every_tail);
    let mut out = Vec::new();
    let kinds = kinds::<A>();
    for i in 0..kinds.len() * ROUNDS[effort] {
        let (kind, turn) = (kinds[i % kinds.len()], i / kinds.len());
        let drawn = (0..DRAWS).find_map(|_| parameters::<A>(domain, (kind, turn), rng));
        let Some((params, pair)) = drawn else { continue };
        let mut pairs = decisive::<A>(&params, [PAIRS[effort], AMONG[effort]], rng);
        pairs.insert(pairs.len() / 2, pair);
        let (lhs, rhs): (Vec<i32>, Vec<i32>) = pairs.into_iter().unzip();
        let params = Params { len: lhs.len(), ..params };
        out.push(Spec::new(params, [Fill::Given(lhs), Fill::Given(rhs), Fill::None], i % 16));
    }
    out
}

/// Returns the kinds of scales that the operation can have. A quotient of two f32 scales that is no power of two is farther than 2^-25 from all of them,
/// so only a product of two scales is just below one.
fn kinds<A: Arithmetic>() -> Vec<Kind> {
    KINDS.into_iter().filter(|kind| *kind != Kind::Below || is_product::<A>()).collect()
}

fn is_product<A: Arithmetic>() -> bool {
    A::UNIT.iter().all(|factor| *factor != 0.0)
}

/// Pair of stored values.
type Pair = (i32, i32);

/// Draws parameters of a kind, and the pair for which the scales were made; `None` if the domain does not cover the parameters.
fn parameters<A: Arithmetic>(
    domain: &A::Domain,
    (kind, turn): (Kind, usize),
    rng: &mut ChaCha8Rng,
) -> Option<(Params, Pair)> {
    let (element, _) = A::limits(domain);
    let drawn = A::taken(random::<A>(element, false, turn, rng));
    // One draw in three has all zero points near the middle of the type, if the domain covers the parameters.
    let middle = element.range().start().midpoint(*element.range().end()) + 1;
    let centred = with_points(&drawn, [middle; 3]);
    let drawn = if turn % 3 == 0 && Elementwise::<A>::covers(domain, &centred) { centred } else { drawn };
    let own = [drawn.lhs, drawn.rhs, drawn.out].map(|operand| operand.scale.0);
    let (lhs, rhs) = (any(element, rng), any(element, rng));
    // A kernel that rounds each operand of a sum sees the half only if the other operand is 0.
    let pair = if is_between((kind, turn)) && !is_product::<A>() { (drawn.lhs.zero_point, rhs) } else { (lhs, rhs) };
    let scales = related::<A>(own, differences(&drawn, pair), (kind, turn))?;
    let [lhs, rhs, out] = scales.map(single);
    // By turns the result's scale, and the scales one unit in the last place above and below.
    let out = if kind == Kind::Below { out } else { [out, next(out, 1), next(out, -1)][turn % 3] };
    let params = with_scales(&drawn, [lhs, rhs, out]);
    let shows = !is_between((kind, turn)) || is_inside(&params, A::real([lhs, rhs, out], differences(&params, pair)));
    (Elementwise::<A>::covers(domain, &params) && shows).then_some((params, pair))
}

/// True if scales are so close that only a pair made for them tells them apart.
fn is_between((kind, turn): (Kind, usize)) -> bool {
    kind == Kind::Close && turn % 4 != 3 && DISTANCES[turn % DISTANCES.len()].abs() < NEAREST
}

/// True if a result is within the bounds, or next to them.
fn is_inside(params: &Params, real: f64) -> bool {
    let placed = real + f64::from(params.out.zero_point);
    f64::from(params.min) - 1.0 <= placed && placed <= f64::from(params.max) + 1.0
}

/// Returns scales of a kind near drawn scales, for a pair with these differences from the zero points.
fn related<A: Arithmetic>(own: Scales, pair: [f64; 2], (kind, turn): (Kind, usize)) -> Option<Scales> {
    let [lhs, rhs, out] = own;
    let unit = |[lhs, rhs, _]: Scales| A::real([lhs, rhs, 1.0], A::UNIT);
    let power = |scale: f64| 2f64.powi(scale.log2().round() as i32);
    let near = 1.0 + DISTANCES[turn % DISTANCES.len()];
    let also = [1.0, 1.0 + DISTANCES[turn / DISTANCES.len() % DISTANCES.len()]][turn % 2];
    let scales = match kind {
        Kind::Half => {
            let exact = A::real([lhs, rhs, 1.0], pair);
            let half = (exact / out).trunc() + if exact < 0.0 { -0.5 } else { 0.5 };
            [lhs, rhs, exact / half]
        }
        Kind::Power => [lhs, rhs, unit(own) / power(unit(own) / out)],
        Kind::Close if turn % 4 == 3 => {
            let unit = unit(own);
            [lhs, rhs, unit / power(unit / out) * also * near]
        }
        Kind::Close if is_between((kind, turn)) => {
            // With either scale of the operands for both, the pair's result is on another side of a half.
            let (lhs, rhs) = A::alike(lhs, near);
            let exact = A::real([lhs, lhs.midpoint(rhs), 1.0], pair);
            // Single precision tells results of this size apart after the zero point is added, too.
            let middle = (f64::from(LEAST_HALF) + (7 * turn % 32) as f64 + 0.5).copysign(exact);
            // A kernel that rounds twice gives the next result if the first rounding, at the last bit of its shift, gives the half.
            let first = 2f64.powi((unit([lhs, rhs, out]) * middle / exact).log2().floor() as i32);
            let twice = is_product::<A>() && turn / DISTANCES.len() % 2 == 1 && first < 0.5;
            [lhs, rhs, exact / if twice { middle - first.copysign(middle) } else { middle }]
        }
        Kind::Close => {
            let (lhs, rhs) = A::alike(lhs, near);
            let unit = unit([lhs, rhs, out]);
            [lhs, rhs, unit / power(unit / out) * also]
        }
        Kind::Identity => {
            A::identity(own, if turn % 2 == 0 { 1.0 } else { 1.0 + DISTANCES[turn / 2 % DISTANCES.len()] })
        }
        Kind::Below => (0..NEIGHBOURS).find_map(|by| {
            let lhs = next(single(lhs), by);
            let unit = unit([lhs, rhs, out]);
            let least = power(unit / out);
            let out = single(unit / least);
            let gap = 1.0 - unit / (out * least);
            (0.0 < gap && gap < BELOW).then_some([lhs, rhs, out])
        })?,
    };
    scales.iter().all(|scale| scale.is_finite() && *scale > 0.0).then_some(scales)
}

/// Draws `among` pairs. Returns those whose results are nearest to a half and in the type, and a sample of the next nearest.
fn decisive<A: Arithmetic>(params: &Params, [count, among]: [usize; 2], rng: &mut ChaCha8Rng) -> Vec<Pair> {
    let scales = [params.lhs, params.rhs, params.out].map(|operand| operand.scale.0);
    let mut drawn: Vec<(f64, Pair)> = (0..among)
        .map(|_| {
            let pair = (any(params.element, rng), any(params.element, rng));
            let real = A::real(scales, differences(params, pair));
            let away = (real - real.floor() - 0.5).abs();
            (if is_inside(params, real) { away } else { 1.0 + away }, pair)
        })
        .collect();
    let nearer = |one: &(f64, Pair), other: &(f64, Pair)| one.0.total_cmp(&other.0);
    let kept = (count / 2 * (1 + SPREAD)).min(among - 1);
    drawn.select_nth_unstable_by(kept, nearer);
    drawn.truncate(kept);
    drawn.sort_by(nearer);
    drawn.dedup_by_key(|(_, pair)| *pair);
    let nearest = drawn.iter().take(count / 2);
    let near = drawn.iter().skip(count / 2).step_by(SPREAD).take(count / 2);
    nearest.chain(near).map(|(_, pair)| *pair).collect()
}

/// Subtracts the zero points from the stored values of a pair.
fn differences(params: &Params, (lhs, rhs): Pair) -> [f64; 2] {
    [lhs - params.lhs.zero_point, rhs - params.rhs.zero_point].map(f64::from)
}

fn with_points(params: &Params, [lhs, rhs, out]: [i32; 3]) -> Params {
    let of = |operand: Operand, zero_point| Operand { zero_point, ..operand };
    Params { lhs: of(params.lhs, lhs), rhs: of(params.rhs, rhs), out: of(params.out, out), ..*params }
}

fn with_scales(params: &Params, [lhs, rhs, out]: Scales) -> Params {
    let of = |operand: Operand, scale| Operand { scale: Scale(scale), ..operand };
    Params { lhs: of(params.lhs, lhs), rhs: of(params.rhs, rhs), out: of(params.out, out), ..*params }
}

/// Rounds a scale to f32.
fn single(scale: f64) -> f64 {
    f64::from(scale as f32)
}

/// Returns the scale that is `units` f32 units in the last place away.
fn next(scale: f64, units: i32) -> f64 {
    f64::from(f32::from_bits((scale as f32).to_bits().wrapping_add_signed(units)))
}

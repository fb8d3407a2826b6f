//! What additions are tried on: all pairs of 8 bits at directed scales and zero points, a few pairs at many random ones, every length.

use rand_chacha::ChaCha8Rng;
use tiebreak_common::budget::Budget;
use tiebreak_common::stream::{below, int32, stream};
use tiebreak_engine::tensor::Spec;
use tiebreak_engine::tensor::fill::Fill;
use tiebreak_impls::add::{Domain, Operand, Params};
use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::Scale;

/// Scales of both operands and of the result.
const SCALES: [[f32; 3]; 12] = [
    // Quotients that are powers of two: every other sum a tie.
    [0.5, 0.5, 1.0],
    [0.25, 1.0, 0.5],
    // Equal ones.
    [0.1, 0.1, 0.2],
    // Of one magnitude.
    [0.0235, 0.3, 0.31],
    [0.0386, 0.0179, 0.1667],
    // The result saturates.
    [0.05, 0.04, 0.03],
    [0.007, 3.0, 0.02],
    // Far apart.
    [0.001, 1.0, 1.0],
    [0.9, 0.000_06, 0.7],
    [1.0, 0.000_000_01, 1.0],
    // A result far smaller than the operands, and far larger.
    [0.5, 0.3, 0.000_008],
    [0.02, 0.03, 17.0],
];

/// Pairs of a case.
const PAIRS: usize = 4096;
/// Pairs of a case at random parameters.
const FEW: usize = 256;
/// Longest tensor of one pair.
const LENGTHS: usize = 40;

/// The cases of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    let kinds = if budget.sweep { 3 } else { 1 };
    let directed =
        (0..kinds).flat_map(|kind| SCALES.into_iter().enumerate().map(move |(i, s)| (i + 2 * kind, kind, s)));
    for (i, kind, scales) in directed {
        let params = directed_params(domain, scales, i, kind);
        // Unsigned bytes are the same sums moved: at every third of the scales in a short run.
        if domain.element == Element::I8 || budget.every_tail || i % 3 == 0 {
            all_pairs(domain, &params, &mut out);
        }
        // One short case each, so that all of them are held to big rationals.
        lengths(&params, [1 + i % LENGTHS], &mut out);
    }
    let mut rng = stream(seed, "add/parameters");
    for i in 0..budget.random_tensors {
        let params = random_params(domain, &mut rng);
        // One in a quick run, eight in a standard one.
        if i % 64 == 0 {
            all_pairs(domain, &params, &mut out);
        }
        let mut values = || (0..FEW).map(|_| of(domain.element, &mut rng)).collect();
        let fills = [Fill::Given(values()), Fill::Given(values()), Fill::None];
        out.push(Spec { params: Params { len: FEW, ..params }, fills, misalign: i % 16 });
    }
    lengths(&directed_params(domain, SCALES[3], 1, 0), 1..=LENGTHS, &mut out);
    out
}

/// The `i`th zero points and the `kind`th bounds.
fn directed_params(domain: &Domain, [lhs, rhs, out]: [f32; 3], i: usize, kind: usize) -> Params {
    let range = domain.element.range();
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
    let (min, max) = if domain.clamp { bounds[(i + kind) % bounds.len()] } else { (lo, hi) };
    let of = |scale: f32, zero_point| Operand { scale: Scale(scale.into()), zero_point };
    Params { element: domain.element, len: 1, lhs: of(lhs, left), rhs: of(rhs, right), out: of(out, placed), min, max }
}

/// Scales within a factor of 2^9 of the result's, powers of two among them.
fn random_params(domain: &Domain, rng: &mut ChaCha8Rng) -> Params {
    let range = domain.element.range();
    let mut scale = |binades: u32| {
        let significand = if below(rng, 8) == 0 { 0 } else { int32(rng) as u32 >> 9 };
        let exponent = 127 - binades / 2 + below(rng, binades);
        Operand {
            scale: Scale(f32::from_bits(exponent << 23 | significand).into()),
            zero_point: of(domain.element, rng),
        }
    };
    let (lhs, rhs, out) = (scale(9), scale(9), scale(5));
    Params { element: domain.element, len: 1, lhs, rhs, out, min: *range.start(), max: *range.end() }
}

fn of(element: Element, rng: &mut ChaCha8Rng) -> i32 {
    let range = element.range();
    *range.start() + below(rng, range.end().abs_diff(*range.start()) + 1) as i32
}

/// Every pair of stored values, in cases that are small enough to be kept as evidence; of 16 bits those around ends and zero points.
fn all_pairs(domain: &Domain, params: &Params, out: &mut Vec<Spec<Params>>) {
    let range = domain.element.range();
    let around = |centre: i32| (centre - 21..=centre + 21).step_by(3);
    let wide = || {
        let centres = [*range.start(), *range.end(), 0, params.lhs.zero_point, params.rhs.zero_point, 4096];
        let values = centres.into_iter().flat_map(around).filter(|v| range.contains(v));
        values.collect::<Vec<_>>()
    };
    let values: Vec<i32> = if domain.element == Element::I16 { wide() } else { range.clone().collect() };
    let pairs: Vec<(i32, i32)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
    for (i, pairs) in pairs.chunks(PAIRS).enumerate() {
        let (lhs, rhs) = pairs.iter().copied().unzip();
        let params = Params { len: pairs.len(), ..*params };
        out.push(Spec { params, fills: [Fill::Given(lhs), Fill::Given(rhs), Fill::None], misalign: i % 16 });
    }
}

/// The same pair in all of a tensor.
fn lengths(params: &Params, lengths: impl IntoIterator<Item = usize>, out: &mut Vec<Spec<Params>>) {
    for len in lengths {
        let fills = [Fill::Constant(params.lhs.zero_point + 5), Fill::Constant(params.rhs.zero_point - 3), Fill::None];
        out.push(Spec { params: Params { len, ..*params }, fills, misalign: len % 16 });
    }
}

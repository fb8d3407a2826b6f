//! What multiplications are tried on: all pairs of 8 bits at directed scales and zero points, a few pairs at many random ones, every length.

use crate::elementwise::plan::{self, all_pairs, lengths, random, stored};
use tiebreak_common::budget::Budget;
use tiebreak_common::stream::stream;
use tiebreak_engine::tensor::Spec;
use tiebreak_engine::tensor::fill::Fill;
use tiebreak_impls::element::Element;
use tiebreak_impls::mul::{Domain, Operand, Params};
use tiebreak_impls::quantized::Scale;

/// Scales of both operands and of the result.
const SCALES: [[f32; 3]; 12] = [
    // Quotients that are powers of two: many products are ties.
    [0.5, 0.5, 1.0],
    [0.25, 0.125, 0.5],
    // Of one magnitude.
    [0.0235, 0.3, 0.31],
    [0.0386, 0.0179, 0.05],
    // The whole range of the result, and a result that saturates.
    [0.007, 0.008, 0.0035],
    [0.1, 0.1, 0.01],
    // A quotient that is a half in float and just below it exactly, and one whose product of scales rounds in f32.
    [0.1, 0.1, 0.020_000_001],
    [0.333_333_34, 0.142_857_15, 11.3],
    // Few results but 0, the smallest quotient that XNNPACK takes and one below it.
    [0.001, 0.002, 0.1],
    [0.003_906_25, 0.003_906_25, 1.0],
    [0.003, 0.003, 1.0],
    // A left shift.
    [3.0, 5.0, 0.7],
];

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
        let params = taken(plan::directed(domain.element, domain.clamp, scales, (i, kind)));
        // Unsigned bytes are the same products moved: at every third of the scales in a short run.
        if domain.element == Element::I8 || budget.every_tail || i % 3 == 0 {
            all_pairs(&params, &mut out);
        }
        // One short case each, so that all of them are held to big rationals.
        lengths(&params, [1 + i % LENGTHS], &mut out);
    }
    let mut rng = stream(seed, "mul/parameters");
    for i in 0..budget.random_tensors {
        let mut params = random(domain.element, &mut rng);
        // Products of 8 bits are as large as results where the quotient is about 2^-7.
        params.out = times(params.out, 128.0);
        let params = taken(params);
        // One in a quick run, eight in a standard one.
        if i % 64 == 0 {
            all_pairs(&params, &mut out);
        }
        let mut values = || stored(domain.element, FEW, &mut rng);
        let fills = [Fill::Given(values()), Fill::Given(values()), Fill::None];
        out.push(Spec { params: Params { len: FEW, ..params }, fills, misalign: i % 16 });
    }
    let params = taken(plan::directed(domain.element, domain.clamp, SCALES[2], (1, 0)));
    lengths(&params, 1..=LENGTHS, &mut out);
    out
}

/// The parameters; those of 16 bits with zero points of 0, which they must have, and with products 2^8 times as large for results as large.
fn taken(params: Params) -> Params {
    if params.element != Element::I16 {
        return params;
    }
    let unplaced = |operand: Operand| Operand { zero_point: 0, ..operand };
    let out = times(unplaced(params.out), 256.0);
    Params { lhs: unplaced(params.lhs), rhs: unplaced(params.rhs), out, ..params }
}

fn times(operand: Operand, factor: f64) -> Operand {
    Operand { scale: Scale(operand.scale.0 * factor), ..operand }
}

//! What additions are tried on: all pairs of 8 bits at directed scales and zero points, a few pairs at many random ones, every length.

use crate::elementwise::plan::{self, all_pairs, lengths, random, stored};
use tiebreak_common::budget::Budget;
use tiebreak_common::stream::stream;
use tiebreak_engine::tensor::Spec;
use tiebreak_engine::tensor::fill::Fill;
use tiebreak_impls::add::{Domain, Params};
use tiebreak_impls::element::Element;

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
        let params = plan::directed(domain.element, domain.clamp, scales, (i, kind));
        // Unsigned bytes are the same sums moved: at every third of the scales in a short run.
        if domain.element == Element::I8 || budget.every_tail || i % 3 == 0 {
            all_pairs(&params, &mut out);
        }
        // One short case each, so that all of them are held to big rationals.
        lengths(&params, [1 + i % LENGTHS], &mut out);
    }
    let mut rng = stream(seed, "add/parameters");
    for i in 0..budget.random_tensors {
        let params = random(domain.element, &mut rng);
        // One in a quick run, eight in a standard one.
        if i % 64 == 0 {
            all_pairs(&params, &mut out);
        }
        let mut values = || stored(domain.element, FEW, &mut rng);
        let fills = [Fill::Given(values()), Fill::Given(values()), Fill::None];
        out.push(Spec { params: Params { len: FEW, ..params }, fills, misalign: i % 16 });
    }
    lengths(&plan::directed(domain.element, domain.clamp, SCALES[3], (1, 0)), 1..=LENGTHS, &mut out);
    out
}

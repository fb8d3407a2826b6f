//! What additions are tried on: directed scales, and random ones of which the operands' are within 2^4 of a common one.

use crate::elementwise::plan::{self, Own};
use tiebreak_common::budget::Budget;
use tiebreak_engine::tensor::Spec;
use tiebreak_impls::add::{Domain, Params};

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

const OWN: Own = Own {
    op: "add",
    scales: SCALES,
    taken: |params| params,
    binades: |between| {
        let common = between(-14, 3);
        [common + between(-4, 4), common + between(-4, 4), common + between(-2, 2)]
    },
};

/// The cases of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    plan::plan(&OWN, domain.element, domain.clamp, budget, seed)
}

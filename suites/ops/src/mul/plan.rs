//! What multiplications are tried on: directed scales, and random ones of which the result's is large enough for some of the products.

use crate::elementwise::plan::{self, Own};
use tiebreak_common::budget::Budget;
use tiebreak_engine::tensor::Spec;
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

const OWN: Own = Own {
    op: "mul",
    scales: SCALES,
    taken,
    binades: |between| {
        let (lhs, rhs) = (between(-12, 3), between(-12, 3));
        // Products of 8 bits are as large as results where the quotient is about 2^-7.
        [lhs, rhs, lhs + rhs + between(2, 11)]
    },
};

/// The cases of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    plan::plan(&OWN, domain.element, domain.clamp, budget, seed)
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

//! What a kernel of weights of 4 bits, two to a byte, may do otherwise: the halves of a byte in the other order, and rows that begin at a byte of their own.

use super::Matmul;
use tiebreak_common::class::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::matmul::Params;
use tiebreak_oracle::matmul::Scheme;

/// Every cause, in the order of preference.
pub(super) fn changes(base: Scheme) -> Vec<Change<Matmul>> {
    let reads = |because: &'static str, place: fn(usize, usize) -> usize| {
        Change::of_case(Class::Layout, because, base, move |case: &mut Case<Params>| {
            let (n, weights) = (case.params.n, case.tensors[1].clone());
            // The half of the last byte that has no weight is 0, and so is what lies beyond.
            let read = |at: usize| weights.get(place(at, n)).copied().unwrap_or(0);
            case.tensors[1] = (0..weights.len()).map(read).collect();
        })
    };
    vec![
        reads("the halves of a byte are read in the other order", |at, _| at ^ 1),
        reads("each row of weights is read from a byte of its own", |at, n| at / n * n.next_multiple_of(2) + at % n),
    ]
}

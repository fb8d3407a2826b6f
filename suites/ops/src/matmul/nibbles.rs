//! Changes that a kernel of 4-bit weights, two to a byte, may make: exchanged halves of a byte, and rows that begin at byte boundaries.

use super::Matmul;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::matmul::Params;
use tiebreak_oracle::matmul::Scheme;

/// Returns every change, in the order of preference.
pub(super) fn changes(base: Scheme) -> Vec<Change<Matmul>> {
    let reads = |because: &'static str, place: fn(usize, usize) -> usize| {
        Change::of_case(Class::Layout, because, base, move |case: &mut Case<Params>| {
            let (n, weights) = (case.params.n, case.tensors[1].clone());
            // The unused half of the last byte is 0, and so is everything after it.
            let read = |at: usize| weights.get(place(at, n)).copied().unwrap_or(0);
            case.tensors[1] = (0..weights.len()).map(read).collect();
        })
    };
    vec![
        reads("the halves of a byte are read in the other order", |at, _| at ^ 1),
        reads("each row of weights is read from a byte of its own", |at, n| at / n * n.next_multiple_of(2) + at % n),
    ]
}

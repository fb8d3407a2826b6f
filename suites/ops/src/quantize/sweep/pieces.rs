//! Partition of all patterns of a float type at the boundaries of several schemes.

use tiebreak_common::Class;
use tiebreak_oracle::quantize::{Quantization, Runs, Scheme, Stored};

/// Consecutive patterns on which each scheme gives a single result.
pub(super) struct Piece {
    pub(super) first: u64,
    pub(super) contract: Stored,
    pub(super) reference: Stored,
    /// Class of the difference between contract and reference.
    pub(super) class: Option<Class>,
}

/// Returns the pieces of all patterns of a format, in order. `path` has the schemes from the reference to the contract, each with its class.
pub(super) fn pieces(
    q: &Quantization,
    contract: &Scheme,
    reference: &Scheme,
    path: &[(Class, Scheme)],
) -> Option<Vec<Piece>> {
    let runs = |scheme: &Scheme| Runs::new(scheme, q).ok();
    let (of_contract, of_reference) = (runs(contract)?, runs(reference)?);
    let of_path: Vec<(Class, Runs)> = path.iter().filter_map(|(class, scheme)| Some((*class, runs(scheme)?))).collect();
    let all = 1u64 << q.format.bits();
    let mut firsts: Vec<u64> = [&of_contract, &of_reference]
        .into_iter()
        .chain(of_path.iter().map(|(_, runs)| runs))
        .flat_map(|runs| runs.patterns(0, all).map(|(first, ..)| first))
        .collect();
    firsts.sort_unstable();
    firsts.dedup();
    let piece = |first: u64| {
        let (contract, reference) = (of_contract.of(first), of_reference.of(first));
        let due = of_path.iter().find(|(_, runs)| runs.of(first) == contract && contract != reference);
        Piece { first, contract, reference, class: due.map(|(class, _)| *class) }
    };
    Some(firsts.into_iter().map(piece).collect())
}

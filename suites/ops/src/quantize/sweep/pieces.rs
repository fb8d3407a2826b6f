//! All patterns of a float type, cut where a scheme concerned changes its result.

use super::super::path::path;
use tiebreak_common::class::Class;
use tiebreak_impls::quantized::{Container, Expressed, Granularity, Params, Quantized, Storage};
use tiebreak_oracle::quantize::{Quantization, Runs, Scheme, Stored};

/// Consecutive patterns on which every scheme concerned gives one result.
pub(super) struct Piece {
    pub(super) first: u64,
    pub(super) contract: Stored,
    pub(super) reference: Stored,
    /// What a difference between the two is due to.
    pub(super) class: Option<Class>,
}

/// The pieces of all patterns of a format, in their order.
pub(super) fn pieces(q: &Quantization, contract: &Scheme, reference: &Scheme) -> Option<Vec<Piece>> {
    let path = path(contract, reference);
    let runs = |scheme: &Scheme| Runs::new(scheme, q).ok();
    let (of_contract, of_reference) = (runs(contract)?, runs(reference)?);
    let of_path: Vec<(Class, Runs)> = {
        let p = Params { quantized: placeholder(q), container: Container::Ranked, shape: vec![1] };
        path.iter().filter_map(|step| Some((step.class(&p), runs(step.scheme()?)?))).collect()
    };
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

/// A type of the same expressed type, for naming classes.
fn placeholder(q: &Quantization) -> Quantized {
    let expressed = Expressed::ALL.into_iter().find(|e| crate::quantized::format(*e) == q.format);
    Quantized {
        storage: Storage { bits: q.storage.bits, signed: q.storage.signed },
        min: q.min,
        max: q.max,
        expressed: expressed.unwrap_or(Expressed::F32),
        granularity: Granularity::Layer,
        scales: Vec::new(),
        zero_points: Vec::new(),
    }
}

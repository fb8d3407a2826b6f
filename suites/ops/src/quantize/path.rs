//! How the reference becomes the scheme of a contract, one change at a time: what each difference from the reference is due to.

use super::Quantize;
use super::parts::{Change, Parts};
use tiebreak_engine::tensor::PathStep;
use tiebreak_impls::quantized::Params;
use tiebreak_oracle::quantize::Scheme;

/// The path from a reference to a contract.
pub(super) fn path(contract: &Scheme, reference: &Scheme) -> Vec<PathStep<Quantize>> {
    let known = [contract, reference].map(|scheme| Parts::of(scheme.definition.steps));
    let [Some(to), Some(from)] = known else { return Vec::new() };
    let step = |change: Change| {
        let scheme = if change.to == to { Some(*contract) } else { change.to.scheme() };
        Some(PathStep::new(move |p: &Params| change.class(p.quantized.expressed), scheme?))
    };
    from.path(to).into_iter().filter_map(step).collect()
}

/// The contract's steps with the rounding of the reference, and saturation: what the format alone costs. Nothing where the contract
/// rounds so by itself.
pub(super) fn ideal_steps(contract: &Scheme, reference: &Scheme) -> Option<Scheme> {
    let (to, from) = (Parts::of(contract.definition.steps)?, Parts::of(reference.definition.steps)?);
    let other = to.steps && !to.after && to.rule != from.rule;
    Parts { rule: from.rule, ..to }.scheme().filter(|_| other)
}

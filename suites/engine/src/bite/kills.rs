//! The kill matrix: which generator of a plan shows which known bug.

use super::{Measure, Planned, planned};
use crate::tensor::judge::run;
use crate::tensor::{Operation, self_check};
use anyhow::Result;
use rayon::prelude::*;
use tiebreak_impls::mutants::tensor::Mutant;
use tiebreak_reports::bite::Kill;

/// Every mutant that the lane offers.
pub fn matrix<O: Operation>(measure: &Measure<'_>) -> Result<Vec<Kill>> {
    let compiled = measure.lane.is_compiled();
    let offered = |mutant: &&Mutant<O::Run, O::Domain>| {
        O::compiled(&mutant.kernel.contract.domain) == compiled
            && measure.lane.isa_path(O::OP, mutant.kernel.name).is_some()
    };
    O::mutants().par_iter().filter(offered).map(|mutant| kill::<O>(mutant, measure)).collect()
}

/// Runs the whole plan on one mutant.
fn kill<O: Operation>(mutant: &Mutant<O::Run, O::Domain>, measure: &Measure<'_>) -> Result<Kill> {
    let scheme = O::contract(&mutant.kernel)?;
    let cases = planned::<O>(&mutant.kernel, &scheme, measure)?;
    let (mut first, mut generators) = (None, Vec::<String>::new());
    for (i, Planned { generator, posed }) in cases.iter().enumerate() {
        // What another case of the generator has shown needs no further one.
        if generators.iter().any(|known| known == generator) {
            continue;
        }
        let record = run::<O>(measure.lane, &mutant.kernel, &scheme, &[], std::slice::from_ref(posed));
        if record.contract.count.differ > 0 {
            generators.push((*generator).to_owned());
            first.get_or_insert((i as u64 + 1, (*generator).to_owned()));
        }
    }
    let seen = self_check::check::<O>(mutant, measure.lane, measure.seed)?.seen;
    Ok(Kill {
        op: O::OP.to_owned(),
        mutant: mutant.kernel.name.to_owned(),
        lane: measure.lane.name.clone(),
        class: mutant.class.to_owned(),
        cases: first.as_ref().map_or(cases.len() as u64, |(cases, _)| *cases),
        generator: first.map(|(_, generator)| generator),
        generators,
        witness: seen,
    })
}

//! Kill matrix: the generators of a plan that detect each known bug.

use crate::erased::{Mutant, Op};
use crate::judge::record::run;
use crate::self_check::{Measure, Planned, mutants as self_check, planned};
use anyhow::Result;
use std::cell::RefCell;
use tiebreak_common::parallel;
use tiebreak_reports::bite::Kill;

/// Runs every mutant that the lane offers.
pub fn matrix(op: Op, measure: &Measure<'_>) -> Result<Vec<Kill>> {
    let compiled = measure.lane.is_compiled();
    let offered = |mutant: &&Mutant| {
        mutant.kernel.contract.domain.is_compiled() == compiled
            && measure.lane.isa_path(op.name(), mutant.kernel.name).is_some()
    };
    let offered: Vec<_> = op.mutants().iter().filter(offered).collect();
    parallel::try_map(&offered, |mutant| kill(mutant, measure))
}

/// Runs the whole plan on a mutant.
fn kill(mutant: &Mutant, measure: &Measure<'_>) -> Result<Kill> {
    let scheme = mutant.kernel.scheme()?;
    let generators = RefCell::new(Vec::<String>::new());
    // A generator that has detected the mutant needs no further case.
    let wanted = |generator: &str| !generators.borrow().iter().any(|known| known == generator);
    let (mut first, mut run_so_far) = (None, 0);
    for planned in planned(&mutant.kernel, &scheme, measure, wanted) {
        let Planned { generator, expected_case } = planned?;
        run_so_far += 1;
        let record = run(measure.lane, &mutant.kernel, &scheme, &[], &[expected_case]);
        if record.contract.count.differ > 0 {
            generators.borrow_mut().push(generator.to_owned());
            first.get_or_insert((run_so_far, generator.to_owned()));
        }
    }
    let generators = generators.take();
    let seen = self_check::check(mutant, measure.lane, measure.seed)?.seen;
    Ok(Kill {
        op: mutant.kernel.op().name().to_owned(),
        mutant: mutant.kernel.name.to_owned(),
        lane: measure.lane.name.clone(),
        class: mutant.class.to_owned(),
        cases: first.as_ref().map_or(run_so_far, |(cases, _)| *cases),
        generator: first.map(|(_, generator)| generator),
        generators,
        witness: seen,
    })
}

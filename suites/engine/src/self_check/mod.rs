//! Measurement of a run's detection: known bugs by generator, and faults injected into the answers of a lane at one place only.

pub mod condition;
pub mod families;
pub mod fault_spans;
pub mod history;
pub mod joint;
pub mod kills;
pub mod mutants;
pub mod planted;
pub mod slices;

use crate::erased::{Kernel, Params, Scheme};
use crate::lane::Lane;
use crate::operation::case::Spec;
use crate::operation::selection::CaseSelection;
use crate::plan::plans;
use crate::run::subject::ExpectedCase;
use anyhow::{Result, anyhow};
use tiebreak_common::budget::Effort;

/// Inputs of a measurement.
#[derive(Clone, Copy)]
pub struct Measure<'a> {
    /// Lane of the kernels.
    pub lane: &'a Lane,
    /// Effort of the plan.
    pub effort: Effort,
    /// Seed of the plan, and of the faults.
    pub seed: u64,
    /// Number of faults of each kind and threshold in each kernel.
    pub sample: u32,
}

/// Case of a plan, with the generator.
struct Planned {
    generator: &'static str,
    expected_case: ExpectedCase,
}

/// Returns the cases of a kernel's plan with their expected results, for generators `wanted` when their turn comes. Fails if the scheme refuses a
/// case.
fn planned<'a>(
    kernel: &'a Kernel,
    scheme: &'a Scheme,
    measure: &'a Measure<'_>,
    wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Result<Planned>> + 'a {
    let domain = &kernel.contract.domain;
    let specs = plans::whole(domain, &CaseSelection::default(), &measure.effort.budget(), measure.seed);
    let place = plans::place(kernel.op(), kernel.name);
    let due = move |spec: &Spec<Params>| place.is_none_or(|place| spec.turn.is_of(place));
    let covered = specs.into_iter().filter(move |spec| due(spec) && domain.covers(&spec.params));
    covered.filter(move |spec| wanted(spec.generator)).filter_map(move |spec| {
        let case = spec.case(domain, measure.seed)?;
        let contract =
            scheme.expected(&case).map_err(|reason| anyhow!("{} {}: {reason}", kernel.op().name(), kernel.name));
        let expected_case = |contract| ExpectedCase::new(case, contract, None);
        Some(contract.map(|contract| Planned { generator: spec.generator, expected_case: expected_case(contract) }))
    })
}

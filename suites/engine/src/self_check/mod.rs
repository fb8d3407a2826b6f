//! What a run catches, measured: known bugs by the part of the plan that shows them, and faults that strike in one place only, planted in what a lane answers.

pub mod families;
pub mod history;
pub mod joint;
pub mod kills;
pub mod mutants;
pub mod place;
pub mod planted;
pub mod slices;
pub mod spanned;

use crate::lane::Lane;
use crate::operation::asked::Asked;
use crate::operation::case::Spec;
use crate::operation::{Kernel, Operation};
use crate::plan::plans;
use crate::run::subject::Posed;
use anyhow::{Result, anyhow};
use tiebreak_common::budget::Effort;

/// What is measured.
#[derive(Clone, Copy)]
pub struct Measure<'a> {
    /// Where kernels run.
    pub lane: &'a Lane,
    /// The plan whose cases are run.
    pub effort: Effort,
    /// Seed of the plan, and of the faults.
    pub seed: u64,
    /// Faults of each kind and threshold in each kernel.
    pub sample: u32,
}

/// A case of a plan with what made it.
struct Planned<P> {
    generator: &'static str,
    posed: Posed<P>,
}

/// The cases of a kernel's plan, with what the scheme of its contract expects, but for those of generators that are not wanted when their turn
/// comes; an error where the scheme refuses one, as in a run.
fn planned<'a, O: Operation>(
    kernel: &'a Kernel<O>,
    scheme: &'a O::Scheme,
    measure: &'a Measure<'_>,
    wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Result<Planned<O::Params>>> + 'a {
    let domain = &kernel.contract.domain;
    let specs = plans::whole::<O>(domain, &Asked::default(), &measure.effort.budget(), measure.seed);
    let place = plans::place::<O>(kernel.name);
    let due = move |spec: &Spec<O::Params>| place.is_none_or(|place| spec.turn.is_of(place));
    let covered = specs.into_iter().filter(move |spec| due(spec) && O::covers(domain, &spec.params));
    covered.filter(move |spec| wanted(spec.generator)).filter_map(move |spec| {
        let case = spec.case::<O>(domain, measure.seed)?;
        let contract = O::expected(scheme, &case).map_err(|reason| anyhow!("{} {}: {reason}", O::OP, kernel.name));
        let posed = |contract| Posed::new(case, contract, None);
        Some(contract.map(|contract| Planned { generator: spec.generator, posed: posed(contract) }))
    })
}

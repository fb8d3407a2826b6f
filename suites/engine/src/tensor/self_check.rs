//! The harness checking itself on a tensor operation: every mutant must die with its class.

use super::explain::explain;
use super::judge::{Posed, Record, run};
use super::shrink::{Shown, shrink};
use super::{Asked, Operation, promise};
use crate::lane::Lane;
use crate::verify::line;
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::mutants::tensor::Mutant;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::{CheckKind, SelfCheck};

/// Runs the plan of a quick run; beside what was seen, how many of its cases could not be posed.
pub fn planned<O: Operation>(
    kernel: &Kernel<O::Run, O::Domain>,
    scheme: &O::Scheme,
    lane: &Lane,
    seed: u64,
) -> (Record<O::Params>, usize) {
    let domain = &kernel.contract.domain;
    let specs = O::plan(domain, &Asked::default(), &Effort::Quick.budget(), seed);
    let posed: Vec<Posed<O::Params>> = specs
        .iter()
        .enumerate()
        .filter_map(|(i, spec)| spec.case::<O>(domain, seed, i))
        .filter_map(|case| Some(Posed { contract: O::expected(scheme, &case).ok()?, case, reference: None }))
        .collect();
    (run::<O>(lane, kernel, scheme, &[], &posed), specs.len() - posed.len())
}

/// Runs a mutant in `lane`.
pub fn check<O: Operation>(
    mutant: &Mutant<O::Run, O::Domain>,
    lane: &Lane,
    seed: u64,
) -> Result<SelfCheck, UnknownName> {
    let (kernel, domain) = (&mutant.kernel, &mutant.kernel.contract.domain);
    let (scheme, expected) = (promise::<O>(kernel)?, mutant.class.parse::<Class>()?);
    let (record, lost) = planned::<O>(kernel, &scheme, lane, seed);
    let causes = O::causes(&scheme, domain);
    let side = &record.contract;
    let (seen, passed) = match (side.smallest(), record.failures.first()) {
        _ if lost > 0 => (format!("{lost} cases of its plan cannot be posed"), false),
        (_, Some(failed)) => (failed.failure.to_string(), false),
        (None, None) => (format!("alive after {} results", side.count.inputs), false),
        (Some(first), None) => {
            let explanation = explain(&causes, &side.evidence());
            let shown = Shown {
                kernel: kernel.name,
                made: None,
                domain,
                scheme: &scheme,
                causes: &causes,
                class: explanation.class,
                types: &[],
            };
            let text = shrink(&shown, lane, first).map_or_else(
                || format!("{} results differ, class {}", side.count.differ, explanation.class),
                |witness| line::<O>(domain, &witness, &O::label(&scheme), explanation.class),
            );
            (text, explanation.class == expected)
        }
    };
    Ok(SelfCheck {
        op: O::OP.to_owned(),
        name: kernel.name.to_owned(),
        lane: lane.name.clone(),
        kind: CheckKind::Mutant,
        passed,
        expected_class: mutant.class.to_owned(),
        seen,
        origin: mutant.origin.to_owned(),
    })
}

//! A kernel through all stages, from the plan to the ledger.

use crate::explain::explained;
use crate::judge::record::Record;
use crate::judge::{Judged, judged};
use crate::lane::Lane;
use crate::ledger::coverage::not_run;
use crate::ledger::section::LedgerSection;
use crate::ledger::{add, agreed};
use crate::operation::request::Request;
use crate::operation::{Kernel, Operation, is_compiled, is_elsewhere};
use crate::plan::planned::Planned;
use crate::run::subject::Subject;
use anyhow::{Result, bail};
use tiebreak_reports::ledger::OutsideDomain;

/// Runs a kernel in every lane that has it: requested cases or the plan's, and sweeps.
pub(crate) fn one_kernel<O: Operation>(
    request: &Request,
    kernel: &'static Kernel<O>,
    lanes: &[Lane],
) -> Result<LedgerSection> {
    let subject = Subject::<O>::new(request, kernel)?;
    let domain = &kernel.contract.domain;
    let mut section = LedgerSection::default();
    let may_have = |lane: &&Lane| !is_elsewhere::<O>(kernel) || lane.isa_path(O::OP, kernel.name).is_some();
    let fits = |lane: &&Lane| lane.is_compiled() == is_compiled::<O>(domain) && may_have(lane);
    let fitting: Vec<&Lane> = lanes.iter().filter(fits).collect();
    if fitting.is_empty() && !lanes.is_empty() {
        return Ok(no_lane::<O>(request, kernel));
    }
    let planned = match Planned::<O>::new(request, kernel) {
        Ok(planned) => planned,
        Err(error) => {
            let reason = error.to_string();
            return Ok(outside::<O>(&Planned::refused(&request.selection.cases, &reason), kernel, &fitting, reason));
        }
    };
    let Planned { specs, .. } = &planned;
    if specs.is_empty() {
        if request.selection.is_nothing() {
            bail!("{} {}: nothing in the plan is in its domain", O::OP, kernel.name);
        }
        return Ok(outside::<O>(&planned, kernel, &fitting, O::domain_text(domain)));
    }
    let (offering, others): (Vec<&Lane>, Vec<&Lane>) =
        fitting.into_iter().partition(|lane| lane.isa_path(O::OP, kernel.name).is_some());
    // A lane with only its own kernels stands for another library, which need not have the kernels of this project.
    for lane in others.into_iter().filter(|lane| !request.kernels.is_empty() || !lane.is_of_own_names()) {
        planned.not_offered(kernel, lane, &mut section);
    }
    if offering.is_empty() {
        return Ok(section);
    }
    let Judged { lanes, agreements, positions } = judged(request, &subject, &planned, &offering)?;
    let explained = explained(request, &subject, &planned.specs, &lanes, &agreements)?;
    section.positions = positions;
    section.agreements = agreed::rows(request, kernel, &agreements, explained.agreements);
    for (judged, explained) in lanes.iter().zip(&explained.lanes) {
        add(request, &subject, &planned, judged, explained, &mut section);
    }
    Ok(section)
}

/// Describes the lanes for a kernel that no lane of a run can have.
fn elsewhere<O: Operation>(domain: &O::Domain) -> String {
    if is_compiled::<O>(domain) {
        "only lanes of compiled modules have it, such as --lane mlir-x86".to_owned()
    } else {
        "lanes of compiled modules have no kernels but their own".to_owned()
    }
}

/// Lists a kernel whose domain has no requested case.
fn outside<O: Operation>(planned: &Planned<O>, kernel: &Kernel<O>, lanes: &[&Lane], domain: String) -> LedgerSection {
    let mut section = LedgerSection::default();
    lanes.iter().for_each(|lane| planned.ran(kernel, lane, &Record::<O::Params>::default(), &mut section));
    section.outside_domain = vec![OutsideDomain { op: O::OP.to_owned(), kernel: kernel.name.to_owned(), domain }];
    section
}

/// Lists a kernel that no lane of the run can have; a finding if the caller named the kernel.
fn no_lane<O: Operation>(request: &Request, kernel: &Kernel<O>) -> LedgerSection {
    let reason = elsewhere::<O>(&kernel.contract.domain);
    let mut section = LedgerSection::default();
    if !request.kernels.is_empty() {
        section.findings.push(not_run(O::OP, kernel.name, &reason));
    }
    let (op, kernel) = (O::OP.to_owned(), kernel.name.to_owned());
    section.outside_domain.push(OutsideDomain { op, kernel, domain: reason });
    section
}

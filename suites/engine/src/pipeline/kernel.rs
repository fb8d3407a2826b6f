//! A kernel through all stages, from the plan to the ledger.

use crate::erased::{Domain, Kernel};
use crate::explain::explained;
use crate::judge::record::Record;
use crate::judge::{Judged, judged};
use crate::lane::Lane;
use crate::ledger::coverage::not_run;
use crate::ledger::section::LedgerSection;
use crate::ledger::{add, agreed};
use crate::operation::request::Request;
use crate::plan::planned::Planned;
use crate::run::subject::Subject;
use anyhow::{Result, bail};
use tiebreak_reports::ledger::OutsideDomain;

/// Runs a kernel in every lane that has it: requested cases or the plan's, and sweeps.
pub(crate) fn one_kernel(request: &Request, kernel: &'static Kernel, lanes: &[Lane]) -> Result<LedgerSection> {
    let subject = Subject::new(request, kernel)?;
    let domain = &kernel.contract.domain;
    let mut section = LedgerSection::default();
    let may_have = |lane: &&Lane| !kernel.is_elsewhere() || lane.isa_path(kernel.op().name(), kernel.name).is_some();
    let fits = |lane: &&Lane| lane.is_compiled() == domain.is_compiled() && may_have(lane);
    let fitting: Vec<&Lane> = lanes.iter().filter(fits).collect();
    if fitting.is_empty() && !lanes.is_empty() {
        return Ok(no_lane(request, kernel));
    }
    let planned = match Planned::new(request, kernel) {
        Ok(planned) => planned,
        Err(error) => {
            let reason = error.to_string();
            return Ok(outside(&Planned::refused(&request.selection.cases, &reason), kernel, &fitting, reason));
        }
    };
    let Planned { specs, .. } = &planned;
    if specs.is_empty() {
        if request.selection.is_nothing() {
            bail!("{} {}: nothing in the plan is in its domain", kernel.op().name(), kernel.name);
        }
        return Ok(outside(&planned, kernel, &fitting, domain.text()));
    }
    let (offering, others): (Vec<&Lane>, Vec<&Lane>) =
        fitting.into_iter().partition(|lane| lane.isa_path(kernel.op().name(), kernel.name).is_some());
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
fn elsewhere(domain: &Domain) -> String {
    if domain.is_compiled() {
        "only lanes of compiled modules have it, such as --lane mlir-x86".to_owned()
    } else {
        "lanes of compiled modules have no kernels but their own".to_owned()
    }
}

/// Lists a kernel whose domain has no requested case.
fn outside(planned: &Planned, kernel: &Kernel, lanes: &[&Lane], domain: String) -> LedgerSection {
    let mut section = LedgerSection::default();
    lanes.iter().for_each(|lane| planned.ran(kernel, lane, &Record::default(), &mut section));
    section.outside_domain =
        vec![OutsideDomain { op: kernel.op().name().to_owned(), kernel: kernel.name.to_owned(), domain }];
    section
}

/// Lists a kernel that no lane of the run can have; a finding if the caller named the kernel.
fn no_lane(request: &Request, kernel: &Kernel) -> LedgerSection {
    let reason = elsewhere(&kernel.contract.domain);
    let mut section = LedgerSection::default();
    if !request.kernels.is_empty() {
        section.findings.push(not_run(kernel.op().name(), kernel.name, &reason));
    }
    let (op, kernel) = (kernel.op().name().to_owned(), kernel.name.to_owned());
    section.outside_domain.push(OutsideDomain { op, kernel, domain: reason });
    section
}

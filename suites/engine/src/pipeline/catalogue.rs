//! Cases of a corner catalogue, on the kernels that take them.

use crate::activity::doing;
use crate::case::{catalogue, text};
use crate::erased::{Kernel, Op, Params};
use crate::explain::sides as explain_record;
use crate::judge::record::run;
use crate::lane::Lane;
use crate::ledger::catalogued::{Catalogued, InLanes};
use crate::ledger::record;
use crate::ledger::section::LedgerSection;
use crate::operation::case::{Case, Spec};
use crate::operation::request::Request;
use crate::run::subject::Subject;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use tiebreak_common::parallel;
use tiebreak_reports::ledger::{CatalogueRun, Finding};

/// Sums the outcomes of all kernels for the catalogue run of each lane: counts and findings.
pub(crate) fn totals(op: Op, lanes: &[String], each: &[&InLanes]) -> Result<LedgerSection> {
    let entries = entries(op)?;
    let mut section = LedgerSection::default();
    for (at, lane) in lanes.iter().enumerate() {
        let (op, lane, cases) = (op.name().to_owned(), lane.clone(), entries.len() as u64);
        let mut total = CatalogueRun { op, lane, cases, not_taken: 0, judged: 0, broken: 0, unanswered: 0 };
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for seen in each.iter().filter_map(|lanes| lanes[at].as_ref()) {
            taken.extend(&seen.taken);
            total.judged += seen.counts[0];
            total.broken += seen.counts[1];
            total.unanswered += seen.counts[2];
            section.findings.extend(seen.findings.iter().cloned());
        }
        total.not_taken = total.cases - taken.len() as u64;
        section.catalogue.push(total);
    }
    Ok(section)
}

/// Runs the catalogue's cases on the kernels that take them. Kernels run in parallel, because the cases are few and some are large; all lanes share a
/// case.
pub(crate) fn run_catalogue(
    op: Op,
    request: &Request,
    kernels: &[&'static Kernel],
    lanes: &[Lane],
) -> Result<Vec<InLanes>> {
    let entries = entries(op)?;
    parallel::try_map(kernels, |kernel| catalogued(request, kernel, lanes, &entries))
}

/// Parses the entries of an operation's catalogue.
pub(crate) fn entries(op: Op) -> Result<Vec<catalogue::Entry>> {
    catalogue::read(op, op.catalogue()).with_context(|| format!("suites/ops/catalogue/{}.txt", op.name()))
}

/// Runs the catalogue's cases on a kernel, in each lane that has the kernel.
pub(crate) fn catalogued(
    request: &Request,
    kernel: &'static Kernel,
    lanes: &[Lane],
    entries: &[catalogue::Entry],
) -> Result<InLanes> {
    let offers = |lane: &Lane| lane.isa_path(kernel.op().name(), kernel.name).is_some();
    if !lanes.iter().any(offers) {
        return Ok(lanes.iter().map(|_| None).collect());
    }
    let _doing = doing(|| format!("{} {}: the catalogue's cases", kernel.op().name(), kernel.name));
    let subject = Subject::new(request, kernel)?;
    let domain = &kernel.contract.domain;
    let cases = entries.iter().map(|entry| text::parse(&entry.case, domain).ok());
    let covered = |case: &Case<Params>| domain.covers(&case.params);
    let cases: Vec<_> = cases.enumerate().filter_map(|(at, case)| Some((at, case.filter(covered)?))).collect();
    let taken: Vec<usize> = cases.iter().map(|(at, _)| *at).collect();
    let cases: Vec<_> = cases.into_iter().map(|(_, case)| subject.expect_case(case)).collect::<Result<_>>()?;
    let specs: Vec<_> =
        cases.iter().map(|expected_case| Arc::new(Spec::given((*expected_case.case).clone()))).collect();
    let in_lane = |lane: &Lane| {
        let record = run(lane, kernel, &subject.contract, &subject.path, &cases);
        let counts = [record.contract.count.inputs, record.contract.count.differ, record.unanswered];
        let sides = explain_record::record(request, &subject, lane, (&record, &specs));
        let mut found = LedgerSection::default();
        record::add(request, &subject, lane, (&record, !specs.is_empty()), &sides, &mut found);
        let said = |f: Finding| Finding { message: format!("in the catalogue: {}", f.message), ..f };
        Catalogued { taken: taken.clone(), counts, findings: found.findings.into_iter().map(said).collect() }
    };
    Ok(lanes.iter().map(|lane| offers(lane).then(|| in_lane(lane))).collect())
}

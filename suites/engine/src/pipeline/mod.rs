//! An operation through all stages: catalogue, cases of the plan or of the caller, sweeps, and self-checks.

pub mod catalogue;
pub mod kernel;
pub mod listing;

use crate::activity::doing;
use crate::case::text;
use crate::erased::{self, Kernel, Op, Params};
use crate::identify::{Identified, identify};
use crate::lane::Lane;
use crate::ledger::partial_run::{PartialRun, go_on};
use crate::ledger::place::failed_check;
use crate::ledger::section::LedgerSection;
use crate::offered;
use crate::offline::Bench;
use crate::operation::Operation;
use crate::operation::request::Request;
use crate::operation::selection::{CaseSelection, Layer, Parameter, ReferenceOption, Stage};
use crate::pipeline::catalogue::{catalogued, entries, run_catalogue, totals};
use crate::pipeline::kernel::one_kernel;
use crate::plan::plans;
use crate::progress::progress;
use crate::self_check::planted::Tried;
use crate::self_check::{Measure, kills, mutants, planted};
use crate::units::{Done, Ended, Extent};
use crate::vectors::{Vectors, Wanted, vectors};
use anyhow::{Context, Error, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Instant;
use tiebreak_common::budget::Effort;
use tiebreak_common::parallel;
use tiebreak_mlir::Function;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::bite::{Kill, Planted};
use tiebreak_worker::protocol::Offer;

/// Pipeline of an operation.
pub struct Pipeline {
    op: Op,
}

impl Pipeline {
    /// Returns the pipeline of an operation.
    pub const fn of<O: Operation>() -> Self {
        Self { op: erased::op::<O>() }
    }

    /// Returns the name of the operation.
    pub fn op(&self) -> &'static str {
        self.op.name()
    }

    /// Returns the names of the kernels, known bugs last.
    pub fn names(&self) -> Vec<&'static str> {
        self.op.lists().every().map(|kernel| kernel.name).collect()
    }

    /// Describes the kernels and mutants for a listing.
    pub fn listed(&self) -> Vec<Value> {
        listing::kernels_and_mutants(self.op)
    }

    /// Describes the schemes.
    pub fn schemes(&self) -> Vec<Described> {
        self.op.schemes()
    }

    /// Creates the judge for lines of a file of cases.
    pub fn bench(&self) -> Bench {
        Bench::new(self.op)
    }

    /// True if a compiler makes some of the kernels, which run in lanes of compiled modules.
    pub fn is_compiled(&self) -> bool {
        self.op.kernels().iter().any(|kernel| kernel.contract.domain.is_compiled())
    }

    /// True if a caller may give this kind of parameters in place of the plan.
    pub fn takes(&self, parameter: Parameter) -> bool {
        self.op.capabilities().options.takes.contains(&parameter)
    }

    /// True if the operation runs a layer of a model.
    pub fn takes_layer(&self, layer: &Layer) -> bool {
        self.takes(Parameter::Model) && (self.op.capabilities().options.takes_layer)(layer)
    }

    /// True if a kernel of the operation takes the case of a network's layer.
    pub fn takes_stage(&self, stage: &Stage) -> bool {
        stage.op == self.op.name() && plans::takes_stage(self.op, stage)
    }

    /// Returns the option by which a caller chooses the reference.
    pub fn reference_option(&self) -> ReferenceOption {
        self.op.capabilities().options.reference
    }

    /// Returns the functions required in modules for the named kernels (for all kernels without names).
    pub fn functions(&self, request: &Request, names: &[String]) -> Result<Vec<Function>> {
        let compiled = |kernel: &&&Kernel| kernel.contract.domain.is_compiled();
        named(self.op, names, &[]).iter().filter(compiled).try_fold(Vec::new(), |mut all, kernel| {
            all.extend(functions(request, kernel)?);
            Ok(all)
        })
    }

    /// Returns the generators of the plan that detect each known bug.
    pub fn kills(&self, measure: &Measure<'_>) -> Result<Vec<Kill>> {
        kills::matrix(self.op, measure)
    }

    /// Injects faults at one place only, and returns the detected faults.
    pub fn planted(&self, measure: &Measure<'_>) -> Result<Vec<Planted>> {
        planted::all(self.op, measure)
    }

    /// Returns the names of the kernels into which faults are injected.
    pub fn planted_in(&self, lane: &Lane) -> Vec<&'static str> {
        planted::offered(self.op, lane).into_iter().map(|kernel| kernel.name).collect()
    }

    /// Injects the faults into a kernel.
    pub fn planted_in_kernel(&self, measure: &Measure<'_>, kernel: &str) -> Result<Vec<Tried>> {
        let offered = planted::offered(self.op, measure.lane);
        let kernel =
            offered.into_iter().find(|known| known.name == kernel).context("the lane offers no such kernel")?;
        planted::in_kernel(kernel, measure)
    }

    /// Groups the outcomes of all kernels, as in [`Pipeline::planted`].
    pub fn planted_rows(&self, each: Vec<Vec<Tried>>) -> Vec<Planted> {
        planted::rows(self.op, each)
    }

    /// Chooses few cases of a scheme that detect known bugs.
    pub fn vectors(&self, wanted: &Wanted) -> Result<Vectors> {
        vectors(self.op, wanted)
    }

    /// Adds the kernel of a caller's offer to the operation. Fails if the offer is wrong; the message describes the error.
    pub fn adopt(&self, offer: &Offer) -> Result<()> {
        offered::adopt(self.op, offer)
    }

    /// Identifies the scheme of a kernel that a lane offers.
    pub fn identify(&self, offer: &Offer, lane: &Lane, effort: Effort, seed: u64) -> Result<Identified> {
        identify(self.op, offer, lane, effort, seed)
    }

    /// Runs the named kernels; without names all kernels, and self-checks. Partial results are kept.
    pub fn verify(
        &self,
        (request, partial): (&Request, &PartialRun),
        names: &[String],
        lanes: &[Lane],
    ) -> Result<LedgerSection> {
        let extent = self.extent(request, names, lanes);
        let named = named(self.op, names, lanes);
        let catalogue = match extent.has_catalogue {
            true => run_catalogue(self.op, request, &named, lanes)?.into_iter().map(Some).collect(),
            false => vec![None; named.len()],
        };
        let found = catalogue.iter().flatten().collect::<Vec<_>>();
        let found =
            if extent.has_catalogue { totals(self.op, &extent.lanes, &found)? } else { LedgerSection::default() };
        if let Err(first) = go_on(request, &found.findings) {
            partial.kernel(self.op.name(), &found);
            return Err(first.into());
        }
        let checks = || match extent.has_checks {
            true => groups(self.op, request, lanes, &(0..mutants::groups(self.op)?).collect::<Vec<_>>()),
            false => Ok(Vec::new()),
        };
        let verified = || each_kernel(self.op, (request, partial), &named, lanes);
        // In parallel, because the last kernel leaves cores idle. A run that ends at the first finding does not wait for checks.
        let (verified, checks) =
            if request.fail_fast { (Ok(verified()?), checks()) } else { parallel::both(verified, checks) };
        let verified =
            verified?.into_iter().zip(catalogue).map(|(part, catalogue)| Done::Kernel { part: part.into(), catalogue });
        self.whole(&extent, verified.chain(checks?).collect())
    }

    /// Returns the facts about the operation's part of a run, before a unit has run.
    pub fn extent(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Extent {
        let (is_all, is_plain) = (names.is_empty(), request.selection.is_nothing());
        let lanes = lanes.iter().map(|lane| lane.name.clone()).collect();
        Extent { lanes, is_all, has_catalogue: is_plain, has_checks: is_all && is_plain }
    }

    /// Returns the names of the units: each kernel, then each group of self-checks.
    pub fn units(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Vec<String>> {
        let kernels =
            named(self.op, names, lanes).into_iter().map(|kernel| format!("{} {}", self.op.name(), kernel.name));
        let groups = if self.extent(request, names, lanes).has_checks { mutants::groups(self.op)? } else { 0 };
        Ok(kernels.chain((1..=groups).map(|group| format!("{} self-checks {group}", self.op.name()))).collect())
    }

    /// Runs units by number; `ended` takes each result.
    pub fn run_units(
        &self,
        (request, names, lanes): (&Request, &[String], &[Lane]),
        units: &[usize],
        ended: Ended<'_>,
    ) -> Result<()> {
        let named = named(self.op, names, lanes);
        let entries = entries(self.op)?;
        let _plans = plans::LongPlanGuard::begin(self.op);
        let run = |at: usize| {
            let Some(kernel) = named.get(at) else {
                return Ok(groups(self.op, request, lanes, &[at - named.len()])?.remove(0));
            };
            let _doing = doing(|| format!("{} {}", self.op.name(), kernel.name));
            let catalogue = request.selection.is_nothing();
            let catalogue = catalogue.then(|| catalogued(request, kernel, lanes, &entries)).transpose()?;
            Ok::<_, Error>(Done::Kernel { part: one_kernel(request, kernel, lanes)?.into(), catalogue })
        };
        let one = |at: &usize| {
            let begun = Instant::now();
            let done = run(*at)?;
            ended(*at, done, begun.elapsed().as_secs_f64())
        };
        parallel::try_map(units, one).map(drop)
    }

    /// Combines the results of all units, in order.
    pub fn whole(&self, extent: &Extent, done: Vec<Done>) -> Result<LedgerSection> {
        let (mut part, mut kernels, mut catalogue, mut checks) = (LedgerSection::default(), 0, Vec::new(), Vec::new());
        for one in done {
            match one {
                Done::Kernel { part: of_kernel, catalogue: of_catalogue } => {
                    kernels += 1;
                    part.extend(*of_kernel);
                    catalogue.extend(of_catalogue);
                }
                Done::Checks(group) => checks.extend(group),
                Done::Bounds(_) => bail!("bounds are no part of {}", self.op.name()),
            }
        }
        if let (true, [first, ..]) = (part.outside_domain.len() == kernels, &part.outside_domain[..]) {
            match extent.is_all {
                true => bail!("no {} kernel takes this; {}: {}", self.op.name(), first.kernel, first.domain),
                false => bail!("{} does not take this: {}", first.kernel, first.domain),
            }
        }
        if extent.has_catalogue {
            let of_catalogue = totals(self.op, &extent.lanes, &catalogue.iter().collect::<Vec<_>>())?;
            part.extend(of_catalogue.without_findings_of(&part));
        }
        if extent.has_checks {
            let checks = mutants::in_order(checks);
            part.findings.extend(checks.iter().filter(|c| !c.passed).map(failed_check));
            part.self_checks = checks;
            part.unchecked(self.op.name(), &extent.lanes);
        }
        Ok(part)
    }
}

/// Runs each kernel in every lane.
fn each_kernel(
    op: Op,
    (request, partial): (&Request, &PartialRun),
    named: &[&'static Kernel],
    lanes: &[Lane],
) -> Result<Vec<LedgerSection>> {
    let bar = progress(op.name(), named.len() * lanes.len().max(1));
    let _plans = plans::LongPlanGuard::begin(op);
    let one = |kernel: &&'static Kernel| {
        let _doing = doing(|| format!("{} {}", op.name(), kernel.name));
        let section = one_kernel(request, kernel, lanes)?;
        partial.kernel(op.name(), &section);
        bar.inc(lanes.len() as u64);
        go_on(request, &section.findings)?;
        Ok(section)
    };
    parallel::try_map(named, one)
}

/// Returns the named kernels; without names all kernels, followed by the lanes' own.
fn named(op: Op, names: &[String], lanes: &[Lane]) -> Vec<&'static Kernel> {
    match names {
        [] => {
            let offers: BTreeSet<&str> = lanes.iter().flat_map(|lane| lane.own_kernels(op.name())).collect();
            op.kernels().iter().chain(offers.into_iter().filter_map(|name| op.find(name))).collect()
        }
        names => names.iter().filter_map(|name| op.find(name)).collect(),
    }
}

/// Returns the functions that a run may need from a compiled kernel: for its cases, for the catalogue, and for the explanation of a single case.
fn functions(request: &Request, kernel: &Kernel) -> Result<Vec<Function>> {
    let domain = &kernel.contract.domain;
    let mut params: Vec<Params> = match &request.selection {
        CaseSelection { cases, .. } if !cases.is_empty() => {
            let given = cases.iter().filter_map(|case| Some(text::parse(case, domain).ok()?.params));
            let short = plans::plan(domain, &CaseSelection::default(), &Effort::Quick.budget(), request.seed);
            given.chain(short.iter().map(|spec| spec.params.clone())).collect()
        }
        selection => {
            let specs = plans::plan(domain, selection, &request.effort.budget(), request.seed);
            specs.iter().map(|spec| spec.params.clone()).collect()
        }
    };
    if request.selection.cases.is_empty() {
        params.extend((kernel.op().capabilities().sweeps.params)(domain, &request.selection));
    }
    if request.selection.is_nothing() {
        let entries = crate::case::catalogue::read(kernel.op(), kernel.op().catalogue())
            .with_context(|| format!("suites/ops/catalogue/{}.txt", kernel.op().name()))?;
        params.extend(entries.iter().filter_map(|entry| Some(text::parse(&entry.case, domain).ok()?.params)));
    }
    Ok(params
        .iter()
        .filter(|params| domain.covers(params))
        .filter_map(kernel.op().capabilities().compiled.function)
        .collect())
}

/// Runs the self-checks of the groups.
fn groups(op: Op, request: &Request, lanes: &[Lane], groups: &[usize]) -> Result<Vec<Done>> {
    // A lane of the caller runs only the kernels that it offers.
    let due = |lane: &Lane, kernel: &Kernel| {
        let fits = lane.is_compiled() == kernel.contract.domain.is_compiled();
        fits && (lane.must_offer() || lane.isa_path(op.name(), kernel.name).is_some())
    };
    let one = |group: &usize| mutants::of_group(op, *group, lanes, due, request.seed).map(Done::Checks);
    Ok(parallel::try_map(groups, one)?)
}

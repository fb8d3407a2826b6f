//! One kernel in every lane, from its plan to the ledger; and the catalogue's cases.

use super::super::coverage::not_run;
use super::super::place::Place;
use super::super::{Part, Request};
use super::explain_record::ExplainedSide;
use super::history::History;
use super::in_lanes::InLanes;
use super::planned::Planned;
use super::repeats::Repeats;
use super::sparing::Sparing;
use super::{Kernel, agreed, explain_record, position, record, repeats, swept};
use crate::lane::Lane;
use crate::runner::Runner;
use crate::tensor::agreement::Agreements;
use crate::tensor::judge::{Posed, Record, held, run};
use crate::tensor::shrink::Witness;
use crate::tensor::{Asked, Case, Operation, PathStep, Spec, Sweep, catalogue, plans, text};
use crate::tensor::{contract, is_compiled, label, path, scheme_named};
use anyhow::{Context, Result, bail};
use std::cell::Cell;
use std::collections::BTreeSet;
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_common::parallel;
use tiebreak_common::stream::{below, stream};
use tiebreak_reports::ledger::{Against, CatalogueRun, Finding, OutsideDomain, Position};

/// Cases posed and run at a time: their tensors are held in memory.
const HELD: usize = 64;

/// A kernel with what it is judged against.
pub(super) struct Subject<O: Operation> {
    pub(super) kernel: &'static Kernel<O>,
    pub(super) contract: O::Scheme,
    pub(super) reference: Option<O::Scheme>,
    pub(super) path: Vec<PathStep<O>>,
}

impl<O: Operation> Subject<O> {
    pub(super) fn new(request: &Request, kernel: &'static Kernel<O>) -> Result<Self> {
        let reference = O::reference(kernel, &request.wanted());
        let contract = contract::<O>(kernel)?;
        // Against its own scheme there is nothing to count, but for what it declares.
        let same = |scheme: &O::Scheme| {
            label::<O>(scheme) == label::<O>(&contract) && (O::CAPABILITIES.deviations.declared)(&contract).is_empty()
        };
        let reference = reference.map(|name| scheme_named::<O>(&name)).transpose()?.filter(|scheme| !same(scheme));
        let domain = &kernel.contract.domain;
        let path = reference.as_ref().map_or(Vec::new(), |reference| path::<O>(&contract, reference, domain));
        Ok(Self { kernel, contract, reference, path })
    }

    /// The kernel in a lane, as the ledger names it.
    pub(super) fn place<'a>(&self, lane: &'a Lane) -> Place<'a> {
        Place { op: O::OP, kernel: self.kernel.name, lane }
    }

    pub(super) fn pose(&self, case: Case<O::Params>) -> Result<Posed<O::Params>> {
        let described = || format!("{} {}", O::OP, self.kernel.name);
        let contract = O::expected(&self.contract, &case).with_context(described)?;
        let reference =
            self.reference.as_ref().map(|scheme| O::expected(scheme, &case).with_context(described)).transpose()?;
        let reference = reference.map(|reference| held::<O>(&contract, reference));
        Ok(Posed { case, contract, reference })
    }
}

/// Runs a kernel in every lane that has it: the cases asked for or its plan's, and what is swept.
pub(super) fn one_kernel<O: Operation>(request: &Request, kernel: &'static Kernel<O>, lanes: &[Lane]) -> Result<Part> {
    let subject = Subject::<O>::new(request, kernel)?;
    let domain = &kernel.contract.domain;
    let mut part = Part::default();
    let fitting: Vec<&Lane> = lanes.iter().filter(|lane| lane.is_compiled() == is_compiled::<O>(domain)).collect();
    if fitting.is_empty() && !lanes.is_empty() {
        return Ok(no_lane::<O>(request, kernel));
    }
    let planned = match Planned::<O>::new(request, kernel) {
        Ok(planned) => planned,
        Err(error) => {
            let reason = error.to_string();
            return Ok(outside::<O>(&Planned::refused(&request.asked.cases, &reason), kernel, &fitting, reason));
        }
    };
    let Planned { specs, .. } = &planned;
    if specs.is_empty() {
        if request.asked.is_nothing() {
            bail!("{} {}: nothing in the plan is in its domain", O::OP, kernel.name);
        }
        return Ok(outside::<O>(&planned, kernel, &fitting, O::domain_text(domain)));
    }
    let (offering, others): (Vec<&Lane>, Vec<&Lane>) =
        fitting.into_iter().partition(|lane| lane.isa_path(O::OP, kernel.name).is_some());
    for lane in others {
        planned.not_offered(kernel, lane, &mut part);
    }
    if offering.is_empty() {
        return Ok(part);
    }
    let Judged { lanes, agreements, positions } = judged(request, &subject, &planned, &offering)?;
    let explained = explained(request, &subject, &planned.specs, &lanes, &agreements)?;
    part.positions = positions;
    part.agreements = agreed::rows(request, kernel, &agreements, explained.agreements);
    for (judged, explained) in lanes.iter().zip(&explained.lanes) {
        add(request, &subject, &planned, judged, explained, &mut part);
    }
    Ok(part)
}

/// What a kernel gave in every lane that offers it, judged.
struct Judged<'a, O: Operation> {
    lanes: Vec<JudgedLane<'a, O>>,
    agreements: Agreements<'a, O>,
    positions: Vec<Position>,
}

/// What a kernel gave in one lane, judged.
struct JudgedLane<'a, O: Operation> {
    lane: &'a Lane,
    record: Record<O::Params>,
    /// The same call again and again, if that was tried.
    repeats: Option<Repeats<O::Params>>,
    sweeps: Vec<Sweep>,
}

/// Runs the cases of a kernel in the lanes, then one call again and again, then what is swept, and judges everything.
fn judged<'a, O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    planned: &Planned<O>,
    offering: &'a [&'a Lane],
) -> Result<Judged<'a, O>> {
    let (kernel, domain) = (subject.kernel, &subject.kernel.contract.domain);
    let Planned { specs, at, .. } = planned;
    let keep = request.asked.is_one_case();
    let runners: Vec<Runner<'_>> = offering.iter().map(|lane| Runner::new(lane)).collect();
    let mut seen = InLanes::<O>::new(subject, offering);
    let mut sparing = Sparing::new::<O>(request, kernel, &runners);
    let mut agreements = Agreements::<O>::new(kernel, offering);
    let mut positions = Vec::new();
    for (chunk, specs) in specs.chunks(HELD).enumerate() {
        let made = specs.iter().enumerate();
        let cases = made.filter_map(|(i, spec)| spec.case::<O>(domain, request.seed, chunk * HELD + i));
        let posed: Vec<_> = cases.map(|case| subject.pose(case)).collect::<Result<_>>()?;
        anchor(subject, &posed, request.seed, chunk)?;
        let given = sparing.answers::<O>(kernel, &posed, keep);
        agreements.compare(&posed, &given);
        if let Some(at) = at {
            positions.extend(position::at(subject, *at, &posed, offering, &given));
        }
        seen.judge(&posed, &given);
    }
    let in_lane = |((lane, runner), record): ((&&'a Lane, &Runner<'_>), Record<O::Params>)| {
        let repeated = request.asked.is_nothing() && !record.has_failed() && !sparing.is_spared(lane);
        let repeats = repeated.then(|| repeats::run::<O>(request, kernel, lane, specs));
        JudgedLane { lane, record, repeats, sweeps: sweeps::<O>(request, kernel, runner) }
    };
    let lanes = offering.iter().zip(&runners).zip(seen.records()).map(in_lane).collect();
    Ok(Judged { lanes, agreements, positions })
}

/// The sweeps of a kernel in a lane: those of every run, and in an exhaustive one all others.
fn sweeps<O: Operation>(request: &Request, kernel: &'static Kernel<O>, runner: &Runner<'_>) -> Vec<Sweep> {
    if request.asked.is_one_case() {
        return Vec::new();
    }
    let mut sweeps = (O::CAPABILITIES.sweeps.few)(kernel, runner, &request.asked);
    if request.effort == Effort::Exhaustive {
        sweeps.extend((O::CAPABILITIES.sweeps.all)(kernel, runner, &request.asked, &request.wanted()));
    }
    sweeps
}

/// Explanations of what was judged.
struct ExplainedKernel<'a, O: Operation> {
    lanes: Vec<ExplainedLane<'a, O>>,
    /// A witness of each comparison to the bit that differs.
    agreements: Vec<Option<Witness<O::Params>>>,
}

/// Explanations of what was judged in one lane.
struct ExplainedLane<'a, O: Operation> {
    sides: Vec<ExplainedSide<'a, O>>,
    /// The command that shows again that calls with the same input differ.
    repeated: Option<String>,
}

/// Explains what was judged: the last stage that runs kernels.
fn explained<'a, O: Operation>(
    request: &Request,
    subject: &'a Subject<O>,
    specs: &[Spec<O::Params>],
    judged: &[JudgedLane<'_, O>],
    agreements: &Agreements<'_, O>,
) -> Result<ExplainedKernel<'a, O>> {
    let agreements = explain_record::agreements(request, agreements);
    let in_lane = |JudgedLane { lane, record, repeats, .. }: &JudgedLane<'_, O>| {
        let learnt = if request.asked.is_one_case() { learn(request, subject, lane, record)? } else { None };
        let sides = explain_record::record(request, subject, lane, (learnt.as_ref().unwrap_or(record), specs));
        let differing = repeats.as_ref().and_then(|repeats| repeats.differs.as_ref());
        let history = History { request, subject, lane, specs, replays: Cell::new(0) };
        let repeated = differing.map(|differing| history.repeated(&differing.case, differing.call as usize));
        Ok(ExplainedLane { sides, repeated })
    };
    let lanes = judged.iter().map(in_lane).collect::<Result<_>>()?;
    Ok(ExplainedKernel { lanes, agreements })
}

/// Adds what a kernel did in a lane to the ledger.
fn add<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    planned: &Planned<O>,
    JudgedLane { lane, record, repeats, sweeps }: &JudgedLane<'_, O>,
    explained: &ExplainedLane<'_, O>,
    part: &mut Part,
) {
    planned.ran(subject.kernel, lane, record, part);
    if request.asked.is_nothing() {
        part.findings.extend(record::stale(subject, lane, record, &planned.specs));
    }
    record::add(request, subject, lane, (record, !planned.specs.is_empty()), &explained.sides, part);
    if let Some(repeats) = repeats {
        let is_known = |f: &Finding| f.lane == lane.name && f.class == Class::DependsOnHistory.name();
        let known = part.findings.iter().any(is_known);
        let finding = repeats::finding(subject, lane, repeats, explained.repeated.clone());
        part.findings.extend(finding.filter(|_| !known));
    }
    let calls = record.cases + repeats.as_ref().map_or(0, |repeats| repeats.calls);
    for row in part.rows.iter_mut().filter(|row| row.lane == lane.name) {
        row.parameters = planned.parameters(record);
        row.calls = if row.against == Against::Contract && !record.has_failed() { calls } else { 0 };
    }
    for sweep in sweeps {
        part.rows.extend(swept::rows(request, subject, lane, sweep));
        part.findings.extend(swept::findings(request, subject, lane, sweep));
    }
}

/// Where to run a kernel that none of the lanes of a run can have.
fn elsewhere<O: Operation>(domain: &O::Domain) -> String {
    if is_compiled::<O>(domain) {
        "only lanes of compiled modules have it, such as --lane mlir-x86".to_owned()
    } else {
        "lanes of compiled modules have no kernels but their own".to_owned()
    }
}

/// A record with the evidence of a short plan, none of which is counted: one case fits many causes, and other cases tell the causes apart. None if nothing
/// differs.
fn learn<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    lane: &Lane,
    record: &Record<O::Params>,
) -> Result<Option<Record<O::Params>>> {
    if record.contract.count.differ + record.reference.count.differ == 0 {
        return Ok(None);
    }
    let domain = &subject.kernel.contract.domain;
    let others = Asked { cases: Vec::new(), x: None, ..request.asked.clone() };
    let specs = plans::plan::<O>(domain, &others, &Effort::Quick.budget(), request.seed);
    let covered = specs.iter().filter(|spec| O::covers(domain, &spec.params)).enumerate();
    let cases = covered.filter_map(|(i, spec)| spec.case::<O>(domain, request.seed, i));
    let posed: Vec<_> = cases.map(|case| subject.pose(case)).collect::<Result<_>>()?;
    let mut learnt = record.clone();
    learnt.learn_from(run::<O>(lane, subject.kernel, &subject.contract, &subject.path, &posed));
    Ok(Some(learnt))
}

/// What was asked for is nothing to this kernel, which is listed.
fn outside<O: Operation>(planned: &Planned<O>, kernel: &Kernel<O>, lanes: &[&Lane], domain: String) -> Part {
    let mut part = Part::default();
    lanes.iter().for_each(|lane| planned.ran(kernel, lane, &Record::<O::Params>::default(), &mut part));
    part.outside_domain = vec![OutsideDomain { op: O::OP.to_owned(), kernel: kernel.name.to_owned(), domain }];
    part
}

/// None of the lanes of the run can have this kernel: it is listed, and a finding where the caller named it.
fn no_lane<O: Operation>(request: &Request, kernel: &Kernel<O>) -> Part {
    let reason = elsewhere::<O>(&kernel.contract.domain);
    let mut part = Part::default();
    if !request.kernels.is_empty() {
        part.findings.push(not_run(O::OP, kernel.name, &reason));
    }
    let (op, kernel) = (O::OP.to_owned(), kernel.name.to_owned());
    part.outside_domain.push(OutsideDomain { op, kernel, domain: reason });
    part
}

/// Results times elements of the largest input up to which a case is worked out in big integers too: any case, and the smallest of a chunk.
const ANCHORED: [usize; 2] = [1 << 21, 1 << 26];

/// Holds the fast forms of contract and reference to big integers on one case of each chunk: any that is not a matter of seconds, which the
/// seed chooses, otherwise the smallest.
fn anchor<O: Operation>(subject: &Subject<O>, posed: &[Posed<O::Params>], seed: u64, chunk: usize) -> Result<()> {
    let work = |posed: &Posed<O::Params>| {
        let largest = posed.case.tensors.iter().map(Vec::len).max().unwrap_or(0);
        posed.contract.len().saturating_mul(largest)
    };
    let some: Vec<_> = posed.iter().filter(|posed| !posed.contract.is_empty()).collect();
    let few: Vec<_> = some.iter().filter(|posed| work(posed) <= ANCHORED[0]).collect();
    let mut rng = stream(seed, &format!("{}/{}/anchor {chunk}", O::OP, subject.kernel.name));
    let chosen = match few.len() {
        0 => some.iter().min_by_key(|posed| work(posed)).filter(|posed| work(posed) <= ANCHORED[1]),
        n => Some(few[below(&mut rng, n as u32) as usize]),
    };
    let Some(chosen) = chosen else { return Ok(()) };
    let reference = subject.reference.as_ref().zip(chosen.reference.as_ref());
    for (scheme, fast) in [(&subject.contract, &chosen.contract)].into_iter().chain(reference) {
        let exact = O::exact(scheme, &chosen.case)?;
        if held::<O>(&chosen.contract, exact) != *fast {
            let (op, scheme) = (O::OP, label::<O>(scheme));
            bail!("the oracle disagrees with itself on {op} by {scheme}, {:?}: please report this", chosen.case);
        }
    }
    Ok(())
}

/// What the catalogue's cases gave on one kernel in one lane.
struct Catalogued {
    /// Which of the cases the kernel takes.
    taken: Vec<usize>,
    /// Inputs judged, those that differ, and cases without an answer.
    counts: [u64; 3],
    findings: Vec<Finding>,
}

/// Runs the catalogue's cases on the kernels that take them.
pub(super) fn run_catalogue<O: Operation>(
    request: &Request,
    kernels: &[&'static Kernel<O>],
    lanes: &[Lane],
) -> Result<Part> {
    let entries = catalogue::read::<O>(O::CATALOGUE).with_context(|| format!("suites/catalogue/{}.txt", O::OP))?;
    let texts: Vec<&str> = entries.iter().map(|entry| entry.case.as_str()).collect();
    // Cases are few and some are large: kernels run beside one another, and each case is posed once for all lanes.
    let each: Vec<Vec<Option<Catalogued>>> =
        parallel::try_map(kernels, |kernel| catalogued::<O>(request, kernel, lanes, &texts))?;
    let mut part = Part::default();
    for (at, lane) in lanes.iter().enumerate() {
        let (op, lane, cases) = (O::OP.to_owned(), lane.name.clone(), entries.len() as u64);
        let mut total = CatalogueRun { op, lane, cases, not_taken: 0, judged: 0, broken: 0, unanswered: 0 };
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for seen in each.iter().filter_map(|lanes| lanes[at].as_ref()) {
            taken.extend(&seen.taken);
            total.judged += seen.counts[0];
            total.broken += seen.counts[1];
            total.unanswered += seen.counts[2];
            part.findings.extend(seen.findings.iter().cloned());
        }
        total.not_taken = total.cases - taken.len() as u64;
        part.catalogue.push(total);
    }
    Ok(part)
}

/// The catalogue's cases on one kernel, in each lane that has it.
fn catalogued<O: Operation>(
    request: &Request,
    kernel: &'static Kernel<O>,
    lanes: &[Lane],
    texts: &[&str],
) -> Result<Vec<Option<Catalogued>>> {
    let offers = |lane: &Lane| lane.isa_path(O::OP, kernel.name).is_some();
    if !lanes.iter().any(offers) {
        return Ok(lanes.iter().map(|_| None).collect());
    }
    let subject = Subject::<O>::new(request, kernel)?;
    let domain = &kernel.contract.domain;
    let cases = texts.iter().map(|text| text::parse::<O>(text, domain).ok());
    let covered = |case: &Case<O::Params>| O::covers(domain, &case.params);
    let cases: Vec<_> = cases.enumerate().filter_map(|(at, case)| Some((at, case.filter(covered)?))).collect();
    let taken: Vec<usize> = cases.iter().map(|(at, _)| *at).collect();
    let posed: Vec<_> = cases.into_iter().map(|(_, case)| subject.pose(case)).collect::<Result<_>>()?;
    let specs: Vec<_> = posed.iter().map(|posed| Spec::given(posed.case.clone())).collect();
    let in_lane = |lane: &Lane| {
        let record = run::<O>(lane, kernel, &subject.contract, &subject.path, &posed);
        let counts = [record.contract.count.inputs, record.contract.count.differ, record.unanswered];
        let sides = explain_record::record(request, &subject, lane, (&record, &specs));
        let mut found = Part::default();
        record::add(request, &subject, lane, (&record, !specs.is_empty()), &sides, &mut found);
        let said = |f: Finding| Finding { message: format!("in the catalogue: {}", f.message), ..f };
        Catalogued { taken: taken.clone(), counts, findings: found.findings.into_iter().map(said).collect() }
    };
    Ok(lanes.iter().map(|lane| offers(lane).then(|| in_lane(lane))).collect())
}

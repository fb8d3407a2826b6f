//! Tensor operations in a run: catalogue, cases of the plan or the caller's, sweeps where there are any, and the operation's mutants.

use super::rows::by_delta;
use super::{Command, Part, Request, progress};
use crate::budget::Effort;
use crate::lane::Lane;
use crate::mlir::Function;
use crate::tensor::explain::{Cause, Explanation, UNEXPLAINED, explain};
use crate::tensor::judge::{Posed, Record, Side, due_to, outs, run};
use crate::tensor::shrink::{Shown, Witness, first_difference, shrink};
use crate::tensor::{Asked, Case, Link, Operation, Spec, Sweep, catalogue, find, promise, self_check, text};
use anyhow::{Context, Result, anyhow, bail};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use tiebreak_impls::kernel;
use tiebreak_impls::quantized::Cast;
use tiebreak_reports::ledger::{self, Against, CatalogueRun, Coverage, Finding, Mismatch, Row, SelfCheck};
use tiebreak_reports::text as words;

/// Cases posed and run at a time: their tensors are held in memory.
const HELD: usize = 64;
/// Mismatches kept for the CSV file, for each side.
const KEPT: usize = 64;

/// An operation, whatever its types.
pub(super) trait Verifies: Sync {
    /// Its name.
    fn op(&self) -> &'static str;
    /// Its kernels, mutants last.
    fn names(&self) -> Vec<&'static str>;
    /// What modules must hold for the kernels of these names (all where there is no name), where a compiler makes them.
    fn functions(&self, request: &Request, names: &[String]) -> Result<Vec<Function>>;
    /// Runs the kernels of these names; all, with self-checks, where there is no name.
    fn verify(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Part>;
}

/// The operation `O`.
pub(super) struct Tensor<O>(PhantomData<O>);

impl<O> Tensor<O> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<O: Operation> Verifies for Tensor<O> {
    fn op(&self) -> &'static str {
        O::OP
    }

    fn names(&self) -> Vec<&'static str> {
        O::kernels().iter().map(|k| k.name).chain(O::mutants().iter().map(|m| m.kernel.name)).collect()
    }

    fn functions(&self, request: &Request, names: &[String]) -> Result<Vec<Function>> {
        let compiled = |kernel: &&&Kernel<O>| O::compiled(&kernel.contract.domain);
        named::<O>(names).iter().filter(compiled).try_fold(Vec::new(), |mut all, kernel| {
            all.extend(functions::<O>(request, kernel)?);
            Ok(all)
        })
    }

    fn verify(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Part> {
        let named = named::<O>(names);
        let mut part = Part::default();
        let catalogue =
            if request.asked.is_nothing() { run_catalogue::<O>(request, &named, lanes)? } else { Part::default() };
        let bar = progress(O::OP, named.len() * lanes.len().max(1));
        let verified: Vec<Part> = named
            .par_iter()
            .map(|kernel| {
                let part = one_kernel::<O>(request, kernel, lanes);
                bar.inc(lanes.len() as u64);
                part
            })
            .collect::<Result<_>>()?;
        bar.finish_and_clear();
        verified.into_iter().for_each(|one| part.extend(one));
        if let (true, [first, ..]) = (part.rows.is_empty(), &part.outside_domain[..]) {
            bail!("no {} kernel takes this; {}: {}", O::OP, first.kernel, first.domain);
        }
        part.extend(catalogue.without_findings_of(&part));
        if names.is_empty() && request.asked.is_nothing() {
            let checks = self_checks::<O>(request, lanes)?;
            part.findings.extend(checks.iter().filter(|c| !c.passed).map(super::failed_check));
            part.self_checks = checks;
        }
        Ok(part)
    }
}

/// The kernels of these names; all where there is none.
fn named<O: Operation>(names: &[String]) -> Vec<&'static Kernel<O>> {
    match names {
        [] => O::kernels().iter().collect(),
        names => names.iter().filter_map(|name| find::<O>(name)).collect(),
    }
}

/// What a run may ask of a compiled kernel: its own cases, the catalogue's, and those by which one case is explained.
fn functions<O: Operation>(request: &Request, kernel: &Kernel<O>) -> Result<Vec<Function>> {
    let domain = &kernel.contract.domain;
    let mut params: Vec<O::Params> = match &request.asked {
        Asked { case: Some(case), .. } => {
            let given = text::parse::<O>(case, domain).into_iter().map(|case| case.params);
            let short = O::plan(domain, &Asked::default(), &Effort::Quick.budget(), request.seed);
            given.chain(short.into_iter().map(|spec| spec.params)).collect()
        }
        asked => {
            let specs = O::plan(domain, asked, &request.effort.budget(), request.seed);
            specs.into_iter().map(|spec| spec.params).collect()
        }
    };
    if request.asked.is_nothing() {
        let entries = catalogue::read::<O>(O::CATALOGUE).with_context(|| format!("suites/catalogue/{}.txt", O::OP))?;
        params.extend(entries.iter().filter_map(|entry| Some(text::parse::<O>(&entry.case, domain).ok()?.params)));
    }
    let cast = if O::OP == "quantize" { Cast::Quantize } else { Cast::Dequantize };
    let covered = params.iter().filter(|params| O::covers(domain, params)).filter_map(O::quantized);
    Ok(covered.map(|params| Function { cast, params: params.clone() }).collect())
}

type Kernel<O> = kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

/// A kernel with what it is judged against.
struct Subject<O: Operation> {
    kernel: &'static Kernel<O>,
    contract: O::Scheme,
    reference: Option<O::Scheme>,
    links: Vec<Link<O>>,
}

impl<O: Operation> Subject<O> {
    fn new(request: &Request, kernel: &'static Kernel<O>) -> Result<Self> {
        let reference = O::reference(kernel, &request.wanted());
        let contract = promise::<O>(kernel)?;
        // Against its own scheme there is nothing to count.
        let same = |scheme: &O::Scheme| O::label(scheme) == O::label(&contract);
        let reference = reference.map(|name| O::scheme(&name)).transpose()?.filter(|scheme| !same(scheme));
        let links = reference.as_ref().map_or(Vec::new(), |reference| O::links(&contract, reference));
        Ok(Self { kernel, contract, reference, links })
    }

    fn pose(&self, case: Case<O::Params>) -> Result<Posed<O::Params>> {
        let told = |reason: String| anyhow!("{} {}: {reason}", O::OP, self.kernel.name);
        let contract = O::expected(&self.contract, &case).map_err(told)?;
        let reference = self.reference.as_ref().map(|scheme| O::expected(scheme, &case).map_err(told)).transpose()?;
        Ok(Posed { case, contract, reference })
    }
}

fn one_kernel<O: Operation>(request: &Request, kernel: &'static Kernel<O>, lanes: &[Lane]) -> Result<Part> {
    let subject = Subject::<O>::new(request, kernel)?;
    let domain = &kernel.contract.domain;
    let mut part = Part::default();
    let specs = match &request.asked {
        Asked { case: Some(case), .. } => match text::parse::<O>(case, domain) {
            Ok(case) => vec![Spec::given(case)],
            Err(reason) => return outside::<O>(request, kernel, reason),
        },
        asked => O::plan(domain, asked, &request.effort.budget(), request.seed),
    };
    let specs: Vec<_> = specs.into_iter().filter(|spec| O::covers(domain, &spec.params)).collect();
    if specs.is_empty() {
        if request.asked.is_nothing() {
            bail!("{} {}: nothing in the plan is in its domain", O::OP, kernel.name);
        }
        return outside::<O>(request, kernel, O::domain_text(domain));
    }
    let fitting: Vec<&Lane> = lanes.iter().filter(|lane| lane.is_compiled() == O::compiled(domain)).collect();
    if fitting.is_empty() && !lanes.is_empty() {
        return outside::<O>(request, kernel, elsewhere::<O>(domain));
    }
    let (offering, others): (Vec<&Lane>, Vec<&Lane>) =
        fitting.into_iter().partition(|lane| lane.isa_path(O::OP, kernel.name).is_some());
    part.findings.extend(others.into_iter().map(|lane| super::not_offered(O::OP, kernel.name, lane)));
    let mut records: Vec<Record<O::Params>> = offering.iter().map(|_| Record::default()).collect();
    for (chunk, specs) in specs.chunks(HELD).enumerate() {
        let made = specs.iter().enumerate();
        let cases = made.filter_map(|(i, spec)| spec.case::<O>(domain, request.seed, chunk * HELD + i));
        let posed: Vec<_> = cases.map(|case| subject.pose(case)).collect::<Result<_>>()?;
        anchor(&subject, &posed)?;
        for (lane, record) in offering.iter().zip(&mut records) {
            record.merge(run::<O>(lane, kernel, &subject.contract, &subject.links, &posed));
        }
    }
    if request.asked.case.is_some() {
        learn(request, &subject, &offering, &mut records)?;
    }
    for (lane, record) in offering.iter().zip(records) {
        if request.asked.is_nothing() {
            part.findings.extend(stale(&subject, lane, &record));
        }
        settle(request, &subject, lane, record, &mut part);
        let mut sweeps = Vec::new();
        if request.asked.case.is_none() {
            sweeps.extend(O::few(kernel, lane, &request.asked));
            if request.effort == Effort::Exhaustive {
                sweeps.extend(O::sweeps(kernel, lane, &request.asked, &request.wanted()));
            }
        }
        for sweep in sweeps {
            part.rows.extend(sweep_rows(request, &subject, lane, &sweep));
            part.findings.extend(sweep_finding(request, &subject, lane, &sweep));
        }
    }
    Ok(part)
}

/// Where to run a kernel that none of the lanes of a run can have.
fn elsewhere<O: Operation>(domain: &O::Domain) -> String {
    if O::compiled(domain) {
        "only lanes of compiled modules have it, such as --lane mlir-x86".to_owned()
    } else {
        "lanes of compiled modules have no kernels but their own".to_owned()
    }
}

/// One case fits many causes: the cases of a short plan tell them apart, and are not counted.
fn learn<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    lanes: &[&Lane],
    records: &mut [Record<O::Params>],
) -> Result<()> {
    for (lane, record) in lanes.iter().zip(records) {
        if record.contract.differ + record.reference.differ == 0 {
            continue;
        }
        let domain = &subject.kernel.contract.domain;
        let specs = O::plan(domain, &Asked::default(), &Effort::Quick.budget(), request.seed);
        let covered = specs.iter().filter(|spec| O::covers(domain, &spec.params)).enumerate();
        let cases = covered.filter_map(|(i, spec)| spec.case::<O>(domain, request.seed, i));
        let posed: Vec<_> = cases.map(|case| subject.pose(case)).collect::<Result<_>>()?;
        record.learn_from(run::<O>(lane, subject.kernel, &subject.contract, &subject.links, &posed));
    }
    Ok(())
}

/// What was asked for is nothing to this kernel: it is listed, unless it was named.
fn outside<O: Operation>(request: &Request, kernel: &Kernel<O>, domain: String) -> Result<Part> {
    if !request.kernels.is_empty() {
        bail!("{} does not take this: {domain}", kernel.name);
    }
    let outside_domain = vec![ledger::OutsideDomain { op: O::OP.to_owned(), kernel: kernel.name.to_owned(), domain }];
    Ok(Part { outside_domain, ..Part::default() })
}

/// Results times elements of the largest input up to which a case is worked out in big integers too.
const ANCHORED: usize = 1 << 26;

/// Holds the fast form to big integers on the smallest case of each chunk, where that is not a matter of minutes.
fn anchor<O: Operation>(subject: &Subject<O>, posed: &[Posed<O::Params>]) -> Result<()> {
    let size = |posed: &&Posed<O::Params>| posed.case.tensors.iter().map(Vec::len).sum::<usize>();
    let Some(smallest) = posed.iter().min_by_key(size) else { return Ok(()) };
    let largest = smallest.case.tensors.iter().map(Vec::len).max().unwrap_or(0);
    if smallest.contract.len().saturating_mul(largest) > ANCHORED {
        return Ok(());
    }
    let exact = O::exact(&subject.contract, &smallest.case).map_err(|e| anyhow!(e))?;
    if exact != smallest.contract {
        bail!("the oracle disagrees with itself on {} {:?}: please report this", O::OP, smallest.case);
    }
    Ok(())
}

fn run_catalogue<O: Operation>(request: &Request, kernels: &[&'static Kernel<O>], lanes: &[Lane]) -> Result<Part> {
    let entries = catalogue::read::<O>(O::CATALOGUE).with_context(|| format!("suites/catalogue/{}.txt", O::OP))?;
    let mut part = Part::default();
    for lane in lanes {
        let mut total = CatalogueRun {
            op: O::OP.to_owned(),
            lane: lane.name.clone(),
            cases: entries.len() as u64,
            judged: 0,
            broken: 0,
        };
        for kernel in kernels.iter().filter(|kernel| lane.isa_path(O::OP, kernel.name).is_some()) {
            let subject = Subject::<O>::new(request, kernel)?;
            let domain = &kernel.contract.domain;
            let cases = entries.iter().filter_map(|entry| text::parse::<O>(&entry.case, domain).ok());
            let cases = cases.filter(|case| O::covers(domain, &case.params));
            let posed: Vec<_> = cases.map(|case| subject.pose(case)).collect::<Result<_>>()?;
            let record = run::<O>(lane, kernel, &subject.contract, &subject.links, &posed);
            total.judged += record.contract.inputs;
            total.broken += record.contract.differ;
            let mut found = Part::default();
            settle(request, &subject, lane, record, &mut found);
            for mut finding in found.findings {
                finding.message = format!("in the catalogue: {}", finding.message);
                part.findings.push(finding);
            }
        }
        part.catalogue.push(total);
    }
    Ok(part)
}

fn self_checks<O: Operation>(request: &Request, lanes: &[Lane]) -> Result<Vec<SelfCheck>> {
    let pairs = lanes.iter().flat_map(|lane| O::mutants().iter().map(move |mutant| (lane, mutant)));
    let pairs: Vec<_> =
        pairs.filter(|(lane, m)| lane.is_compiled() == O::compiled(&m.kernel.contract.domain)).collect();
    let checks: Result<Vec<SelfCheck>, _> =
        pairs.par_iter().map(|(lane, mutant)| self_check::check::<O>(mutant, lane, request.seed)).collect();
    Ok(checks?)
}

/// Writes one record into the ledger: a row for each side, and a finding for everything outside the contract.
fn settle<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    lane: &Lane,
    record: Record<O::Params>,
    part: &mut Part,
) {
    let sides = [
        (Against::Contract, Some(&subject.contract), &record.contract),
        (Against::Reference, subject.reference.as_ref(), &record.reference),
    ];
    for (against, scheme, side) in sides {
        let Some(scheme) = scheme else { continue };
        let kept = against == Against::Reference && record.contract.differ == 0;
        let seen = explained(subject, lane, scheme, side, kept, request.asked.case.is_some());
        let told = Told { request, subject, lane, against, scheme };
        let witness = seen.as_ref().map(|(explanation, witness)| told.witness(explanation, witness));
        part.mismatches.extend(told.mismatches(side, seen.as_ref().map(|(explanation, _)| explanation)));
        // A contract that is not kept is the finding; what the reference says of it then is no other.
        let noise = against == Against::Reference && !kept && !subject.links.is_empty();
        part.findings.extend(told.finding(side, witness.clone()).filter(|_| !noise));
        let mut row = told.row(side, witness, record.seconds);
        if against == Against::Contract {
            row.deviations = faults(&record, |(n, _)| *n);
            row.deviations.retain(|_, n| *n > 0);
            row.declared = faults(&record, |(_, reason)| (*reason).to_owned());
        }
        part.rows.push(row);
    }
    part.findings.extend(record.failures.iter().map(|(failure, case, times)| {
        let told = Told { request, subject, lane, against: Against::Contract, scheme: &subject.contract };
        told.unanswered(failure, case, *times)
    }));
}

/// What is told of each known fault.
fn faults<P, T>(record: &Record<P>, told: impl Fn(&(u64, &'static str)) -> T) -> BTreeMap<String, T> {
    record.faults.iter().map(|(class, seen)| ((*class).to_owned(), told(seen))).collect()
}

/// A known fault that a whole run does not see is one no more: what made the lane's code is another.
fn stale<O: Operation>(subject: &Subject<O>, lane: &Lane, record: &Record<O::Params>) -> Vec<Finding> {
    let seen = |class: &&str| record.faults.get(class).is_some_and(|(n, _)| *n > 0);
    let unseen = O::faults(subject.kernel.name, &lane.name).into_iter().filter(|class| !seen(class));
    let finding = |class| Finding {
        op: O::OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: lane.name.clone(),
        class: "stale-deviation".to_owned(),
        message: format!("the known fault `{class}` of what made this lane's code was not seen: remove it"),
        witness: None,
    };
    unseen.map(finding).collect()
}

/// Cause and smallest witness of what differs on one side; the case itself where the caller gave it.
fn explained<O: Operation>(
    subject: &Subject<O>,
    lane: &Lane,
    scheme: &O::Scheme,
    side: &Side<O::Params>,
    kept: bool,
    given: bool,
) -> Option<(Explanation, Witness<O::Params>)> {
    let first = side.smallest()?;
    let domain = &subject.kernel.contract.domain;
    let own = if kept { O::own(&subject.contract) } else { None };
    let causes: Vec<Cause<O>> = own.into_iter().chain(O::causes(scheme, domain)).collect();
    let explanation = explain(&causes, &side.evidence());
    let shown = Shown { kernel: subject.kernel.name, domain, scheme, causes: &causes, class: explanation.class };
    let witness = if given { first_difference::<O>(domain, scheme, first) } else { shrink(&shown, lane, first) }?;
    let explanation = refined(subject, lane, explanation, &witness, kept);
    Some((explanation, witness))
}

/// The class of the witness by itself, where the contract is kept and the links to it are known.
fn refined<O: Operation>(
    subject: &Subject<O>,
    lane: &Lane,
    explanation: Explanation,
    witness: &Witness<O::Params>,
    kept: bool,
) -> Explanation {
    if !kept || subject.links.is_empty() {
        return explanation;
    }
    let Ok(posed) = subject.pose(witness.case.clone()) else { return explanation };
    let ran = outs::<O>(&mut lane.lease(), subject.kernel.name, &witness.case, posed.contract.len());
    let element = O::element(&subject.kernel.contract.domain, &witness.case.params, O::TENSORS.len());
    let due = ran.map(|outs| due_to(&subject.links, &element, &posed, &outs)).unwrap_or_default();
    match due.get(witness.index) {
        Some(Some(class)) => Explanation { class, ..explanation },
        _ => explanation,
    }
}

/// What is told of one side of a record.
struct Told<'a, O: Operation> {
    request: &'a Request,
    subject: &'a Subject<O>,
    lane: &'a Lane,
    against: Against,
    scheme: &'a O::Scheme,
}

impl<O: Operation> Told<'_, O> {
    fn kernel(&self) -> &'static str {
        self.subject.kernel.name
    }

    fn case(&self, case: &Case<O::Params>, index: Option<usize>) -> ledger::Case {
        spelled::<O>(&self.subject.kernel.contract.domain, case, index)
    }

    fn command(&self, case: &Case<O::Params>) -> String {
        again::<O>(&self.request.command, self.subject.kernel, &self.lane.name, case)
    }

    fn witness(&self, explanation: &Explanation, witness: &Witness<O::Params>) -> ledger::Witness {
        ledger::Witness {
            case: self.case(&witness.case, Some(witness.index)),
            got: witness.got.clone(),
            expected: Some(witness.expected.clone()),
            scheme: O::label(self.scheme),
            class: explanation.class.to_owned(),
            because: explanation.because.clone(),
            command: self.command(&witness.case),
        }
    }

    fn row(&self, side: &Side<O::Params>, witness: Option<ledger::Witness>, seconds: f64) -> Row {
        let apart = side.classes.values().sum::<u64>() == side.differ && side.differ > 0;
        let classes = if apart {
            side.classes.iter().map(|(class, n)| ((*class).to_owned(), *n)).collect()
        } else {
            witness.iter().map(|w| (w.class.clone(), side.differ)).collect()
        };
        Row {
            op: O::OP.to_owned(),
            kernel: self.kernel().to_owned(),
            lane: self.lane.name.clone(),
            isa_path: self.lane.isa_path(O::OP, self.kernel()).unwrap_or("not offered").to_owned(),
            against: self.against,
            scheme: O::label(self.scheme),
            parameters: 0,
            inputs: side.inputs,
            coverage: Coverage::Sampled,
            out_of_domain: side.out_of_domain,
            differ: side.differ,
            by_delta: by_delta(&side.by_delta),
            classes,
            deviations: BTreeMap::new(),
            declared: BTreeMap::new(),
            path: Vec::new(),
            witness,
            seconds,
        }
    }

    fn mismatches(&self, side: &Side<O::Params>, explanation: Option<&Explanation>) -> Vec<Mismatch> {
        let Some(explanation) = explanation else { return Vec::new() };
        let first = |seen: &crate::tensor::explain::Observed<O::Params>| {
            let Witness { case, index, got, expected } =
                first_difference::<O>(&self.subject.kernel.contract.domain, self.scheme, seen)?;
            Some(Mismatch {
                op: O::OP.to_owned(),
                kernel: self.kernel().to_owned(),
                lane: self.lane.name.clone(),
                against: self.against,
                scheme: O::label(self.scheme),
                case: words::case(&self.case(&case, Some(index))),
                got,
                expected,
                class: explanation.class.to_owned(),
            })
        };
        side.differing.iter().take(KEPT).filter_map(first).collect()
    }

    /// Any difference from the contract; and, from the reference, one that nothing explains.
    fn finding(&self, side: &Side<O::Params>, witness: Option<ledger::Witness>) -> Option<Finding> {
        let witness = witness?;
        let (differ, inputs) = (words::count(side.differ), words::count(side.inputs));
        let message = match self.against {
            Against::Contract => format!("differs from its contract on {differ} of {inputs} results"),
            Against::Reference if witness.class == UNEXPLAINED => {
                format!("differs from the reference on {differ} results for no known reason")
            }
            Against::Reference => return None,
        };
        Some(Finding {
            op: O::OP.to_owned(),
            kernel: self.kernel().to_owned(),
            lane: self.lane.name.clone(),
            class: witness.class.clone(),
            message,
            witness: Some(witness),
        })
    }

    fn unanswered(&self, failure: &crate::lane::Failure, case: &Case<O::Params>, times: u64) -> Finding {
        let often = if times > 1 { format!(", {times} times in all") } else { String::new() };
        Finding {
            op: O::OP.to_owned(),
            kernel: self.kernel().to_owned(),
            lane: self.lane.name.clone(),
            class: failure.class().to_owned(),
            message: format!("{failure}{often}"),
            witness: Some(ledger::Witness {
                case: self.case(case, None),
                got: 0.into(),
                expected: None,
                scheme: String::new(),
                class: failure.class().to_owned(),
                because: failure.to_string(),
                command: self.command(case),
            }),
        }
    }
}

/// A case for a reader: spelled out where it is small, otherwise its shape.
fn spelled<O: Operation>(domain: &O::Domain, case: &Case<O::Params>, index: Option<usize>) -> ledger::Case {
    let mut out =
        text::arguments::<O>(domain, case).unwrap_or_else(|| O::arguments(&case.params).into_iter().collect());
    if let Some(index) = index {
        out.insert("at".to_owned(), (index as i64).into());
    }
    out
}

/// The command that runs the case again; the whole kernel where the case is too large to spell out.
pub(crate) fn again<O: Operation>(command: &Command, kernel: &Kernel<O>, lane: &str, case: &Case<O::Params>) -> String {
    let whole = command.kernel(O::OP, kernel.name, lane);
    match text::arguments::<O>(&kernel.contract.domain, case) {
        Some(arguments) => format!("{whole} --case '{}'", words::case(&arguments)),
        None => whole,
    }
}

/// A witness in one line.
pub(crate) fn line<O: Operation>(
    domain: &O::Domain,
    witness: &Witness<O::Params>,
    scheme: &str,
    class: &str,
) -> String {
    let case = words::case(&spelled::<O>(domain, &witness.case, Some(witness.index)));
    format!("{case}: got {}, {scheme} {}, class {class}", witness.got, witness.expected)
}

fn sweep_rows<O: Operation>(request: &Request, subject: &Subject<O>, lane: &Lane, sweep: &Sweep) -> Vec<Row> {
    sweep
        .sides
        .iter()
        .map(|side| {
            let classes = side.classes.iter().map(|(class, n)| ((*class).to_owned(), *n)).collect();
            Row {
                op: O::OP.to_owned(),
                kernel: subject.kernel.name.to_owned(),
                lane: lane.name.clone(),
                isa_path: lane.isa_path(O::OP, subject.kernel.name).unwrap_or("not offered").to_owned(),
                against: side.against,
                scheme: side.scheme.clone(),
                parameters: 0,
                inputs: side.inputs,
                coverage: if sweep.exhaustive { Coverage::Exhaustive } else { Coverage::Sampled },
                out_of_domain: side.out_of_domain,
                differ: side.differ,
                by_delta: by_delta(&side.by_delta),
                classes,
                deviations: BTreeMap::new(),
                declared: BTreeMap::new(),
                path: side.path.clone(),
                witness: side.witness.as_ref().map(|w| ledger::Witness {
                    case: w.case.clone(),
                    got: w.got.clone(),
                    expected: Some(w.expected.clone()),
                    scheme: side.scheme.clone(),
                    class: side.class.unwrap_or(UNEXPLAINED).to_owned(),
                    because: side.because.clone(),
                    command: format!(
                        "{} --case '{}'",
                        request.command.kernel(O::OP, subject.kernel.name, &lane.name),
                        words::case(&w.case)
                    ),
                }),
                seconds: sweep.seconds,
            }
        })
        .collect()
}

fn sweep_finding<O: Operation>(request: &Request, subject: &Subject<O>, lane: &Lane, sweep: &Sweep) -> Vec<Finding> {
    let rows = sweep_rows(request, subject, lane, sweep);
    let broken = rows.into_iter().filter(|row| row.against == Against::Contract && row.differ > 0);
    let differs = broken.map(|row| Finding {
        op: row.op,
        kernel: row.kernel,
        lane: row.lane,
        class: UNEXPLAINED.to_owned(),
        message: format!("differs from its contract on {} of all {}", words::count(row.differ), sweep.what),
        witness: row.witness,
    });
    let failed = sweep.failure.iter().map(|failure| Finding {
        op: O::OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: lane.name.clone(),
        class: failure.class().to_owned(),
        message: format!("{failure}, in the sweep of {}", sweep.what),
        witness: None,
    });
    differs.chain(failed).collect()
}

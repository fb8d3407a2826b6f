//! Self-check of the harness: every mutant must be detected with the right class, and every control must give equal results.

use crate::activity::doing;
use crate::case::again::line;
use crate::case::text;
use crate::count::Count;
use crate::erased::{Control, Domain, Kernel, Mutant, Op, Params, Scheme};
use crate::explain::groups::{Basis, Explained};
use crate::judge::record::{Record, judged_into, run};
use crate::judge::side::Side;
use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::case::{Case, Spec, numbered};
use crate::operation::case_cache::CaseCache;
use crate::operation::expected::differs;
use crate::operation::observed::Witness;
use crate::operation::selection::CaseSelection;
use crate::plan::plans;
use crate::run::answers::{Answers, answers, outs, tried};
use crate::run::subject::{ExpectedCase, identity, sized};
use crate::units::Placed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_common::parallel;
use tiebreak_common::stream::{below, stream};
use tiebreak_impls::mutants::Witness as Published;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::{CheckKind, SelfCheck};
use tiebreak_reports::text as words;

/// Number of cases that another lane runs between two checks for a detected mutant.
const FEW: usize = 8;

/// Sampling rate of cases for a mutant, which runs all cases only if the sample does not detect it with the right class.
const ONE_IN: u32 = 4;

/// Cases of self-checks for a kernel's domain and contract, prepared once for all subjects with equal ones and for all lanes.
struct Trial<'a> {
    kernel: &'a Kernel,
    scheme: &'a Scheme,
    seed: u64,
    specs: &'a [Arc<Spec<Params>>],
    /// Cases of a random sample, so that no rhythm of the plan decides.
    some: OnceLock<Posed>,
    /// Cases of all specs, which most mutants do not need.
    all: OnceLock<Posed>,
}

/// Cases with the results that a contract expects.
struct Posed {
    cases: Vec<ExpectedCase>,
    /// Number of cases that could not be prepared.
    lost: usize,
}

impl<'a> Trial<'a> {
    /// Takes the specs of the kernel's domain; `scheme` is the kernel's contract.
    fn new(specs: &'a [Arc<Spec<Params>>], kernel: &'a Kernel, scheme: &'a Scheme, seed: u64) -> Self {
        Self { kernel, scheme, seed, specs, some: OnceLock::new(), all: OnceLock::new() }
    }

    fn some(&self) -> &Posed {
        let mut rng = stream(self.seed, &format!("{}/self-check", self.kernel.op().name()));
        // A trial of the operation itself is short and needs no sample.
        let one_in = if self.kernel.op().capabilities().self_checks.trial.is_some() { 1 } else { ONE_IN };
        self.some.get_or_init(|| self.posed(self.specs.iter().filter(|_| below(&mut rng, one_in) == 0)))
    }

    fn all(&self) -> &Posed {
        self.all.get_or_init(|| self.posed(self.specs.iter()))
    }

    fn posed<'s>(&self, specs: impl Iterator<Item = &'s Arc<Spec<Params>>>) -> Posed {
        let own = identity(self.kernel);
        let pose = |spec: &Spec<Params>| {
            let case = spec.cache.case(|| spec.case(&self.kernel.contract.domain, self.seed).map(sized))?;
            let (contract, is_new) = spec.cache.expected(&own, || self.scheme.expected(&case)).ok()?;
            Some(ExpectedCase { case, contract, reference: None, is_new, steps: CaseCache::NOTHING.steps("") })
        };
        let posed: Vec<_> = specs.map(|spec| pose(spec)).collect();
        Posed { lost: posed.iter().filter(|case| case.is_none()).count(), cases: posed.into_iter().flatten().collect() }
    }
}

/// Runs a kernel on all cases of the self-checks; `scheme` is the kernel's contract.
pub fn tried_on_all(kernel: &Kernel, scheme: &Scheme, lane: &Lane, seed: u64) -> Record {
    let specs = trial_specs(&kernel.contract.domain, seed);
    run(lane, kernel, scheme, &[], &Trial::new(&specs, kernel, scheme, seed).all().cases)
}

/// Returns the specs of a self-check: the operation's own, or the quick plan without the large cases at which kernels take turns.
fn trial_specs(domain: &Domain, seed: u64) -> Vec<Arc<Spec<Params>>> {
    if let Some(trial) = domain.op().capabilities().self_checks.trial {
        return numbered(trial(domain, seed)).into_iter().map(Arc::new).collect();
    }
    let plan = plans::plan(domain, &CaseSelection::default(), &Effort::Quick.budget(), seed);
    plan.iter().filter(|spec| spec.turn.is_all()).cloned().collect()
}

/// Explains the differences of a kernel from the contract.
pub fn explained(kernel: &Kernel, scheme: &Scheme, lane: &Lane, side: &Side) -> Vec<Explained> {
    let domain = &kernel.contract.domain;
    let (kept, selection) = (false, &CaseSelection::default());
    Basis { kernel: kernel.name, code: None, domain, contract: scheme, scheme, kept, selection }.explained(lane, side)
}

/// Subject of a self-check.
enum Subject<'a> {
    Mutant(&'a Mutant),
    Control(&'a Control),
}

impl Clone for Subject<'_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for Subject<'_> {}

/// Outcome of a self-check in a lane.
#[derive(Clone)]
struct Seen {
    words: String,
    passed: bool,
    /// Witness of a difference.
    witness: Option<Witness<Params>>,
}

/// Runs a mutant in a lane.
pub fn check(mutant: &Mutant, lane: &Lane, seed: u64) -> Result<SelfCheck, UnknownName> {
    let subject = Subject::Mutant(mutant);
    let scheme = subject.kernel().scheme()?;
    let specs = trial_specs(&subject.kernel().contract.domain, seed);
    let trial = Trial::new(&specs, subject.kernel(), &scheme, seed);
    Ok(subject.in_lanes(&scheme, &trial, &[lane]).remove(0))
}

/// Subjects of a domain, which share their cases, by scheme; with their places in the list.
type Schemes<'a> = BTreeMap<String, (Scheme, Vec<(usize, Subject<'a>)>)>;

/// Sorts self-checks in the order of a run: the mutants lane by lane, then the controls.
pub fn in_order(mut checks: Vec<Placed>) -> Vec<SelfCheck> {
    checks.sort_by_key(|(place, _)| *place);
    checks.into_iter().map(|(_, check)| check).collect()
}

/// Returns the number of groups: mutants and controls of a domain form a group and share their cases.
pub fn groups(op: Op) -> Result<usize, UnknownName> {
    let controls = (op.capabilities().self_checks.controls)();
    Ok(by_domain(op, &controls)?.len())
}

/// Runs the mutants and controls of a group in each lane where due.
pub fn of_group(
    op: Op,
    at: usize,
    lanes: &[Lane],
    due: impl Fn(&Lane, &Kernel) -> bool + Sync,
    seed: u64,
) -> Result<Vec<Placed>, UnknownName> {
    let controls = (op.capabilities().self_checks.controls)();
    let of_domains = by_domain(op, &controls)?;
    let schemes = &of_domains[at];
    let in_lanes = |trial: &Trial<'_>, scheme: &Scheme, (place, subject): &(usize, Subject<'_>)| {
        let places: Vec<usize> = (0..lanes.len()).filter(|lane| due(&lanes[*lane], subject.kernel())).collect();
        let due: Vec<&Lane> = places.iter().map(|lane| &lanes[*lane]).collect();
        let is_control = matches!(subject, Subject::Control(_));
        let checks = subject.in_lanes(scheme, trial, &due);
        places.into_iter().zip(checks).map(move |(lane, check)| ((is_control, lane, *place), check)).collect::<Vec<_>>()
    };
    let Some((_, same)) = schemes.values().next() else { return Ok(Vec::new()) };
    let specs = trial_specs(&same[0].1.kernel().contract.domain, seed);
    let of_scheme = |(scheme, same): &(Scheme, Vec<(usize, Subject<'_>)>)| {
        let trial = Trial::new(&specs, same[0].1.kernel(), scheme, seed);
        parallel::map(same, |subject| in_lanes(&trial, scheme, subject)).concat()
    };
    Ok(parallel::map(&schemes.values().collect::<Vec<_>>(), |of| of_scheme(of)).concat())
}

/// Returns the mutants and controls of an operation by domain.
fn by_domain(op: Op, controls: &[Control]) -> Result<Vec<Schemes<'_>>, UnknownName> {
    let subjects = op.mutants().iter().map(Subject::Mutant).chain(controls.iter().map(Subject::Control));
    let mut of_domains: BTreeMap<String, Schemes<'_>> = BTreeMap::new();
    for (place, subject) in subjects.enumerate() {
        let kernel = subject.kernel();
        let of_domain = of_domains.entry(format!("{:?}", kernel.contract.domain)).or_default();
        let scheme = kernel.scheme()?;
        let (_, same) = of_domain.entry(scheme.label()).or_insert_with(|| (scheme, Vec::new()));
        same.push((place, subject));
    }
    Ok(of_domains.into_values().collect())
}

impl<'a> Subject<'a> {
    fn kernel(self) -> &'a Kernel {
        match self {
            Self::Mutant(mutant) => &mutant.kernel,
            Self::Control(control) => &control.kernel,
        }
    }

    /// Runs the subject in each lane. The sample is enough for a mutant that every lane detects with the right class.
    fn in_lanes(self, scheme: &Scheme, trial: &Trial<'_>, lanes: &[&Lane]) -> Vec<SelfCheck> {
        let _doing = doing(|| format!("{} {}: self-check", scheme.op().name(), self.kernel().name));
        if matches!(self, Self::Mutant(_)) {
            let checks = self.on(scheme, trial.some(), lanes);
            if checks.iter().all(|check| check.passed) {
                return checks;
            }
        }
        self.on(scheme, trial.all(), lanes)
    }

    /// Runs cases in each lane, and judges the results of the first. In another lane a mutant runs until it is detected: if all results so far and
    /// the result for the first lane's witness equal the first lane's, the verdict is the same. Otherwise the lane is judged separately.
    fn on(self, scheme: &Scheme, Posed { cases, lost }: &Posed, lanes: &[&Lane]) -> Vec<SelfCheck> {
        let [first, others @ ..] = lanes else { return Vec::new() };
        let judged = |lane: &Lane, given: &Answers| {
            let empty = Record::of_self_check();
            let record = judged_into(empty, (lane, self.kernel()), scheme, &[], cases, given);
            self.seen(scheme, lane, &record, *lost)
        };
        let given = answers(&Runner::new(first), self.kernel(), cases, false);
        let seen = judged(first, &given);
        let in_other = |lane: &&Lane| {
            let runner = Runner::new(lane);
            let is_like = |case: &Case<Params>| self.gives_alike(case, [first, lane]);
            let (mut so_far, alike) = self.until_known(cases, &runner, &given);
            if alike && seen.witness.as_ref().is_none_or(|witness| is_like(&witness.case)) {
                return self.row(scheme, lane, seen.clone());
            }
            // Results that have been seen stay, because they may not recur.
            let others = &cases[so_far.each.len()..];
            so_far.followed_by(answers(&runner, self.kernel(), others, false));
            self.row(scheme, lane, judged(lane, &so_far))
        };
        std::iter::once(self.row(scheme, first, seen.clone())).chain(others.iter().map(in_other)).collect()
    }

    /// Runs cases while the results equal another lane's: all cases of a control, and a mutant until detection. Returns the answers, and true if all
    /// are equal.
    fn until_known(self, cases: &[ExpectedCase], runner: &Runner<'_>, known: &Answers) -> (Answers, bool) {
        let mut so_far = Answers::of(Vec::new());
        if self.kernel().contract.domain.is_compiled() {
            return (so_far, false);
        }
        for chunk in cases.chunks(FEW) {
            let given = answers(runner, self.kernel(), chunk, false);
            let alike = given.continues(known, so_far.each.len());
            let dies = |(expected_case, outs): (&ExpectedCase, &Option<Vec<i32>>)| {
                outs.as_ref().is_some_and(|outs| differs(&expected_case.contract, outs))
            };
            let dead = matches!(self, Self::Mutant(_)) && chunk.iter().zip(&given.each).any(dies);
            so_far.followed_by(given);
            if dead || !alike {
                return (so_far, alike);
            }
        }
        (so_far, true)
    }

    /// True if two lanes give the same results for a case.
    fn gives_alike(self, case: &Case<Params>, lanes: [&Lane; 2]) -> bool {
        let kernel = self.kernel();
        let given = |lane: &Lane| tried(&mut lane.lease(), kernel.name, &kernel.contract.domain, case);
        let [left, right] = lanes.map(given);
        left.is_some() && left == right
    }

    fn seen(self, scheme: &Scheme, lane: &Lane, record: &Record, lost: usize) -> Seen {
        let kernel = self.kernel();
        let all = explained(kernel, scheme, lane, &record.contract);
        let line =
            |first: &Explained| line(&kernel.contract.domain, &first.witness, &scheme.label(), first.explanation.class);
        let Count { inputs, differ, .. } = record.contract.count;
        let (words, passed) = match (self, record.failures.first(), all.first()) {
            (_, Some(failed), _) => (failed.failure.to_string(), false),
            _ if lost > 0 => (format!("{lost} cases of its plan cannot be posed"), false),
            (Self::Mutant(_), None, None) => (format!("alive after {inputs} results"), false),
            (Self::Mutant(mutant), None, Some(first)) => {
                let classes: BTreeSet<Class> = all.iter().map(|explained| explained.explanation.class).collect();
                let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
                let named = names == [mutant.class];
                let wrong = if named { String::new() } else { format!("; classes {}", names.join(", ")) };
                (line(first) + &wrong, named)
            }
            (Self::Control(_), None, None) => (format!("equal on {inputs} inputs"), inputs > 0 && differ == 0),
            (Self::Control(_), None, Some(first)) => {
                (format!("{differ} of {inputs} inputs differ, {}", line(first)), false)
            }
        };
        Seen { words, passed, witness: all.into_iter().next().map(|first| first.witness) }
    }

    /// Builds the ledger entry, including published witnesses that a mutant does not reproduce.
    fn row(self, scheme: &Scheme, lane: &Lane, seen: Seen) -> SelfCheck {
        let (kind, name, origin, expected_class, missing) = match self {
            Self::Control(control) => (CheckKind::Control, control.name, control.origin, "", Vec::new()),
            Self::Mutant(mutant) => {
                let Mutant { kernel, class, origin, witnesses } = mutant;
                let missing = witnesses.iter().filter_map(|witness| missing(kernel, scheme, lane, witness));
                (CheckKind::Mutant, kernel.name, *origin, *class, missing.collect::<Vec<String>>())
            }
        };
        SelfCheck {
            op: scheme.op().name().to_owned(),
            name: name.to_owned(),
            lane: lane.name.clone(),
            kind,
            passed: seen.passed && missing.is_empty(),
            expected_class: expected_class.to_owned(),
            seen: std::iter::once(seen.words).chain(missing).collect::<Vec<_>>().join("; "),
            origin: origin.to_owned(),
        }
    }
}

/// Describes a published witness that a mutant does not reproduce; the mutant is then not the published bug.
fn missing(kernel: &Kernel, scheme: &Scheme, lane: &Lane, witness: &Published) -> Option<String> {
    let (case, index) = (kernel.op().capabilities().self_checks.published)(witness)?;
    let given = outs(&mut lane.lease(), kernel.name, &case, case.tensors[0].len());
    let expected = scheme.expected(&case).ok().and_then(|expected| expected[index]);
    if given.is_ok_and(|outs| outs[index] == witness.got) && expected == Some(witness.expected) {
        return None;
    }
    let arguments = text::arguments(&kernel.contract.domain, &case);
    let case = (kernel.op().capabilities().spelling.result)(&case, index, None).or(arguments).unwrap_or_default();
    Some(format!("{} does not give {} for {}", words::case(&case), witness.got, witness.expected))
}

//! One kernel in one lane: cases run, results compared with its contract and with the reference, evidence gathered.

use super::fault::{self, Faulty, Made, Seen, Sighting};
use super::shrink::{Witness, shrink_by};
use super::side::{Given, SMALL, Side, differs};
use super::spans::Spans;
use super::{Asked, Case, Element, Expected, Operation, PathStep, Unposable};
use crate::count;
use crate::lane::{Failure, Input, Lane, Lease, Order};
use crate::runner::{Answer, FailedBatch, Runner};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use tiebreak_common::class::Class;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::kernel::Kernel;
use tiebreak_reports::text;

/// Failures that narrowing one down may cost where each ends a worker, and where each is waited for.
const NARROWED: usize = 32;
const WAITED: usize = 8;
/// Results that are asked for one by one, to find the one that fails.
const SINGLY: usize = 1 << 16;

/// A case with what each side expects of it.
pub struct Posed<P> {
    /// The case.
    pub case: Case<P>,
    /// By the contract.
    pub contract: Expected,
    /// By the reference.
    pub reference: Option<Expected>,
}

/// What one kernel did in one lane.
#[derive(Clone, Debug)]
pub struct Record<P> {
    /// Cases run.
    pub cases: u64,
    /// Against the contract.
    pub contract: Side<P>,
    /// Against the reference.
    pub reference: Side<P>,
    /// Cases not run any more after failures to answer.
    pub given_up: u64,
    /// Cases that were not to be run.
    pub spared: u64,
    /// Cases without an answer at first.
    pub failures: Vec<FailedBatch<Case<P>>>,
    /// Results that follow a known fault of what made the lane's code, or a deviation that the contract declares, by its class, with the reason.
    pub faults: Seen,
    /// Multipliers and shifts that were run, each with its fractional bits.
    pub pairs: BTreeSet<(Channel, u32)>,
    /// Results by kind, as the operation has them.
    pub kinds: BTreeMap<&'static str, u64>,
    /// What the cases that were judged span.
    pub spans: Spans,
    /// Seconds of lane and judge.
    pub seconds: f64,
}

impl<P> Default for Record<P> {
    fn default() -> Self {
        Self {
            cases: 0,
            given_up: 0,
            spared: 0,
            contract: Side::default(),
            reference: Side::default(),
            failures: Vec::new(),
            faults: Seen::new(),
            pairs: BTreeSet::new(),
            kinds: BTreeMap::new(),
            spans: Spans::default(),
            seconds: 0.0,
        }
    }
}

impl<P: Clone> Record<P> {
    /// Adds what another part of the run saw.
    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.given_up += other.given_up;
        self.spared += other.spared;
        self.contract.merge(other.contract);
        self.reference.merge(other.reference);
        self.failures.extend(other.failures);
        fault::merge(&mut self.faults, other.faults);
        self.pairs.extend(other.pairs);
        count::add(&mut self.kinds, other.kinds);
        self.spans.merge(other.spans);
        self.seconds += other.seconds;
    }

    /// Takes over what another run saw as evidence alone: nothing of it is counted.
    pub fn learn_from(&mut self, other: Self) {
        self.contract.learn_from(other.contract);
        self.reference.learn_from(other.reference);
    }
}

/// What a scheme expects of a case. An operation may leave out what the contract gives no value to.
pub fn held_against<O: Operation>(
    contract: &O::Scheme,
    scheme: &O::Scheme,
    case: &Case<O::Params>,
) -> Result<Expected, Unposable> {
    let expected = O::expected(scheme, case)?;
    Ok(if O::OPEN.is_none() { held::<O>(&O::expected(contract, case)?, expected) } else { expected })
}

/// What a reference expects beside a contract. An operation may leave out what the contract gives no value to.
pub fn held<O: Operation>(contract: &Expected, mut reference: Expected) -> Expected {
    if O::OPEN.is_none() {
        reference.iter_mut().zip(contract).filter(|(_, own)| own.is_none()).for_each(|(value, _)| *value = None);
    }
    reference
}

/// What a kernel gives for a case.
pub fn outs<O: Operation>(
    lease: &mut Lease<'_>,
    kernel: &str,
    case: &Case<O::Params>,
    results: usize,
) -> Result<Vec<i32>, Failure> {
    let job = O::job(kernel, &case.params);
    let payload = case.payload();
    let input = Input::Values { len: results, values: &payload };
    let mut out = Vec::new();
    lease.run(&Order { job: &job, input, misalign: case.misalign }, &mut out)?;
    Ok(out)
}

/// Whether a lane is known to have no function for some parameters. Asking for one is refused, and each refusal costs a worker.
pub fn lacks<O: Operation>(lane: &Lane, params: &O::Params) -> bool {
    O::function(params).is_some_and(|function| lane.lacks(&function))
}

/// What a kernel gives for a case that may be none: nothing if it has no sizes, the lane lacks it, or the kernel gives no results.
pub fn tried<O: Operation>(
    lease: &mut Lease<'_>,
    kernel: &str,
    domain: &O::Domain,
    case: &Case<O::Params>,
) -> Option<Vec<i32>> {
    let results = O::sizes(domain, &case.params).ok()?.outputs;
    if lacks::<O>(lease.lane(), &case.params) { None } else { outs::<O>(lease, kernel, case, results).ok() }
}

/// What each result that differs from the reference is due to: a known fault, the first step of the path that gives it, or that the contract gives no value.
pub fn due_to<O: Operation>(
    path: &[PathStep<O>],
    element: &Element,
    posed: &Posed<O::Params>,
    outs: &[i32],
    faulty: &Faulty,
) -> Vec<Option<Class>> {
    let Some(reference) = posed.reference.as_ref().filter(|_| !path.is_empty()) else { return Vec::new() };
    let case = &posed.case;
    let given = |step: &PathStep<O>| Some((step.class(&case.params), step.expected(case)?));
    let given: Vec<_> = path.iter().filter_map(given).collect();
    let words = element.words();
    let due = |(index, out): (usize, &[i32])| {
        let at = index * words..(index + 1) * words;
        let is = |expected: &Expected| !differs(&expected[at.clone()], out) && expected[at.start].is_some();
        if reference[at.start].is_none() || is(reference) {
            return None;
        }
        if let Some(Some(class)) = faulty.get(index) {
            return Some(*class);
        }
        if posed.contract[at.start].is_none() {
            return O::OPEN;
        }
        given.iter().find(|(_, expected)| is(expected)).map(|(class, _)| *class)
    };
    outs.chunks(words).enumerate().map(due).collect()
}

/// What a lane gave for cases, in their order.
pub struct Answers<P> {
    /// Of each case its results, if there are any.
    pub each: Vec<Option<Vec<i32>>>,
    /// Cases without an answer at first.
    failures: Vec<FailedBatch<Case<P>>>,
    /// Cases not run any more.
    given_up: u64,
    /// Cases that were not to be run.
    spared: u64,
    /// Seconds until the last answer.
    pub seconds: f64,
}

impl<P> Answers<P> {
    /// Results that no lane gave.
    pub fn of(each: Vec<Option<Vec<i32>>>) -> Self {
        Self { each, failures: Vec::new(), given_up: 0, spared: 0, seconds: 0.0 }
    }

    /// Whether no case failed to be answered.
    fn has_all(&self) -> bool {
        self.failures.is_empty() && self.given_up == 0
    }

    /// Whether another lane gave the same result everywhere, and neither failed to answer.
    pub fn is_like(&self, other: &Self) -> bool {
        self.each.len() == other.each.len() && self.continues(other, 0)
    }

    /// Whether another lane gave the same results from a case on, and neither failed to answer.
    pub fn continues(&self, other: &Self, from: usize) -> bool {
        self.has_all() && other.has_all() && other.each[from..].starts_with(&self.each)
    }

    /// As those of all cases, of which the `chosen` ones ran.
    pub fn among(self, chosen: &[bool]) -> Self {
        let mut given = self.each.into_iter();
        let each: Vec<_> = chosen.iter().map(|chosen| if *chosen { given.next().flatten() } else { None }).collect();
        Self { spared: chosen.iter().filter(|chosen| !**chosen).count() as u64, each, ..self }
    }

    /// With the answers to other cases of the same list.
    pub fn with(mut self, others: Self) -> Self {
        self.each.iter_mut().zip(others.each).for_each(|(ours, theirs)| *ours = ours.take().or(theirs));
        self.failures.extend(others.failures);
        Self { given_up: self.given_up + others.given_up, spared: 0, seconds: self.seconds + others.seconds, ..self }
    }

    /// Followed by the answers to the cases after them.
    pub fn followed_by(&mut self, others: Self) {
        self.each.extend(others.each);
        self.failures.extend(others.failures);
        self.given_up += others.given_up;
        self.seconds += others.seconds;
    }

    /// Whether every result there is is that of another lane, and neither failed to answer.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let same = |(ours, theirs): (&Option<Vec<i32>>, _)| ours.is_none() || ours == theirs;
        self.has_all() && other.has_all() && self.each.iter().zip(&other.each).all(same)
    }
}

/// Runs the cases of a kernel in a lane. A case that fails is made smaller as long as it does, unless it is to be kept as it is.
pub fn answers<'a, O: Operation>(
    runner: &Runner<'_>,
    kernel: &Kernel<O::Run, O::Domain>,
    cases: impl IntoIterator<Item = &'a Posed<O::Params>>,
    keep: bool,
) -> Answers<O::Params> {
    let begun = Instant::now();
    let mut lease = runner.lane.lease();
    let mut all = Answers::of(Vec::new());
    for posed in cases {
        let case = &posed.case;
        let (job, payload) = (O::job(kernel.name, &case.params), case.payload());
        let input = Input::Values { len: posed.contract.len(), values: &payload };
        let order = Order { job: &job, input, misalign: case.misalign };
        let narrow = |failure: &Failure| narrowed::<O>(runner, kernel, case, failure, keep);
        let during = || format!("{}: {}", text::plural(posed.contract.len(), "result"), shape::<O>(&case.params));
        let mut out = Vec::new();
        let answer = runner.run(&mut lease, &order, &mut out, narrow, during);
        let answered = matches!(answer, Answer::Given | Answer::GivenAgain(_));
        all.each.push(answered.then_some(out));
        match answer {
            Answer::Given => {}
            Answer::GivenUp => all.given_up += 1,
            Answer::GivenAgain(failed) | Answer::Failed(failed) => all.failures.push(failed),
        }
    }
    all.seconds = begun.elapsed().as_secs_f64();
    all
}

/// The parameters in words.
fn shape<O: Operation>(params: &O::Params) -> String {
    text::case(&O::arguments(params).into_iter().collect())
}

/// The smallest case found that makes a kernel fail again by itself, if the case does.
fn narrowed<O: Operation>(
    runner: &Runner<'_>,
    kernel: &Kernel<O::Run, O::Domain>,
    case: &Case<O::Params>,
    failure: &Failure,
    keep: bool,
) -> Option<Case<O::Params>> {
    let most = if matches!(failure, Failure::Hung(_)) { WAITED } else { NARROWED };
    let domain = &kernel.contract.domain;
    let mut lease = runner.impatient();
    let mut failed = 0;
    let mut shows = |case: &Case<O::Params>| {
        let results = O::sizes(domain, &case.params).ok().filter(|_| O::covers(domain, &case.params))?.outputs;
        let fails = failed < most && outs::<O>(&mut lease, kernel.name, case, results).is_err();
        failed += usize::from(fails);
        fails.then(|| Witness { case: case.clone(), index: 0, got: 0.into(), expected: 0.into() })
    };
    let mut first = shows(case)?;
    if keep {
        return Some(first.case);
    }
    // Where a result is computed from few elements: those of the one that fails.
    let results = O::sizes(domain, &case.params).map_or(0, |sizes| sizes.outputs);
    let forms = if results > SMALL { 1 } else { usize::MAX };
    let alone = |index| O::alone(case, domain, index).into_iter().take(forms).find_map(|(case, _)| shows(&case));
    first = (0..results.min(SINGLY)).find_map(alone).unwrap_or(first);
    Some(shrink_by::<O>(domain, &Asked::default(), first, &mut shows).case)
}

/// Runs the cases of a kernel in a lane, and judges them.
pub fn run<O: Operation>(
    lane: &Lane,
    kernel: &Kernel<O::Run, O::Domain>,
    contract: &O::Scheme,
    path: &[PathStep<O>],
    cases: &[Posed<O::Params>],
) -> Record<O::Params> {
    judged(lane, kernel, contract, path, cases, &answers::<O>(&Runner::new(lane), kernel, cases, false))
}

/// Judges what a lane gave for the cases of a kernel.
pub fn judged<O: Operation>(
    lane: &Lane,
    kernel: &Kernel<O::Run, O::Domain>,
    contract: &O::Scheme,
    path: &[PathStep<O>],
    cases: &[Posed<O::Params>],
    answers: &Answers<O::Params>,
) -> Record<O::Params> {
    let begun = Instant::now();
    let mut record = Record { given_up: answers.given_up, failures: answers.failures.clone(), ..Record::default() };
    record.spared = answers.spared;
    record.cases = cases.len() as u64 - record.given_up - record.spared;
    let made = Made::<O> { kernel: kernel.name, lane: &lane.name, contract };
    for (class, reason) in O::declared(contract) {
        record.faults.insert(class, Sighting::none(reason));
    }
    for (posed, answer) in cases.iter().zip(&answers.each) {
        let Some(outs) = answer else { continue };
        let element = O::element(&kernel.contract.domain, &posed.case.params, O::TENSORS.len());
        let faulty = match differs(&posed.contract, outs) {
            true => made.faulty(&posed.case, &posed.contract, element.words(), outs, &mut record.faults),
            false => Faulty::new(),
        };
        let groups = O::groups(contract, &posed.case.params, outs.len() / element.words());
        let given = Given { case: &posed.case, outs, faulty: &faulty, groups: &groups };
        record.pairs.extend(O::pairs(&posed.case.params));
        deviate::<O>(contract, posed, outs, &mut record.faults);
        record.contract.judge(&element, &given, &posed.contract, true);
        count::add(&mut record.kinds, O::kinds(contract, &posed.case, &posed.contract).into_iter().collect());
        span::<O>(kernel.name, &posed.case, outs.len() / element.words(), &mut record.spans);
        if let Some(reference) = &posed.reference
            && record.reference.judge(&element, &given, reference, false) > 0
        {
            for class in due_to(path, &element, posed, outs, &faulty).into_iter().flatten() {
                *record.reference.count.classes.entry(class).or_default() += 1;
            }
        }
    }
    record.seconds = answers.seconds + begun.elapsed().as_secs_f64();
    record
}

/// Adds the parameters of a case, with its number of results and where its operands lie.
fn span<O: Operation>(kernel: &str, case: &Case<O::Params>, results: usize, spans: &mut Spans) {
    if let Ok(job) = serde_json::to_value(O::job(kernel, &case.params)) {
        spans.add(&job["params"]);
    }
    spans.note("results", results as f64);
    spans.note("misalign", case.misalign as f64);
}

/// Counts results that follow a declared deviation where it changes them.
fn deviate<O: Operation>(contract: &O::Scheme, posed: &Posed<O::Params>, outs: &[i32], seen: &mut Seen) {
    for ((class, expected), out) in O::deviations(contract, &posed.case).iter().zip(&posed.contract).zip(outs) {
        if let (Some(class), true) = (class, *expected == Some(*out))
            && let Some(sighting) = seen.get_mut(class)
        {
            sighting.results += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crash, or another result, that does not happen again would otherwise be gone when all the cases run.
    #[test]
    fn what_was_seen_once_stays() {
        let failed = FailedBatch { failure: Failure::Crashed("once".to_owned()), witness: None, during: String::new() };
        let first = Answers::<()>::of(vec![Some(vec![1]), Some(vec![2])]);
        let mut some = Answers::of(vec![Some(vec![7])]).among(&[true, false]);
        assert!(!some.agrees_with(&first) && Answers::of(vec![Some(vec![1]), None]).agrees_with(&first));
        some.failures.push(failed);
        let others = Answers::of(vec![Some(vec![2])]).among(&[false, true]);
        assert!(others.agrees_with(&first) && (others.spared, some.spared) == (1, 1));
        let all = some.with(others);
        assert_eq!((all.each, all.failures.len(), all.spared), (vec![Some(vec![7]), Some(vec![2])], 1, 0));
        let mut so_far = Answers::<()>::of(vec![Some(vec![1])]);
        assert!(so_far.continues(&first, 0) && !so_far.continues(&first, 1));
        so_far.followed_by(Answers { given_up: 1, ..Answers::of(vec![None]) });
        assert_eq!((so_far.each.len(), so_far.given_up), (2, 1));
    }
}

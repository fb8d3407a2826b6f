//! Record of a kernel in a lane: cases run, results compared with contract and reference, evidence gathered.

use crate::count::{self, Count, Deltas};
use crate::erased::{Kernel, Params, PathStep, Scheme};
use crate::judge::lane_code::LaneCode;
use crate::judge::side::{Results, Side};
use crate::judge::spans::ParameterSpans;
use crate::lane::Lane;
use crate::lane::runner::{FailedBatch, Runner};
use crate::operation::case::Case;
use crate::operation::element::Element;
use crate::operation::expected::{Expected, differs};
use crate::operation::fault::{self, Faulty, Seen, Sighting};
use crate::operation::outside::Outside;
use crate::run::answers::{Answers, answers};
use crate::run::subject::ExpectedCase;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use tiebreak_common::class::Class;
use tiebreak_impls::fpm::Channel;

/// Record of a kernel in a lane.
#[derive(Clone, Debug)]
pub struct Record {
    /// Number of cases run.
    pub cases: u64,
    /// Comparison with the contract.
    pub contract: Side,
    /// Comparison with the reference.
    pub reference: Side,
    /// Number of cases not run after failures.
    pub given_up: u64,
    /// Number of cases left out on purpose.
    pub spared: u64,
    /// Number of cases refused by the worker as outside the kernel's domain, and the first reason.
    pub outside: Outside,
    /// Number of planned cases without a result, including the cases given up.
    pub unanswered: u64,
    /// Failures of cases without an answer at first.
    pub failures: Vec<FailedBatch<Case<Params>>>,
    /// Results that follow a known fault of the lane's code, or a declared deviation of the contract, by class, with the reason.
    pub faults: Seen,
    /// Multipliers and shifts of the cases, with their fractional bits.
    pub pairs: BTreeSet<(Channel, u32)>,
    /// Number of results by kind, as the operation counts them.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Spans of the judged cases' parameters; `None` in a self-check, whose report has none.
    pub spans: Option<ParameterSpans>,
    /// Seconds of lane and judge.
    pub seconds: f64,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            cases: 0,
            given_up: 0,
            spared: 0,
            outside: Outside::default(),
            unanswered: 0,
            contract: Side::default(),
            reference: Side::default(),
            failures: Vec::new(),
            faults: Seen::new(),
            pairs: BTreeSet::new(),
            kinds: BTreeMap::new(),
            spans: Some(ParameterSpans::default()),
            seconds: 0.0,
        }
    }
}

impl Record {
    /// Returns a record for a self-check, without deltas and spans of parameters.
    pub(crate) fn of_self_check() -> Self {
        let side = || Side { count: Count { by_delta: Deltas::ignored(), ..Count::default() }, ..Side::default() };
        Self { contract: side(), reference: side(), spans: None, ..Self::default() }
    }

    /// True if a case gave no result at first.
    pub fn has_failed(&self) -> bool {
        self.given_up > 0 || !self.failures.is_empty()
    }

    /// Adds the record of another part of the run.
    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.given_up += other.given_up;
        self.spared += other.spared;
        self.outside.merge(&other.outside);
        self.unanswered += other.unanswered;
        self.contract.merge(other.contract);
        self.reference.merge(other.reference);
        self.failures.extend(other.failures);
        fault::merge(&mut self.faults, other.faults);
        self.pairs.extend(other.pairs);
        count::add(&mut self.kinds, other.kinds);
        if let (Some(spans), Some(others)) = (&mut self.spans, other.spans) {
            spans.merge(others);
        }
        self.seconds += other.seconds;
    }

    /// Adds the evidence of another run, without the counts.
    pub fn learn_from(&mut self, other: Self) {
        self.contract.learn_from(other.contract);
        self.reference.learn_from(other.reference);
    }
}

/// Returns the class of each result that differs from the reference: a known fault, the first path step with the result, or no value by the contract.
pub fn classify_by_path(
    path: &[PathStep],
    element: &Element,
    expected_case: &ExpectedCase,
    outs: &[i32],
    faulty: &Faulty,
) -> Vec<Option<Class>> {
    let Some(reference) = expected_case.reference.as_ref().filter(|_| !path.is_empty()) else { return Vec::new() };
    let case = &expected_case.case;
    let gives = |at: usize, step: &PathStep| {
        // The last step is the contract, whose results are known already.
        let own = step.is_last().then(|| Arc::clone(&expected_case.contract));
        Some((step.class(&case.params), own.or_else(|| expected_case.step(at, || step.expected(case)))?))
    };
    // Steps are computed only when a result needs them.
    let steps: Vec<OnceCell<_>> = path.iter().map(|_| OnceCell::new()).collect();
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
        if expected_case.contract[at.start].is_none() {
            return case.params.capabilities().causes.undefined_class;
        }
        let each = path.iter().zip(&steps).enumerate();
        let given = each.filter_map(|(at, (step, given))| given.get_or_init(|| gives(at, step)).as_ref());
        given.filter(|(_, expected)| is(expected)).map(|(class, _)| *class).next()
    };
    outs.chunks(words).enumerate().map(due).collect()
}

/// Runs the cases of a kernel in a lane, and judges them.
pub fn run(lane: &Lane, kernel: &Kernel, contract: &Scheme, path: &[PathStep], cases: &[ExpectedCase]) -> Record {
    judged(lane, kernel, contract, path, cases, &answers(&Runner::new(lane), kernel, cases, false))
}

/// Judges a lane's answers for the cases of a kernel.
pub fn judged(
    lane: &Lane,
    kernel: &Kernel,
    contract: &Scheme,
    path: &[PathStep],
    cases: &[ExpectedCase],
    answers: &Answers,
) -> Record {
    judged_into(Record::default(), (lane, kernel), contract, path, cases, answers)
}

/// Judges a lane's answers for the cases of a kernel, into an empty record.
pub(crate) fn judged_into(
    empty: Record,
    (lane, kernel): (&Lane, &Kernel),
    contract: &Scheme,
    path: &[PathStep],
    cases: &[ExpectedCase],
    answers: &Answers,
) -> Record {
    let begun = Instant::now();
    let mut record = Record { given_up: answers.given_up, failures: answers.failures.clone(), ..empty };
    record.spared = answers.spared;
    record.outside.clone_from(&answers.outside);
    let others = answers.spared + answers.outside.count;
    record.unanswered = answers.each.iter().filter(|answer| answer.is_none()).count() as u64 - others;
    record.cases = cases.len() as u64 - record.given_up - others;
    let code = LaneCode { kernel: kernel.name, lane: &lane.name, contract };
    for (class, reason) in (contract.op().capabilities().deviations.declared)(contract) {
        record.faults.insert(class, Sighting::none(reason));
    }
    let mut spanned = [None; 2];
    for (expected_case, answer) in cases.iter().zip(&answers.each) {
        let Some(outs) = answer else { continue };
        let element = kernel.contract.domain.result_element(&expected_case.case.params);
        let faulty = match differs(&expected_case.contract, outs) {
            true => {
                code.faulty(&expected_case.case, &expected_case.contract, element.words(), outs, &mut record.faults)
            }
            false => Faulty::new(),
        };
        let groups = (contract.op().capabilities().causes.groups)(
            contract,
            &expected_case.case.params,
            outs.len() / element.words(),
        );
        let given = Results { case: &expected_case.case, outs, faulty: &faulty, groups: &groups, due: &[] };
        deviate(contract, expected_case, outs, &mut record.faults);
        record.contract.judge(&element, &given, &expected_case.contract, true);
        count::add(
            &mut record.kinds,
            (contract.op().capabilities().counted.kinds)(contract, &expected_case.case, &expected_case.contract)
                .into_iter()
                .collect(),
        );
        if let Some(spans) = &mut record.spans {
            // Consecutive cases often have the same parameters, and sequences return to those of the call before the last.
            let params = Some(&expected_case.case.params);
            if !spanned.contains(&params) {
                record.pairs.extend((contract.op().capabilities().counted.pairs)(&expected_case.case.params));
                spans.add(&expected_case.case.params.job(kernel.name));
            }
            if spanned[0] != params {
                spanned = [params, spanned[0]];
            }
            spans.note("results", (outs.len() / element.words()) as f64);
            spans.note("misalign", expected_case.case.misalign as f64);
        }
        let Some(reference) = &expected_case.reference else { continue };
        let due = match differs(reference, outs) {
            true => classify_by_path(path, &element, expected_case, outs, &faulty),
            false => Vec::new(),
        };
        if record.reference.judge(&element, &Results { due: &due, ..given }, reference, false) > 0 {
            for class in due.into_iter().flatten() {
                *record.reference.count.classes.entry(class).or_default() += 1;
            }
        }
    }
    record.seconds = answers.seconds + begun.elapsed().as_secs_f64();
    record
}

/// Counts results that follow a declared deviation.
fn deviate(contract: &Scheme, expected_case: &ExpectedCase, outs: &[i32], seen: &mut Seen) {
    for ((class, expected), out) in (contract.op().capabilities().deviations.in_case)(contract, &expected_case.case)
        .iter()
        .zip(expected_case.contract.iter())
        .zip(outs)
    {
        if let (Some(class), true) = (class, *expected == Some(*out))
            && let Some(sighting) = seen.get_mut(class)
        {
            sighting.results += 1;
        }
    }
}

//! Answers of lanes for cases: one at a time, or several in flight to save waiting. A case that fails is shrunk and tried again.
//!
//! Up to sixteen cases are in flight, because most cases are small and a worker spent more time waiting for a case than running it. A worker's death
//! belongs to the first case without an answer; later cases in flight run again and are no failures. The test
//! `processes::a_failure_among_batches_in_flight_is_that_of_its_own` checks this.

use crate::activity::doing;
use crate::erased::{Domain, Kernel, Params};
use crate::lane::runner::{FailedBatch, InFlight, Runner};
use crate::lane::{Failure, Input, Lane, Lease, Order};
use crate::operation::case::Case;
use crate::operation::observed::{SMALL, Witness};
use crate::operation::outside::Outside;
use crate::operation::selection::CaseSelection;
use crate::run::shrink::shrink_by;
use crate::run::subject::ExpectedCase;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use tiebreak_reports::text;

/// Limits on failures while a case is shrunk: if each failure ends a worker, and if each failure is waited for.
const NARROWED: usize = 32;

const WAITED: usize = 8;

/// Limit on results that are tried singly, to find the result that fails.
const SINGLY: usize = 1 << 16;

/// Cases in flight to a worker; while the worker computes a case, the next cases are on their way.
const AHEAD: usize = 16;

/// Runs a case, and returns the results of the kernel.
pub fn outs(lease: &mut Lease<'_>, kernel: &str, case: &Case<Params>, results: usize) -> Result<Vec<i32>, Failure> {
    let job = case.params.job(kernel);
    let payload = Arc::new(case.payload());
    let input = Input::Values { len: results, values: &payload };
    let mut out = Vec::new();
    lease.run(&Order { job: &job, input, misalign: case.misalign, products: case.params.products() }, &mut out)?;
    Ok(out)
}

/// True if a lane is known to lack the function for some parameters. The worker would refuse, and each refusal costs a worker.
pub fn lacks(lane: &Lane, params: &Params) -> bool {
    (params.op().capabilities().compiled.function)(params).is_some_and(|function| lane.lacks(&function))
}

/// Runs a case that may be invalid; `None` if the case has no sizes, the lane lacks its function, or the kernel gives no results.
pub fn tried(lease: &mut Lease<'_>, kernel: &str, domain: &Domain, case: &Case<Params>) -> Option<Vec<i32>> {
    let results = domain.sizes(&case.params).ok()?.outputs;
    if lacks(lease.lane(), &case.params) { None } else { outs(lease, kernel, case, results).ok() }
}

/// Answers of a lane for cases, in the order of the cases.
pub struct Answers {
    /// Results of each case, if there are any.
    pub each: Vec<Option<Vec<i32>>>,
    /// Failures of cases that gave no answer at first.
    pub(crate) failures: Vec<FailedBatch<Case<Params>>>,
    /// Number of cases not run after failures.
    pub(crate) given_up: u64,
    /// Number of cases left out on purpose.
    pub(crate) spared: u64,
    /// Number of cases that the worker refused as outside the kernel's domain, and the first reason.
    pub(crate) outside: Outside,
    /// Seconds until the last answer.
    pub seconds: f64,
}

impl Answers {
    /// Wraps results that no lane gave.
    pub fn of(each: Vec<Option<Vec<i32>>>) -> Self {
        Self { each, failures: Vec::new(), given_up: 0, spared: 0, outside: Outside::default(), seconds: 0.0 }
    }

    /// True if no case failed.
    fn has_all(&self) -> bool {
        self.failures.is_empty() && self.given_up == 0
    }

    /// True if another lane gave the same results for all cases, and no case failed in either lane.
    pub fn is_like(&self, other: &Self) -> bool {
        self.each.len() == other.each.len() && self.continues(other, 0)
    }

    /// True if the results equal another lane's results from case `from` on, and no case failed in either lane.
    pub fn continues(&self, other: &Self, from: usize) -> bool {
        self.has_all() && other.has_all() && other.each[from..].starts_with(&self.each)
    }

    /// Extends the answers of the `chosen` cases to all cases; the other cases are spared.
    pub fn among(self, chosen: &[bool]) -> Self {
        let mut given = self.each.into_iter();
        let each: Vec<_> = chosen.iter().map(|chosen| if *chosen { given.next().flatten() } else { None }).collect();
        Self { spared: chosen.iter().filter(|chosen| !**chosen).count() as u64, each, ..self }
    }

    /// Adds the answers to the other cases of the same list.
    pub fn with(mut self, others: Self) -> Self {
        self.each.iter_mut().zip(others.each).for_each(|(ours, theirs)| *ours = ours.take().or(theirs));
        self.failures.extend(others.failures);
        self.outside.merge(&others.outside);
        Self { given_up: self.given_up + others.given_up, spared: 0, seconds: self.seconds + others.seconds, ..self }
    }

    /// Appends the answers to the following cases.
    pub fn followed_by(&mut self, others: Self) {
        self.each.extend(others.each);
        self.failures.extend(others.failures);
        self.outside.merge(&others.outside);
        self.given_up += others.given_up;
        self.seconds += others.seconds;
    }

    /// True if every result here equals the other lane's result, and no case failed in either lane.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let same = |(ours, theirs): (&Option<Vec<i32>>, _)| ours.is_none() || ours == theirs;
        self.has_all() && other.has_all() && self.each.iter().zip(&other.each).all(same)
    }
}

/// Runs the cases of a kernel in a lane. A case that fails is shrunk while it fails, unless `keep` is set.
pub fn answers<'a>(
    runner: &Runner<'_>,
    kernel: &Kernel,
    cases: impl IntoIterator<Item = &'a ExpectedCase>,
    keep: bool,
) -> Answers {
    let begun = Instant::now();
    let (mut cases, mut again) = (cases.into_iter(), VecDeque::new());
    let mut ahead = InFlight::new(runner.lane.lease(), if runner.lane.is_isolated() { AHEAD } else { 1 });
    let (mut all, mut out) = (Answers::of(Vec::new()), Vec::new());
    loop {
        let hand_over = |lease: &mut Lease<'_>| {
            let expected_case = if runner.has_given_up() { None } else { again.pop_front().or_else(|| cases.next()) }?;
            Some((expected_case, handed_over(kernel.name, expected_case, |order| lease.submit(order))))
        };
        let Some((expected_case, answer)) = ahead.next(hand_over, &mut out) else { break };
        let Err(failure) = answer else {
            all.each.push(Some(std::mem::take(&mut out)));
            continue;
        };
        if let Some(reason) = failure.outside() {
            all.each.push(None);
            all.outside.add(1, reason, &shape(&expected_case.case.params));
            continue;
        }
        // Cases after the failed case were lost with its worker and run again.
        ahead.lost().into_iter().rev().for_each(|expected_case| again.push_front(expected_case));
        let case = &expected_case.case;
        let narrow = |failure: &Failure| narrowed(runner, kernel, case, failure, keep);
        let during = || format!("{}: {}", text::plural(expected_case.contract.len(), "result"), shape(&case.params));
        let retry = || handed_over(kernel.name, expected_case, |order| ahead.lease.run(order, &mut out));
        let (failed, given) = runner.again(failure, narrow, during, retry);
        all.failures.push(failed);
        all.each.push(given.then(|| std::mem::take(&mut out)));
    }
    let unasked = again.len() + cases.count();
    all.each.extend((0..unasked).map(|_| None));
    all.given_up = unasked as u64;
    all.seconds = begun.elapsed().as_secs_f64();
    all
}

/// Hands over a case as a batch.
fn handed_over<T>(kernel: &str, expected_case: &ExpectedCase, hand_over: impl FnOnce(&Order<'_>) -> T) -> T {
    let (job, payload) = (expected_case.case.params.job(kernel), Arc::new(expected_case.case.payload()));
    let input = Input::Values { len: expected_case.contract.len(), values: &payload };
    hand_over(&Order {
        job: &job,
        input,
        misalign: expected_case.case.misalign,
        products: expected_case.case.params.products(),
    })
}

/// Formats the parameters.
fn shape(params: &Params) -> String {
    text::case(&params.arguments().into_iter().collect())
}

/// Returns the smallest case found that makes a kernel fail by itself; `None` if `case` does not fail again.
fn narrowed(
    runner: &Runner<'_>,
    kernel: &Kernel,
    case: &Case<Params>,
    failure: &Failure,
    keep: bool,
) -> Option<Case<Params>> {
    let most = if matches!(failure, Failure::Hung(_)) { WAITED } else { NARROWED };
    let domain = &kernel.contract.domain;
    let at = || format!("{} {} in lane {}", kernel.op().name(), kernel.name, runner.lane.name);
    let _doing = doing(|| format!("{}: a smaller input that fails is looked for ({failure})", at()));
    let mut lease = runner.impatient();
    let mut failed = 0;
    let mut shows = |case: &Case<Params>| {
        let results = domain.sizes(&case.params).ok().filter(|_| domain.covers(&case.params))?.outputs;
        let fails = failed < most && outs(&mut lease, kernel.name, case, results).is_err();
        failed += usize::from(fails);
        fails.then(|| Witness { case: case.clone(), index: 0, got: 0.into(), expected: 0.into() })
    };
    let mut first = shows(case)?;
    if keep {
        return Some(first.case);
    }
    // If a result depends on few elements, only the elements of the failing result are kept.
    let results = domain.sizes(&case.params).map_or(0, |sizes| sizes.outputs);
    let forms = if results > SMALL { 1 } else { usize::MAX };
    let alone = |index| domain.isolate_result(case, index).into_iter().take(forms).find_map(|(case, _)| shows(&case));
    first = (0..results.min(SINGLY)).find_map(alone).unwrap_or(first);
    Some(shrink_by(domain, &CaseSelection::default(), first, &mut shows).case)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crash or a different result that does not recur would be lost if all cases ran again.
    #[test]
    fn what_was_seen_once_stays() {
        let failed = FailedBatch { failure: Failure::Crashed("once".to_owned()), witness: None, during: String::new() };
        let first = Answers::of(vec![Some(vec![1]), Some(vec![2])]);
        let mut some = Answers::of(vec![Some(vec![7])]).among(&[true, false]);
        assert!(!some.agrees_with(&first) && Answers::of(vec![Some(vec![1]), None]).agrees_with(&first));
        some.failures.push(failed);
        let others = Answers::of(vec![Some(vec![2])]).among(&[false, true]);
        assert!(others.agrees_with(&first) && (others.spared, some.spared) == (1, 1));
        let all = some.with(others);
        assert_eq!((all.each, all.failures.len(), all.spared), (vec![Some(vec![7]), Some(vec![2])], 1, 0));
        let mut so_far = Answers::of(vec![Some(vec![1])]);
        assert!(so_far.continues(&first, 0) && !so_far.continues(&first, 1));
        so_far.followed_by(Answers { given_up: 1, ..Answers::of(vec![None]) });
        assert_eq!((so_far.each.len(), so_far.given_up), (2, 1));
    }
}

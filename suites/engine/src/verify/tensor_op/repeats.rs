//! The largest call of a kernel again and again with the same input: state that a kernel keeps, and races between its threads, make results differ from call
//! to call.

use super::super::Request;
use super::history::History;
use super::kernel::Subject;
use crate::lane::{Input, Lane, Order};
use crate::tensor::job;
use crate::tensor::{Case, Operation, Spec};
use std::cell::Cell;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Finding};

/// Words read and written times the words of an inner sum, of a call that is repeated.
const WORK: f64 = 8192.0;

/// What came of it.
#[derive(Default)]
pub(super) struct Repeats {
    /// Calls that gave results.
    pub(super) calls: u64,
    /// What breaks the run.
    pub(super) finding: Option<Finding>,
}

/// Repeats the largest call of a plan, of those that take no more than a moment.
pub(super) fn run<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    lane: &Lane,
    specs: &[Spec<O::Params>],
) -> Repeats {
    let domain = &subject.kernel.contract.domain;
    let cost = |(_, spec): &(usize, &Spec<O::Params>)| cost::<O>(domain, &spec.params);
    let small = |at: &(usize, &Spec<O::Params>)| cost(at).is_some_and(|(work, _)| work <= WORK);
    let largest = specs.iter().enumerate().filter(small).max_by_key(|at| cost(at).map_or(0, |(_, words)| words));
    let case = largest.and_then(|(i, spec)| spec.case::<O>(domain, request.seed, i));
    let mut all = Repeats::default();
    let Some(case) = case else { return all };
    let results = O::sizes(domain, &case.params).map_or(0, |sizes| sizes.outputs);
    let Budget { repeated_calls, .. } = request.effort.budget();
    let mut lease = lane.lease();
    let (job, payload) = (job::<O>(subject.kernel.name, &case.params), case.payload());
    let order = Order { job: &job, input: Input::Values { len: results, values: &payload }, misalign: case.misalign };
    let (mut first, mut given): (Option<Vec<i32>>, _) = (None, Vec::new());
    for _ in 0..repeated_calls {
        if let Err(failure) = lease.run(&order, &mut given) {
            let message = format!("after {} calls with the same input: {failure}", all.calls);
            all.finding = Some(subject.place(lane).finding(failure.class(), message, None));
            return all;
        }
        all.calls += 1;
        let first = first.get_or_insert_with(|| given.clone());
        if let Some(at) = first.iter().zip(&given).position(|(first, given)| first != given) {
            let history = History { request, subject, lane, specs, replays: Cell::new(0) };
            all.finding = Some(differing(&history, &case, (at, first, &given), (all.calls, repeated_calls)));
            return all;
        }
    }
    all
}

/// How long a call takes, about, and how large it is, in words; nothing of a case without sizes.
fn cost<O: Operation>(domain: &O::Domain, params: &O::Params) -> Option<(f64, usize)> {
    let sizes = O::sizes(domain, params).ok()?;
    let inputs = sizes.inputs.iter().filter(|words| **words > 0);
    let words = inputs.clone().sum::<usize>() + sizes.outputs;
    // m*k times k*n times m*n is the square of the products of a matrix product.
    let product: f64 = inputs.map(|words| *words as f64).product::<f64>() * sizes.outputs as f64;
    let is_flat = sizes.inputs.iter().all(|words| *words == 0 || *words == sizes.outputs);
    Some((if is_flat { words as f64 } else { product.sqrt().max(words as f64) }, words))
}

fn differing<O: Operation>(
    history: &History<'_, O>,
    case: &Case<O::Params>,
    (at, first, given): (usize, &[i32], &[i32]),
    (call, calls): (u64, u64),
) -> Finding {
    let domain = &history.subject.kernel.contract.domain;
    let element = O::element(domain, &case.params, O::TENSORS.len());
    let index = at / element.words();
    let words = index * element.words()..(index + 1) * element.words();
    let because = format!("the first call with this input gave another result than call {call} of {calls}");
    let witness = ledger::Witness {
        case: super::row_writer::spelled::<O>(domain, case, Some(index), None),
        got: element.described(&given[words.clone()]),
        expected: Some(element.described(&first[words])),
        scheme: "the first call".to_owned(),
        class: Class::DependsOnHistory.into(),
        because,
        command: history.repeated(case, call as usize),
    };
    let message = format!("gives other results for the same input: call {call} of {calls} differs from the first");
    history.subject.place(history.lane).finding(Class::DependsOnHistory, message, Some(witness))
}

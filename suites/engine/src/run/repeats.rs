//! Repetition of a kernel's largest call with the same input: kept state, and races between threads, make results differ from call to call.

use crate::erased::{Domain, Kernel, Params};
use crate::lane::{Failure, Input, Lane, Order};
use crate::operation::case::{Case, Spec};
use crate::operation::request::Request;
use std::sync::Arc;
use tiebreak_common::budget::Budget;

/// Largest cost of a repeated call, in products or words, as estimated by `cost`.
const WORK: f64 = 8192.0;

/// Outcome of the repetition.
pub(crate) struct Repeats {
    /// Number of calls that gave results.
    pub(crate) calls: u64,
    /// Failure of a call without results.
    pub(crate) failure: Option<Failure>,
    /// First call with other results than the first call.
    pub(crate) differs: Option<Differing>,
}

/// Call whose results differ from the first call with the same input.
pub(crate) struct Differing {
    pub(crate) case: Case<Params>,
    /// Index of the first word that differs.
    pub(crate) at: usize,
    /// Results of the first call.
    pub(crate) first: Vec<i32>,
    /// Results of the differing call.
    pub(crate) given: Vec<i32>,
    /// Number of the differing call, from 1.
    pub(crate) call: u64,
    /// Number of calls of the whole test.
    pub(crate) calls: u64,
}

/// Repeats the largest call of a plan among the calls that take only a moment.
pub(crate) fn run(request: &Request, kernel: &Kernel, lane: &Lane, specs: &[Arc<Spec<Params>>]) -> Repeats {
    let domain = &kernel.contract.domain;
    let cost = |spec: &&Arc<Spec<Params>>| cost(domain, &spec.params);
    let small = |spec: &&Arc<Spec<Params>>| cost(spec).is_some_and(|(work, _)| work <= WORK);
    let largest = specs.iter().filter(small).max_by_key(|spec| cost(spec).map_or(0, |(_, words)| words));
    let case = largest.and_then(|spec| spec.case(domain, request.seed));
    let mut all = Repeats { calls: 0, failure: None, differs: None };
    let Some(case) = case else { return all };
    let results = domain.sizes(&case.params).map_or(0, |sizes| sizes.outputs);
    let Budget { repeated_calls, .. } = request.effort.budget();
    let mut lease = lane.lease();
    let (job, payload) = (case.params.job(kernel.name), Arc::new(case.payload()));
    let order = Order {
        job: &job,
        input: Input::Values { len: results, values: &payload },
        misalign: case.misalign,
        products: case.params.products(),
    };
    let (mut first, mut given): (Option<Vec<i32>>, _) = (None, Vec::new());
    for _ in 0..repeated_calls {
        if let Err(failure) = lease.run(&order, &mut given) {
            all.failure = Some(failure);
            return all;
        }
        all.calls += 1;
        let first = first.get_or_insert_with(|| given.clone());
        if let Some(at) = first.iter().zip(&given).position(|(first, given)| first != given) {
            let (first, call) = (first.clone(), all.calls);
            all.differs = Some(Differing { case, at, first, given, call, calls: repeated_calls });
            return all;
        }
    }
    all
}

/// Estimates the cost of a call, and returns the size in words; `None` for a case without sizes.
fn cost(domain: &Domain, params: &Params) -> Option<(f64, usize)> {
    let sizes = domain.sizes(params).ok()?;
    let inputs = sizes.inputs.iter().filter(|words| **words > 0);
    let words = inputs.clone().sum::<usize>() + sizes.outputs;
    // For a matrix product, m*k times k*n times m*n is the square of the number of products.
    let product: f64 = inputs.map(|words| *words as f64).product::<f64>() * sizes.outputs as f64;
    let is_flat = sizes.inputs.iter().all(|words| *words == 0 || *words == sizes.outputs);
    Some((if is_flat { words as f64 } else { product.sqrt().max(words as f64) }, words))
}

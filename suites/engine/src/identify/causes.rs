//! Causes of the differences from the nearest schemes, for a kernel that follows no scheme.

use super::{Excluded, Probe};
use crate::erased::Params;
use crate::explain::cause;
use crate::operation::case::Case;
use crate::operation::observed::Observed;
use serde::Serialize;
use tiebreak_common::class::Class;
use tiebreak_common::parallel;

/// Number of nearest schemes, without their policies, whose changes are tried.
const TRIED: usize = 6;

/// Change to a scheme that reproduces the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Class of the change.
    pub class: Class,
    /// Description of the change, with the number of results that the change reproduces.
    pub because: String,
}

/// Case with the results of the kernel.
pub(super) type Answered = (Case<Params>, Vec<i32>);

/// Adds the causes to the nearest of the excluded schemes, and moves schemes with a cause to the front. `excluded` has the nearest scheme first.
pub(super) fn add(asked: &Probe<'_>, excluded: &mut [Excluded], answered: &[Answered]) {
    let mut nearest: Vec<usize> = Vec::new();
    for (at, one) in excluded.iter().enumerate() {
        if nearest.iter().all(|known| family(&excluded[*known].scheme) != family(&one.scheme)) {
            nearest.push(at);
        }
    }
    nearest.truncate(TRIED);
    let found = parallel::map(&nearest, |at| cause(asked, &excluded[*at].scheme, answered));
    for (at, cause) in nearest.into_iter().zip(found) {
        excluded[at].cause = cause;
    }
    excluded.sort_by_key(|one| one.cause.is_none());
}

/// Returns the name of a scheme without its policy.
pub fn family(label: &str) -> &str {
    label.split(':').next().unwrap_or(label)
}

/// Returns the change to a scheme that reproduces all results; `None` if no change does.
fn cause(asked: &Probe<'_>, scheme: &str, answered: &[Answered]) -> Option<Cause> {
    let scheme = asked.domain.op().scheme(scheme).ok()?;
    let observed = |(case, outs): &Answered| {
        let expected = scheme.expected(case).ok()?;
        let words = asked.domain.result_element(&case.params).words();
        let differs = |at: usize| expected[at].is_some_and(|expected| expected != outs[at]);
        let differ = (0..outs.len()).step_by(words).filter(|at| (*at..at + words).any(differs)).count();
        Some(Observed { case: case.clone(), outs: outs.clone(), expected, differ, faulty: Vec::new(), due: Vec::new() })
    };
    let observed: Vec<Observed<Params>> = answered.iter().filter_map(observed).collect();
    let found = cause::explain(&scheme.changes(asked.domain), &observed.iter().collect::<Vec<_>>());
    (found.class != Class::Unexplained).then_some(Cause { class: found.class, because: found.because })
}

//! Faults injected into the expected results of a plan, without a kernel: the plan must have a case that detects each. A run compares every result
//! with the expected one, so a fault that changes a result is a finding, and no lane is needed to show it.

mod asked;
mod causes;
mod conjunctions;
mod kept;
mod large;
mod little;
mod quantized;
mod requantize;
mod sweep;
mod targets;

use tiebreak_suites::budget::Effort;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::operation::{Case, CaseSelection, Expected, Operation, find, promise};

/// Cases of a kernel, with the results that its contract expects.
pub(crate) struct Planned<O: Operation>(pub(crate) Vec<(Case<O::Params>, Expected)>);

impl<O: Operation> Planned<O> {
    /// Returns the plan of a run.
    pub(crate) fn of(kernel: &str, effort: Effort) -> Self {
        let kernel = find::<O>(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
        let (domain, scheme) = (&kernel.contract.domain, promise::<O>(kernel).expect("a scheme"));
        let specs = plans::whole::<O>(domain, &CaseSelection::default(), &effort.budget(), 1);
        let case = |spec: &tiebreak_suites::operation::Spec<O::Params>| spec.case::<O>(domain, 1).expect("a case");
        let expected = |case: Case<O::Params>| {
            let expected = O::expected(&scheme, &case).expect("in the domain");
            (case, expected)
        };
        Self(specs.iter().map(case).map(expected).collect())
    }

    /// True if a kernel is detected that gives `lie` in place of the right result, if `lie` has a value.
    pub(crate) fn detects(&self, lie: impl Fn(&Case<O::Params>, usize, i32) -> Option<i32>) -> bool {
        self.0.iter().any(|(case, expected)| {
            let mut given = expected.iter().enumerate().filter_map(|(at, right)| Some((at, (*right)?)));
            given.any(|(at, right)| lie(case, at, right).is_some_and(|wrong| wrong != right))
        })
    }
}

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
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::operation::{Case, CaseSelection, Expected, Operation};

/// Cases of a kernel, with the results that its contract expects.
pub(crate) struct Planned<O: Operation>(pub(crate) Vec<(Case<O::Params>, Expected)>);

impl<O: Operation> Planned<O> {
    /// Returns the plan of a run.
    pub(crate) fn of(kernel: &str, effort: Effort) -> Self {
        let kernel = op::<O>().find(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
        let (domain, scheme) = (&kernel.contract.domain, kernel.promise().expect("a scheme"));
        let specs = plans::whole(domain, &CaseSelection::default(), &effort.budget(), 1);
        let cases = specs.iter().map(|spec| spec.case(domain, 1).expect("a case"));
        Self(cases.map(|case| (case.typed::<O>(), scheme.expected(&case).expect("in the domain"))).collect())
    }

    /// True if a kernel is detected that gives `lie` in place of the right result, if `lie` has a value.
    pub(crate) fn detects(&self, lie: impl Fn(&Case<O::Params>, usize, i32) -> Option<i32>) -> bool {
        self.0.iter().any(|(case, expected)| {
            let mut given = expected.iter().enumerate().filter_map(|(at, right)| Some((at, (*right)?)));
            given.any(|(at, right)| lie(case, at, right).is_some_and(|wrong| wrong != right))
        })
    }
}

//! Parameters that the caller gave in place of the plan, and the part that a kernel's cases run.

use tiebreak_reports::ledger::Unit;

/// Parameters that the caller gave, or that the plan counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterCoverage {
    /// Unit of the count.
    pub unit: Unit,
    /// True if the caller gave the parameters; otherwise the plan chose them.
    pub by_caller: bool,
    /// Number of parameters.
    pub planned: u64,
    /// Number of parameters that no case runs.
    pub outside: u64,
    /// First parameter that no case runs, as the text of a case, with the reason.
    pub first: Option<(String, String)>,
}

impl ParameterCoverage {
    /// Counts the items that do not run; `described` returns text and reason of an item.
    pub fn of<T>(
        unit: Unit,
        items: &[T],
        runs: impl Fn(&T) -> bool,
        described: impl Fn(usize, &T) -> (String, String),
    ) -> Self {
        let outside: Vec<usize> = (0..items.len()).filter(|at| !runs(&items[*at])).collect();
        let first = outside.first().map(|at| described(*at, &items[*at]));
        Self { unit, by_caller: true, planned: items.len() as u64, outside: outside.len() as u64, first }
    }
}

/// Returns the parameters of cases, without consecutive repetitions; a plan has many cases with the same parameters.
pub fn distinct<'a, P: PartialEq>(of_cases: &[&'a P]) -> Vec<&'a P> {
    let mut out = of_cases.to_vec();
    out.dedup();
    out
}

//! What the caller gave an operation in place of its plan, and how much of it a kernel's cases run.

use crate::operation::case::Spec;
use std::sync::Arc;
use tiebreak_reports::ledger::Unit;

/// Parameters that the caller gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What they are.
    pub unit: Unit,
    /// Whether the caller gave them; otherwise they are the plan's.
    pub by_caller: bool,
    /// How many.
    pub planned: u64,
    /// Those that no case runs.
    pub outside: u64,
    /// The first of those, as a case reads, with the reason.
    pub first: Option<(String, String)>,
}

impl Given {
    /// Counts the items that do not run; `described` says of one what it is, and why.
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

/// The parameters of cases, those that follow each other and are the same once: a plan has many cases of each.
pub fn distinct<P: Clone + PartialEq>(specs: &[Arc<Spec<P>>]) -> Vec<&P> {
    let mut out: Vec<&P> = specs.iter().map(|spec| &spec.params).collect();
    out.dedup();
    out
}

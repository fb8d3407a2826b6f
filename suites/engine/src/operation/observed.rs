//! Cases with a kernel's results: evidence for a cause, and witnesses of a difference.

use crate::operation::case::Case;
use crate::operation::expected::Expected;
use crate::operation::fault::Faulty;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::Value;

/// Case with a kernel's results.
#[derive(Clone, Debug)]
pub struct Observed<P> {
    /// Case that ran.
    pub case: Case<P>,
    /// Results of the kernel.
    pub outs: Vec<i32>,
    /// Results of the scheme judged against. Words without a value need no cause.
    pub expected: Expected,
    /// Number of results that differ from the scheme judged against and follow no known fault.
    pub differ: usize,
    /// Known-fault class of each result; a cause need not reproduce faulty results.
    pub faulty: Faulty,
    /// Cause of each result that differs from the reference; empty if no causes were requested.
    pub due: Vec<Option<Class>>,
}

impl<P> Observed<P> {
    /// Returns the number of words of a result, if known faults occur; otherwise 1.
    pub(crate) fn words(&self) -> usize {
        if self.faulty.is_empty() { 1 } else { (self.outs.len() / self.faulty.len()).max(1) }
    }

    /// True if result `index` follows a known fault.
    pub fn is_faulty(&self, index: usize) -> bool {
        self.faulty.get(index).is_some_and(Option::is_some)
    }
}

/// Case with a differing result.
#[derive(Clone, Debug)]
pub struct Witness<P> {
    /// Case that shows the difference.
    pub case: Case<P>,
    /// Index of the result.
    pub index: usize,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
}

/// Largest evidence that is always kept, in elements read and written; larger cases are kept only without other evidence.
pub(crate) const SMALL: usize = 1 << 14;

/// Returns the number of elements read and written.
pub fn elements<P>(case: &Case<P>, outs: &[i32]) -> usize {
    case.tensors.iter().map(Vec::len).sum::<usize>() + outs.len()
}

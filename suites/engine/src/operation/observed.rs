//! Cases with what a kernel gave for them: evidence of a cause, and witnesses of a difference.

use crate::operation::case::Case;
use crate::operation::expected::Expected;
use crate::operation::fault::Faulty;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::Value;

/// A case with what a kernel gave for it.
#[derive(Clone, Debug)]
pub struct Observed<P> {
    /// The case.
    pub case: Case<P>,
    /// The kernel's results.
    pub outs: Vec<i32>,
    /// What the scheme judged against expects. Where it gives no value, no cause has to.
    pub expected: Expected,
    /// Results that differ from the scheme judged against, and follow no known fault.
    pub differ: usize,
    /// Results that follow a known fault, of which no cause has to give account.
    pub faulty: Faulty,
    /// What each result that differs from the reference is due to; nothing if it was not asked for.
    pub due: Vec<Option<Class>>,
}

impl<P> Observed<P> {
    /// Words of a result, as far as it matters: 1 where no result follows a known fault.
    pub(crate) fn words(&self) -> usize {
        if self.faulty.is_empty() { 1 } else { (self.outs.len() / self.faulty.len()).max(1) }
    }

    /// Whether the result at an index follows a known fault.
    pub fn is_faulty(&self, index: usize) -> bool {
        self.faulty.get(index).is_some_and(Option::is_some)
    }
}

/// A case with one result that differs.
#[derive(Clone, Debug)]
pub struct Witness<P> {
    /// The case.
    pub case: Case<P>,
    /// Which result.
    pub index: usize,
    /// What the kernel gave.
    pub got: Value,
    /// What the scheme gives.
    pub expected: Value,
}

/// Elements read and written above which a case is kept as evidence only while nothing else was seen.
pub(crate) const SMALL: usize = 1 << 14;

/// Elements read and written.
pub fn elements<P>(case: &Case<P>, outs: &[i32]) -> usize {
    case.tensors.iter().map(Vec::len).sum::<usize>() + outs.len()
}

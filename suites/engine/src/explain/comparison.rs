//! Comparison of a kernel in a lane with a scheme.

use crate::lane::Lane;
use crate::operation::Operation;
use crate::operation::request::Request;
use crate::run::subject::Subject;
use tiebreak_reports::ledger::Against;

/// Comparison of a kernel in a lane with a scheme.
pub(crate) struct Comparison<'a, O: Operation> {
    pub(crate) request: &'a Request,
    pub(crate) subject: &'a Subject<O>,
    pub(crate) lane: &'a Lane,
    pub(crate) against: Against,
    pub(crate) scheme: &'a O::Scheme,
}

impl<O: Operation> Comparison<'_, O> {
    pub(crate) fn domain(&self) -> &'static O::Domain {
        &self.subject.kernel.contract.domain
    }
}

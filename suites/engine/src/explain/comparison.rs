//! Comparison of a kernel in a lane with a scheme.

use crate::erased::{Domain, Scheme};
use crate::lane::Lane;
use crate::operation::request::Request;
use crate::run::subject::Subject;
use tiebreak_reports::ledger::Against;

/// Comparison of a kernel in a lane with a scheme.
pub(crate) struct Comparison<'a> {
    pub(crate) request: &'a Request,
    pub(crate) subject: &'a Subject,
    pub(crate) lane: &'a Lane,
    pub(crate) against: Against,
    pub(crate) scheme: &'a Scheme,
}

impl Comparison<'_> {
    pub(crate) fn domain(&self) -> &'static Domain {
        &self.subject.kernel.contract.domain
    }
}

//! Records of a kernel in each lane. Lanes with the results of the first lane share its record, except for compiled kernels: their faults depend on
//! the lane.

use crate::judge::record::{Record, judged};
use crate::lane::Lane;
use crate::run::answers::Answers;
use crate::run::subject::{ExpectedCase, Subject};

/// Records of a kernel, shared by all lanes with equal results so far.
pub(crate) struct InLanes<'a> {
    subject: &'a Subject,
    lanes: &'a [&'a Lane],
    first: Record,
    others: Vec<Other>,
}

/// Record of a further lane.
struct Other {
    /// Separate record, from the first result unlike the first lane's on.
    record: Option<Record>,
    /// Seconds of lane and judge.
    seconds: f64,
}

impl<'a> InLanes<'a> {
    /// Creates the records before anything has run, for at least one lane.
    pub(crate) fn new(subject: &'a Subject, lanes: &'a [&'a Lane]) -> Self {
        let others = lanes.iter().skip(1).map(|_| Other { record: None, seconds: 0.0 }).collect();
        Self { subject, lanes, first: Record::default(), others }
    }

    /// Judges the answers of each lane for some cases.
    pub(crate) fn judge(&mut self, cases: &[ExpectedCase], given: &[Answers]) {
        let Subject { kernel, contract, path, .. } = self.subject;
        let compiled = kernel.contract.domain.is_compiled();
        let one = |at: usize| judged(self.lanes[at], kernel, contract, path, cases, &given[at]);
        let first = one(0);
        for (at, other) in (1..).zip(&mut self.others) {
            let alike = !compiled && given[at].is_like(&given[0]);
            if alike && other.record.is_none() {
                other.seconds += given[at].seconds;
                continue;
            }
            let judged = if alike { Record { seconds: given[at].seconds, ..first.clone() } } else { one(at) };
            other.seconds += judged.seconds;
            other.record.get_or_insert_with(|| self.first.clone()).merge(judged);
        }
        self.first.merge(first);
    }

    /// Returns the record of each lane.
    pub(crate) fn records(self) -> Vec<Record> {
        let Self { first, others, .. } = self;
        let own = |other: Other| Record { seconds: other.seconds, ..other.record.unwrap_or_else(|| first.clone()) };
        let others: Vec<_> = others.into_iter().map(own).collect();
        std::iter::once(first).chain(others).collect()
    }
}

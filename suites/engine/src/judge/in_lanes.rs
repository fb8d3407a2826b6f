//! What a kernel did in each lane. A lane in which every result is that of the first is judged with it, but where the lane's compiler has faults of its
//! own.

use crate::judge::record::{Record, judged};
use crate::lane::Lane;
use crate::operation::{Operation, is_compiled};
use crate::run::answers::Answers;
use crate::run::subject::{Posed, Subject};

/// A kernel's records, one for all lanes that have been alike so far.
pub(crate) struct InLanes<'a, O: Operation> {
    subject: &'a Subject<O>,
    lanes: &'a [&'a Lane],
    first: Record<O::Params>,
    others: Vec<Other<O>>,
}

/// A lane beside the first.
struct Other<O: Operation> {
    /// Its own, from its first result on that is not that of the first lane.
    record: Option<Record<O::Params>>,
    /// Seconds of lane and judge.
    seconds: f64,
}

impl<'a, O: Operation> InLanes<'a, O> {
    /// Before anything has run, in at least one lane.
    pub(crate) fn new(subject: &'a Subject<O>, lanes: &'a [&'a Lane]) -> Self {
        let others = lanes.iter().skip(1).map(|_| Other { record: None, seconds: 0.0 }).collect();
        Self { subject, lanes, first: Record::default(), others }
    }

    /// Adds what each lane gave for some cases.
    pub(crate) fn judge(&mut self, posed: &[Posed<O::Params>], given: &[Answers<O::Params>]) {
        let Subject { kernel, contract, path, .. } = self.subject;
        let compiled = is_compiled::<O>(&kernel.contract.domain);
        let one = |at: usize| judged::<O>(self.lanes[at], kernel, contract, path, posed, &given[at]);
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

    /// Of each lane what it did.
    pub(crate) fn records(self) -> Vec<Record<O::Params>> {
        let Self { first, others, .. } = self;
        let own = |other: Other<O>| Record { seconds: other.seconds, ..other.record.unwrap_or_else(|| first.clone()) };
        let others: Vec<_> = others.into_iter().map(own).collect();
        std::iter::once(first).chain(others).collect()
    }
}

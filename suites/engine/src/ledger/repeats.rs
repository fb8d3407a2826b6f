//! Ledger entries of repeated calls.

use crate::case::again::display_case;
use crate::lane::Lane;
use crate::run::repeats::{Differing, Repeats};
use crate::run::subject::Subject;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Finding};

/// Returns the finding of repeated calls, if any; `command` reproduces a difference.
pub(crate) fn finding(subject: &Subject, lane: &Lane, repeats: &Repeats, command: Option<String>) -> Option<Finding> {
    let place = subject.place(lane);
    if let Some(failure) = &repeats.failure {
        let message = format!("after {} calls with the same input: {failure}", repeats.calls);
        return Some(place.finding(failure.class(), message, None));
    }
    let Differing { case, at, first, given, call, calls } = repeats.differs.as_ref()?;
    let domain = &subject.kernel.contract.domain;
    let element = domain.result_element(&case.params);
    let index = at / element.words();
    let words = index * element.words()..(index + 1) * element.words();
    let witness = ledger::Witness {
        case: display_case(domain, case, Some(index), None),
        got: element.described(&given[words.clone()]),
        expected: Some(element.described(&first[words])),
        scheme: "the first call".to_owned(),
        class: Class::DependsOnHistory.into(),
        because: format!("the first call with this input gave another result than call {call} of {calls}"),
        command: command?,
    };
    let message = format!("gives other results for the same input: call {call} of {calls} differs from the first");
    Some(place.finding(Class::DependsOnHistory, message, Some(witness)))
}

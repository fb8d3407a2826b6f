//! Result selected by `at` in the caller's case, from every lane and scheme.

use crate::lane::Lane;
use crate::operation::expected::Expected;
use crate::run::answers::Answers;
use crate::run::subject::{ExpectedCase, Subject};
use tiebreak_reports::ledger::{Position, Value};

/// Returns a position for each lane with an answer.
pub(crate) fn at(
    subject: &Subject,
    at: usize,
    cases: &[ExpectedCase],
    lanes: &[&Lane],
    given: &[Answers],
) -> Vec<Position> {
    let Some(expected_case) = cases.first() else { return Vec::new() };
    let element = subject.kernel.contract.domain.result_element(&expected_case.case.params);
    let place = at * element.words()..(at + 1) * element.words();
    let value = |expected: &Expected| -> Option<Value> {
        let words: Option<Vec<i32>> = expected.get(place.clone())?.iter().copied().collect();
        Some(element.described(&words?))
    };
    let contract = (subject.contract.label(), value(&expected_case.contract));
    let reference = subject.reference.as_ref().zip(expected_case.reference.as_ref());
    let reference = reference.map(|(scheme, expected)| (scheme.label(), value(expected)));
    let one = |(lane, answers): (&&Lane, &Answers)| {
        let outs = answers.each.first()?.as_ref()?;
        Some(Position {
            op: subject.kernel.op().name().to_owned(),
            kernel: subject.kernel.name.to_owned(),
            lane: lane.name.clone(),
            at: at as u64,
            got: element.described(outs.get(place.clone())?),
            expected: [contract.clone()].into_iter().chain(reference.clone()).collect(),
        })
    };
    lanes.iter().zip(given).filter_map(one).collect()
}

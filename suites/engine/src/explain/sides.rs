//! Differences of a kernel in a lane, from the contract and from the reference, with causes.

use crate::erased::{Change, Params, Scheme};
use crate::explain::cause::{Explanation, differing, explain_beside};
use crate::explain::comparison::Comparison;
use crate::explain::groups::{Basis, Explained};
use crate::explain::history::History;
use crate::explain::lines as mismatches;
use crate::explain::lines::Line;
use crate::judge::agreement::Agreements;
use crate::judge::lane_code::LaneCode;
use crate::judge::record::{Record, classify_by_path};
use crate::judge::side::{Group, Side};
use crate::lane::Lane;
use crate::operation::case::Spec;
use crate::operation::fault::Seen;
use crate::operation::observed::Witness;
use crate::operation::request::Request;
use crate::run::answers::outs;
use crate::run::subject::Subject;
use std::cell::Cell;
use std::sync::Arc;
use tiebreak_common::class::Class;
use tiebreak_common::parallel;
use tiebreak_reports::ledger::Against;

/// Explained differences of a kernel in a lane from a scheme.
pub(crate) struct ExplainedSide<'a> {
    pub(crate) against: Against,
    pub(crate) scheme: &'a Scheme,
    /// True if the kernel keeps its contract, and `scheme` is the reference.
    pub(crate) kept: bool,
    /// Differences by group, the group of the simplest witness first.
    pub(crate) groups: Vec<Explained>,
    /// Differing cases kept for the CSV file, smallest first.
    pub(crate) lines: Vec<Line>,
}

/// Record of a run, and the specs of the cases.
type Recorded<'a> = (&'a Record, &'a [Arc<Spec<Params>>]);

/// Explains the differences of a kernel in a lane, from the contract and from the reference.
pub(crate) fn record<'a>(
    request: &Request,
    subject: &'a Subject,
    lane: &Lane,
    (record, specs): Recorded<'_>,
) -> Vec<ExplainedSide<'a>> {
    let sides = [
        (Against::Contract, Some(&subject.contract), &record.contract),
        (Against::Reference, subject.reference.as_ref(), &record.reference),
    ];
    let mut broken: Option<Explanation> = None;
    let mut all = Vec::new();
    for (against, scheme, side) in sides {
        let Some(scheme) = scheme else { continue };
        let kept = against == Against::Reference && record.contract.count.differ == 0;
        let mut groups = explained(request, (subject, lane), scheme, side, kept);
        if against == Against::Contract {
            let history = History { request, subject, lane, specs, replays: Cell::new(0) };
            for seen in &mut groups {
                history.settle(&side.groups[&seen.group], seen);
            }
            broken = groups.first().map(|first| first.explanation.clone());
        }
        if let (Against::Reference, Some(cause)) = (against, &broken) {
            let unexplained = groups.iter_mut().filter(|seen| seen.explanation.class == Class::Unexplained);
            unexplained.for_each(|seen| {
                let group = side.groups.get(&seen.group);
                let by = group.and_then(|group| by_contract((subject, lane), scheme, (seen, group), cause));
                seen.explanation = by.unwrap_or_else(|| seen.explanation.clone());
            });
        }
        let comparison = Comparison { request, subject, lane, against, scheme };
        let lines = mismatches::lines(&comparison, side, specs, &groups);
        all.push(ExplainedSide { against, scheme, kept, groups, lines });
    }
    all
}

/// Returns, for each bitwise comparison, a small case with different results, if any.
pub(crate) fn agreements(request: &Request, agreements: &Agreements<'_>) -> Vec<Option<Witness<Params>>> {
    let witness = |agreement: &_| agreements.witness(agreement, &request.selection);
    parallel::map(&agreements.compared(), |agreement| witness(agreement))
}

/// Returns the cause of a broken contract, if it also reproduces the differences from the reference. Differences of the contract itself from the
/// reference have another cause: if the contract gives all differing results, the contract explains the block; if it gives some, the class is the
/// class of the printed witness.
fn by_contract(
    (subject, lane): (&Subject, &Lane),
    reference: &Scheme,
    (seen, group): (&Explained, &Group),
    broken: &Explanation,
) -> Option<Explanation> {
    if broken.class.is_of_calls() {
        return Some(broken.clone());
    }
    let (contract, domain) = (&subject.contract, &subject.kernel.contract.domain);
    let [as_promised, all] = as_promised(subject, group);
    let learnt: Vec<_> = group.learnt.iter().collect();
    let explained = |causes: &[Change]| {
        let explanation = explain_beside(causes, &group.own(), &learnt);
        (explanation.class != Class::Unexplained).then_some(explanation)
    };
    if as_promised == all {
        let explanation = explained(&contract.causes(seen.group, reference, domain, true))?;
        return Some(refined(subject, lane, explanation, &seen.witness, true));
    }
    let causes = contract.causes(seen.group, contract, domain, false);
    let causes: Vec<Change> = causes.into_iter().filter(|cause| cause.class == broken.class).collect();
    let explanation = explained(&causes)?;
    if as_promised == 0 {
        return Some(explanation);
    }
    let [count, of] = [as_promised, all].map(|n| tiebreak_reports::text::count(n as u64));
    let own = contract.label();
    let because = format!("{count} of {of} that differ are what {own} gives; of the others: {}", explanation.because);
    let explanation = Explanation { because, ..explanation };
    let promised = is_promised(subject, &seen.witness);
    Some(if promised { refined(subject, lane, explanation, &seen.witness, true) } else { explanation })
}

/// Counts kept results that differ from the reference: results that the contract gives, and all.
fn as_promised(subject: &Subject, group: &Group) -> [usize; 2] {
    let mut out = [0; 2];
    for seen in &group.differing {
        let Ok(expected) = subject.contract.expected(&seen.case) else { continue };
        for at in differing(seen) {
            out[0] += usize::from(expected.get(at).copied().flatten() == Some(seen.outs[at]));
            out[1] += 1;
        }
    }
    out
}

/// True if the contract gives the result of a witness.
fn is_promised(subject: &Subject, witness: &Witness<Params>) -> bool {
    let Ok(expected) = subject.contract.expected(&witness.case) else { return false };
    let element = subject.kernel.contract.domain.result_element(&witness.case.params);
    let words: Option<Vec<i32>> =
        expected.iter().skip(witness.index * element.words()).take(element.words()).copied().collect();
    words.is_some_and(|words| !words.is_empty() && element.described(&words) == witness.got)
}

/// Returns causes and smallest witnesses of the differences on one side; a caller's case is not shrunk.
fn explained(
    request: &Request,
    (subject, lane): (&Subject, &Lane),
    scheme: &Scheme,
    side: &Side,
    kept: bool,
) -> Vec<Explained> {
    let basis = Basis {
        kernel: subject.kernel.name,
        code: Some(lane_code(subject, lane)),
        domain: &subject.kernel.contract.domain,
        contract: &subject.contract,
        scheme,
        kept,
        selection: &request.selection,
    };
    let mut all = basis.explained(lane, side);
    for seen in &mut all {
        seen.explanation = refined(subject, lane, seen.explanation.clone(), &seen.witness, kept);
    }
    all
}

fn lane_code<'a>(subject: &'a Subject, lane: &'a Lane) -> LaneCode<'a> {
    LaneCode { kernel: subject.kernel.name, lane: &lane.name, contract: &subject.contract }
}

/// Returns the explanation with the class of the witness alone, if the kernel keeps the contract and the path is known.
fn refined(
    subject: &Subject,
    lane: &Lane,
    explanation: Explanation,
    witness: &Witness<Params>,
    kept: bool,
) -> Explanation {
    if !kept || subject.path.is_empty() {
        return explanation;
    }
    let Ok(expected_case) = subject.expect_case(witness.case.clone()) else { return explanation };
    let ran = outs(&mut lane.lease(), subject.kernel.name, &witness.case, expected_case.contract.len());
    let element = subject.kernel.contract.domain.result_element(&witness.case.params);
    let Ok(outs) = ran else { return explanation };
    let mut seen = Seen::new();
    let faulty = lane_code(subject, lane).faulty(
        &expected_case.case,
        &expected_case.contract,
        element.words(),
        &outs,
        &mut seen,
    );
    if let Some(Some(class)) = faulty.get(witness.index) {
        let because = seen.get(class).map_or(String::new(), |sighting| sighting.reason.to_owned());
        return Explanation { class: *class, because, cause: None };
    }
    let due = classify_by_path(&subject.path, &element, &expected_case, &outs, &faulty);
    match due.get(witness.index) {
        Some(Some(class)) => Explanation { class: *class, ..explanation },
        _ => explanation,
    }
}

//! What was seen of a kernel in a lane, explained and written into the ledger.

use super::super::{Part, Request};
use super::history::History;
use super::kernel::Subject;
use super::mismatches;
use super::row_writer::RowWriter;
use crate::lane::Lane;
use crate::tensor::answers::outs;
use crate::tensor::change::Change;
use crate::tensor::changes_in;
use crate::tensor::explain::{Explanation, explain};
use crate::tensor::explained::{Basis, Explained};
use crate::tensor::fault::{Extent, Made, Seen, Sighting};
use crate::tensor::judge::{Record, due_to};
use crate::tensor::shrink::Witness;
use crate::tensor::side::{Group, Side};
use crate::tensor::{Operation, Spec};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against, Coverage, Example, Finding, Mismatch, Row};

/// Writes one record, of the cases that `specs` make, into the ledger: a row for each side, and a finding for everything outside the contract.
pub(super) fn settle<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    lane: &Lane,
    (record, specs): (Record<O::Params>, &[Spec<O::Params>]),
    part: &mut Part,
) {
    let whole = request.asked.is_nothing() && record.failures.is_empty() && record.given_up == 0 && !specs.is_empty();
    let exhaustive = whole && (O::CAPABILITIES.sweeps.exhaustive)(&subject.kernel.contract.domain);
    let coverage = if exhaustive { Coverage::Exhaustive } else { Coverage::Sampled };
    let sides = [
        (Against::Contract, Some(&subject.contract), &record.contract),
        (Against::Reference, subject.reference.as_ref(), &record.reference),
    ];
    let mut broken: Option<Explanation> = None;
    for (against, scheme, side) in sides {
        let Some(scheme) = scheme else { continue };
        let kept = against == Against::Reference && record.contract.count.differ == 0;
        let mut seen = explained(request, (subject, lane), scheme, side, kept);
        if against == Against::Contract {
            let history = History { request, subject, lane, specs, replays: Cell::new(0) };
            for seen in &mut seen {
                history.settle(&side.groups[&seen.group], seen);
            }
            broken = seen.first().map(|first| first.explanation.clone());
        }
        if let (Against::Reference, Some(cause)) = (against, &broken) {
            let unexplained = seen.iter_mut().filter(|seen| seen.explanation.class == Class::Unexplained);
            unexplained.for_each(|seen| {
                let by = side.groups.get(&seen.group).and_then(|group| by_contract(subject, seen.group, group, cause));
                seen.explanation = by.unwrap_or_else(|| seen.explanation.clone());
            });
        }
        // Where the path to the contract is known, what is on no step of it has no class, whatever the witness has.
        let rest = if kept && !subject.path.is_empty() { Some(Class::Unexplained) } else { None };
        let writer = RowWriter { request, subject, lane, against, scheme };
        let witness = seen.first().map(|first| writer.witness(first));
        let mismatches = mismatches::rows(&writer, side, specs, &seen);
        // A contract that is not kept is the finding; what the reference says of it then is no other.
        let noise = against == Against::Reference && !kept && !subject.path.is_empty();
        let classes = classes(side, &seen, rest);
        part.findings.extend(writer.finding(side, witness.clone(), &classes).filter(|_| !noise));
        let mut row = writer.row(&side.count, witness, &classes, coverage, record.seconds);
        if against == Against::Contract {
            declare(&mut row, &record.faults);
            row.kinds = record.kinds.iter().map(|(kind, results)| ((*kind).to_owned(), *results)).collect();
            (row.sizes, row.ranges) = (record.spans.sizes(), record.spans.ranges());
        }
        row.examples = examples(&row, &mismatches);
        part.mismatches.extend(mismatches);
        part.rows.push(row);
    }
    let writer = RowWriter { request, subject, lane, against: Against::Contract, scheme: &subject.contract };
    part.findings.extend(writer.failed(&record.failures));
}

/// Of each class of a row that its witness does not show, the first difference that was kept.
fn examples(row: &Row, kept: &[Mismatch]) -> Vec<Example> {
    let shown = row.witness.as_ref().map(|witness| &witness.class);
    let of = |class: &String| {
        let Mismatch { class, case, got, expected, command, .. } = kept.iter().find(|m| m.class == *class)?.clone();
        Some(Example { class, case, got, expected, command })
    };
    row.classes.keys().filter(|class| Some(*class) != shown).filter_map(of).collect()
}

/// The classes of differences of which no class was known one by one: `rest`, or of each group what explains it.
fn classes<P>(side: &Side<P>, seen: &[Explained<P>], rest: Option<Class>) -> BTreeMap<Class, u64> {
    let mut left = side.count.unclassified();
    let mut classes = BTreeMap::new();
    for (at, explained) in seen.iter().enumerate() {
        let n = if at + 1 == seen.len() { left } else { left.min(explained.differ) };
        left -= n;
        if n > 0 {
            *classes.entry(rest.unwrap_or(explained.explanation.class)).or_default() += n;
        }
    }
    classes
}

/// The cause of a broken contract, where it reproduces what differs from the reference too.
fn by_contract<O: Operation>(
    subject: &Subject<O>,
    group: usize,
    seen: &Group<O::Params>,
    broken: &Explanation,
) -> Option<Explanation> {
    if broken.class == Class::DependsOnHistory {
        return Some(broken.clone());
    }
    let (contract, domain) = (&subject.contract, &subject.kernel.contract.domain);
    let causes = changes_in::<O>(group, contract, contract, domain, false);
    let causes: Vec<Change<O>> = causes.into_iter().filter(|cause| cause.class == broken.class).collect();
    let explanation = explain(&causes, &seen.evidence());
    (explanation.class != Class::Unexplained).then_some(explanation)
}

/// Declares each known fault in a row.
pub(super) fn declare(row: &mut Row, faults: &Seen) {
    let seen = faults.iter().filter(|(_, sighting)| sighting.results > 0);
    row.deviations = seen.map(|(class, sighting)| (class.name().to_owned(), sighting.results)).collect();
    let reason = |(class, sighting): (&Class, &Sighting)| (class.name().to_owned(), sighting.reason.to_owned());
    row.declared = faults.iter().map(reason).collect();
    let extent = |(class, sighting): (&Class, &Sighting)| {
        let Extent { most, each, because } = sighting.extent.clone()?;
        Some((class.name().to_owned(), ledger::Extent { most, each, because }))
    };
    row.extents = faults.iter().filter_map(extent).collect();
}

/// A known fault that a whole run covers and does not see is one no more: what made the lane's code is another.
pub(super) fn stale<O: Operation>(
    subject: &Subject<O>,
    lane: &Lane,
    record: &Record<O::Params>,
    specs: &[Spec<O::Params>],
) -> Vec<Finding> {
    let seen = |class: &Class| record.faults.get(class).is_some_and(|sighting| sighting.results > 0);
    let of = |spec: &Spec<O::Params>| (O::CAPABILITIES.compiled.faults)(subject.kernel.name, &lane.name, &spec.params);
    let covered: BTreeSet<Class> = specs.iter().flat_map(of).collect();
    let unseen = covered.into_iter().filter(|class| !seen(class));
    let finding = |class| {
        let message = format!("the known fault `{class}` of what made this lane's code was not seen: remove it");
        subject.place(lane).finding(Class::StaleDeviation, message, None)
    };
    unseen.map(finding).collect()
}

/// Causes and smallest witnesses of what differs on one side; the case itself where the caller gave it.
fn explained<O: Operation>(
    request: &Request,
    (subject, lane): (&Subject<O>, &Lane),
    scheme: &O::Scheme,
    side: &Side<O::Params>,
    kept: bool,
) -> Vec<Explained<O::Params>> {
    let basis = Basis {
        kernel: subject.kernel.name,
        made: Some(made(subject, lane)),
        domain: &subject.kernel.contract.domain,
        contract: &subject.contract,
        scheme,
        kept,
        asked: &request.asked,
    };
    let mut all = basis.explained(lane, side);
    for seen in &mut all {
        seen.explanation = refined(subject, lane, seen.explanation.clone(), &seen.witness, kept);
    }
    all
}

fn made<'a, O: Operation>(subject: &'a Subject<O>, lane: &'a Lane) -> Made<'a, O> {
    Made { kernel: subject.kernel.name, lane: &lane.name, contract: &subject.contract }
}

/// The class of the witness by itself, where the contract is kept and the path to it is known.
fn refined<O: Operation>(
    subject: &Subject<O>,
    lane: &Lane,
    explanation: Explanation,
    witness: &Witness<O::Params>,
    kept: bool,
) -> Explanation {
    if !kept || subject.path.is_empty() {
        return explanation;
    }
    let Ok(posed) = subject.pose(witness.case.clone()) else { return explanation };
    let ran = outs::<O>(&mut lane.lease(), subject.kernel.name, &witness.case, posed.contract.len());
    let element = O::element(&subject.kernel.contract.domain, &witness.case.params, O::TENSORS.len());
    let Ok(outs) = ran else { return explanation };
    let mut seen = Seen::new();
    let faulty = made(subject, lane).faulty(&posed.case, &posed.contract, element.words(), &outs, &mut seen);
    if let Some(Some(class)) = faulty.get(witness.index) {
        let because = seen.get(class).map_or(String::new(), |sighting| sighting.reason.to_owned());
        return Explanation { class: *class, because, cause: None };
    }
    let due = due_to(&subject.path, &element, &posed, &outs, &faulty);
    match due.get(witness.index) {
        Some(Some(class)) => Explanation { class: *class, ..explanation },
        _ => explanation,
    }
}

//! Ledger entries of a kernel's record in a lane: rows, findings and mismatches.

use crate::erased::Params;
use crate::explain::comparison::Comparison;
use crate::explain::groups::Explained;
use crate::explain::sides::ExplainedSide;
use crate::judge::record::Record;
use crate::judge::side::Side;
use crate::lane::Lane;
use crate::ledger::section::LedgerSection;
use crate::operation::case::Spec;
use crate::operation::fault::{Extent, Seen, Sighting};
use crate::operation::request::Request;
use crate::run::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against, Coverage, Example, Finding, Mismatch, Row};

/// Adds a record: a row for each side, and a finding for every break of the contract. `whole` is true if the plan has cases for the kernel.
pub(crate) fn add(
    request: &Request,
    subject: &Subject,
    lane: &Lane,
    (record, whole): (&Record, bool),
    sides: &[ExplainedSide<'_>],
    section: &mut LedgerSection,
) {
    let whole = whole && request.selection.is_nothing() && record.failures.is_empty() && record.given_up == 0;
    let exhaustive = whole
        && record.outside.count == 0
        && (subject.kernel.op().capabilities().sweeps.exhaustive)(&subject.kernel.contract.domain);
    let coverage = if exhaustive { Coverage::Exhaustive } else { Coverage::Sampled };
    for explained in sides {
        let ExplainedSide { against, scheme, kept, ref groups, ref lines } = *explained;
        let side = if against == Against::Contract { &record.contract } else { &record.reference };
        // Differences on no step of a known path to the contract have no class, regardless of the witness.
        let rest = if kept && !subject.path.is_empty() { Some(Class::Unexplained) } else { None };
        let comparison = Comparison { request, subject, lane, against, scheme };
        let witness = groups.first().map(|first| comparison.witness(first));
        let mismatches: Vec<Mismatch> = lines.iter().filter_map(|line| comparison.mismatch(line)).collect();
        // A broken contract is the finding; its differences from the reference are no second finding.
        let noise = against == Against::Reference && !kept && !subject.path.is_empty();
        let classes = classes(side, groups, rest);
        section.findings.extend(comparison.finding(side, witness.clone(), &classes).filter(|_| !noise));
        let mut row = comparison.row(&side.count, witness, &classes, coverage, record.seconds);
        if against == Against::Contract {
            declare(&mut row, &record.faults);
            row.kinds = owned(&record.kinds);
            (row.sizes, row.ranges) =
                record.spans.as_ref().map(|spans| (spans.sizes(), spans.ranges())).unwrap_or_default();
        }
        row.examples = examples(&row, &mismatches);
        section.mismatches.extend(mismatches);
        section.rows.push(row);
    }
    let comparison = Comparison { request, subject, lane, against: Against::Contract, scheme: &subject.contract };
    section.findings.extend(comparison.failed(&record.failures));
}

/// Returns, for each class of a row except the witness's, the first kept difference.
fn examples(row: &Row, kept: &[Mismatch]) -> Vec<Example> {
    let shown = row.witness.as_ref().map(|witness| &witness.class);
    let of = |class: &String| {
        let Mismatch { class, case, got, expected, command, .. } = kept.iter().find(|m| m.class == *class)?.clone();
        Some(Example { class, case, got, expected, command })
    };
    row.classes.keys().filter(|class| Some(*class) != shown).filter_map(of).collect()
}

/// Copies counts with their names.
fn owned(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
}

/// Counts differences without an individual class: all under `rest`, or each group under the explanation of the group.
fn classes(side: &Side, seen: &[Explained], rest: Option<Class>) -> BTreeMap<Class, u64> {
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

/// Writes the known faults into a row.
pub(crate) fn declare(row: &mut Row, faults: &Seen) {
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

/// Returns findings for known faults that a whole run covers but does not show: the compiler or library has changed.
pub(crate) fn stale(subject: &Subject, lane: &Lane, record: &Record, specs: &[Arc<Spec<Params>>]) -> Vec<Finding> {
    let seen = |class: &Class| record.faults.get(class).is_some_and(|sighting| sighting.results > 0);
    let of = |spec: &Arc<Spec<Params>>| {
        (subject.kernel.op().capabilities().compiled.faults)(subject.kernel.name, &lane.name, &spec.params)
    };
    let covered: BTreeSet<Class> = specs.iter().flat_map(of).collect();
    let unseen = covered.into_iter().filter(|class| !seen(class));
    let finding = |class| {
        let message = format!("the known fault `{class}` of what made this lane's code was not seen: remove it");
        subject.place(lane).finding(Class::StaleDeviation, message, None)
    };
    unseen.map(finding).collect()
}

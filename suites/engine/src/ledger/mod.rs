//! Ledger entries of judged and explained results: rows, findings and mismatches. Data in, data out.

pub mod agreed;
pub mod catalogued;
pub mod comparison;
pub mod coverage;
pub mod partial_run;
pub mod place;
pub mod planned;
pub mod record;
pub mod repeats;
pub mod section;
pub mod swept;

use crate::explain::ExplainedLane;
use crate::judge::JudgedLane;
use crate::ledger::section::LedgerSection;
use crate::operation::request::Request;
use crate::plan::planned::Planned;
use crate::run::subject::Subject;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{Against, Finding};

/// Adds a kernel's results in a lane to the ledger.
pub(crate) fn add(
    request: &Request,
    subject: &Subject,
    planned: &Planned,
    JudgedLane { lane, record, layers, sweeps, .. }: &JudgedLane<'_>,
    explained: &ExplainedLane<'_>,
    section: &mut LedgerSection,
) {
    planned.ran(subject.kernel, lane, record, section);
    if request.selection.is_nothing() {
        section.findings.extend(record::stale(subject, lane, record, &planned.specs));
    }
    record::add(request, subject, lane, (record, !planned.specs.is_empty()), &explained.sides, section);
    let repeats = explained.repeats.as_ref();
    if let Some(repeats) = repeats {
        let is_known = |f: &Finding| {
            f.lane == lane.name && Class::ALL.iter().any(|class| class.is_of_calls() && f.class == class.name())
        };
        let known = section.findings.iter().any(is_known);
        let finding = repeats::finding(subject, lane, repeats, explained.repeated.clone());
        section.findings.extend(finding.filter(|_| !known));
    }
    let calls = record.cases + repeats.map_or(0, |repeats| repeats.calls);
    for row in section.rows.iter_mut().filter(|row| row.lane == lane.name) {
        row.parameters = planned.parameters(record);
        if row.against == Against::Contract {
            row.layers = layers.values().copied().collect();
        }
        row.calls = if row.against == Against::Contract && !record.has_failed() { calls } else { 0 };
    }
    for sweep in sweeps {
        section.planned.extend(swept::outside(subject, lane, sweep));
        section.rows.extend(swept::rows(request, subject, lane, sweep));
        section.findings.extend(swept::findings(request, subject, lane, sweep));
    }
}

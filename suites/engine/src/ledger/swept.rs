//! Ledger entries of a sweep.

use crate::case::again::command;
use crate::lane::Lane;
use crate::ledger::coverage::{PlannedCount, as_the_worker_says};
use crate::ledger::record::declare;
use crate::operation::Outside;
use crate::operation::request::Request;
use crate::operation::sweep_outcome::{SweepOutcome, SweptSide};
use crate::run::subject::Subject;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{Against, Coverage, Finding, Planned, Row, Unit};
use tiebreak_reports::{ledger, text as words};

/// Returns the number of inputs run in a sweep, if the worker refused some as outside the kernel's domain.
pub(crate) fn outside(subject: &Subject, lane: &Lane, sweep: &SweepOutcome) -> Option<Planned> {
    let Outside { count, .. } = &sweep.outside;
    let seen = sweep.sides.first().map_or(0, |side| side.count.seen());
    let (op, kernel, unit, planned) = (subject.kernel.op().name(), subject.kernel.name, Unit::Input, seen + count);
    let plan = PlannedCount { op, kernel, unit, given: false, planned, outside: None };
    (*count > 0).then(|| plan.ran(lane, [as_the_worker_says(*count, &sweep.outside)]))
}

/// Returns a row for each side, if an input was judged.
pub(crate) fn rows(request: &Request, subject: &Subject, lane: &Lane, sweep: &SweepOutcome) -> Vec<Row> {
    let coverage = if sweep.exhaustive { Coverage::Exhaustive } else { Coverage::Sampled };
    let row = |side: &SweptSide| {
        let witness = side.witness.as_ref().map(|w| ledger::Witness {
            case: w.case.clone(),
            got: w.got.clone(),
            expected: Some(w.expected.clone()),
            scheme: side.scheme.clone(),
            class: side.class.unwrap_or(Class::Unexplained).into(),
            because: side.because.clone(),
            command: command(request, subject.kernel, lane, &w.case),
        });
        let row = subject.place(lane).row(side.against, side.scheme.clone(), &side.count, coverage);
        let mut row =
            Row { path: side.path.clone(), witness, parameters: sweep.parameters, seconds: sweep.seconds, ..row };
        if side.against == Against::Contract {
            declare(&mut row, &sweep.faults);
        }
        row
    };
    let judged = |side: &&SweptSide| sweep.outside.count == 0 || side.count.seen() > 0;
    sweep.sides.iter().filter(judged).map(row).collect()
}

/// Describes the judged inputs.
fn swept(sweep: &SweepOutcome) -> String {
    format!("{} {}", if sweep.exhaustive { "all" } else { "the judged" }, sweep.what)
}

/// Returns the findings of a sweep: differences from the contract, failed blocks, and contradicted faults.
pub(crate) fn findings(request: &Request, subject: &Subject, lane: &Lane, sweep: &SweepOutcome) -> Vec<Finding> {
    let place = subject.place(lane);
    let rows = rows(request, subject, lane, sweep);
    let broken = rows.into_iter().filter(|row| row.against == Against::Contract && row.differ > 0);
    let differs = broken.map(|row| {
        let message = format!("differs from its contract on {} of {}", words::count(row.differ), swept(sweep));
        let class = row.witness.as_ref().map_or(Class::Unexplained.name().to_owned(), |w| w.class.clone());
        place.finding(class, message, row.witness)
    });
    let spelled = |case: &ledger::Case| (case.clone(), command(request, subject.kernel, lane, case));
    let failed = place.failed(&sweep.failures, |_| 0, spelled);
    let contradicted = sweep.faults.iter().filter_map(|(class, sighting)| {
        let contradiction = sighting.contradiction()?;
        let message =
            format!("the known fault `{class}` is not what this lane's code does to {}: {contradiction}", swept(sweep));
        Some(place.finding(Class::StaleDeviation, message, None))
    });
    differs.chain(failed).chain(contradicted).collect()
}

//! How a sweep reads in the ledger.

use super::super::Request;
use super::super::rows::by_delta;
use super::kernel::Subject;
use super::record::declare;
use crate::class::Class;
use crate::lane::Lane;
use crate::tensor::{Operation, Sweep};
use std::collections::BTreeMap;
use tiebreak_reports::ledger::{self, Against, Coverage, Finding, Row};
use tiebreak_reports::text as words;

/// A row for each side.
pub(super) fn rows<O: Operation>(request: &Request, subject: &Subject<O>, lane: &Lane, sweep: &Sweep) -> Vec<Row> {
    sweep
        .sides
        .iter()
        .map(|side| {
            let classes = side.classes.iter().map(|(class, n)| (class.name().to_owned(), *n)).collect();
            let mut row = Row {
                op: O::OP.to_owned(),
                kernel: subject.kernel.name.to_owned(),
                lane: lane.name.clone(),
                isa_path: lane.isa_path(O::OP, subject.kernel.name).unwrap_or("not offered").to_owned(),
                against: side.against,
                scheme: side.scheme.clone(),
                parameters: 0,
                inputs: side.inputs,
                coverage: if sweep.exhaustive { Coverage::Exhaustive } else { Coverage::Sampled },
                out_of_domain: side.out_of_domain,
                differ: side.differ,
                by_delta: by_delta(&side.by_delta),
                classes,
                deviations: BTreeMap::new(),
                declared: BTreeMap::new(),
                extents: BTreeMap::new(),
                path: side.path.clone(),
                witness: side.witness.as_ref().map(|w| ledger::Witness {
                    case: w.case.clone(),
                    got: w.got.clone(),
                    expected: Some(w.expected.clone()),
                    scheme: side.scheme.clone(),
                    class: side.class.unwrap_or(Class::Unexplained).into(),
                    because: side.because.clone(),
                    command: format!(
                        "{} --case '{}'",
                        request.command.kernel(O::OP, subject.kernel.name, &lane.name),
                        words::case(&w.case)
                    ),
                }),
                seconds: sweep.seconds,
            };
            if side.against == Against::Contract {
                declare(&mut row, &sweep.faults);
            }
            row
        })
        .collect()
}

/// Any difference from the contract, and what ended the sweep.
pub(super) fn findings<O: Operation>(
    request: &Request,
    subject: &Subject<O>,
    lane: &Lane,
    sweep: &Sweep,
) -> Vec<Finding> {
    let rows = rows(request, subject, lane, sweep);
    let broken = rows.into_iter().filter(|row| row.against == Against::Contract && row.differ > 0);
    let differs = broken.map(|row| Finding {
        op: row.op,
        kernel: row.kernel,
        lane: row.lane,
        class: Class::Unexplained.into(),
        message: format!("differs from its contract on {} of all {}", words::count(row.differ), sweep.what),
        witness: row.witness,
    });
    let failed = sweep.failure.iter().map(|failure| Finding {
        op: O::OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: lane.name.clone(),
        class: failure.class().into(),
        message: format!("{failure}, in the sweep of {}", sweep.what),
        witness: None,
    });
    let contradicted = sweep.faults.iter().filter_map(|(class, sighting)| {
        let told = sighting.contradiction()?;
        Some(Finding {
            op: O::OP.to_owned(),
            kernel: subject.kernel.name.to_owned(),
            lane: lane.name.clone(),
            class: Class::StaleDeviation.into(),
            message: format!(
                "the known fault `{class}` is not what this lane's code does to all {}: {told}",
                sweep.what
            ),
            witness: None,
        })
    });
    differs.chain(failed).chain(contradicted).collect()
}

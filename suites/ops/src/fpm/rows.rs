//! From records to rows, witnesses, findings and mismatches of the ledger.

use crate::fpm::Case;
use crate::fpm::sampled::{Settled, Subject};
use crate::fpm::tally::{Account, Seen};
use crate::fpm::yardstick::Yardstick;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_engine::verify::place::{Place, named};
use tiebreak_engine::verify::{Command, Part, Request};
use tiebreak_impls::fpm::Channel;
use tiebreak_reports::ledger::{self, Against, Coverage, Finding, Row, Witness};
use tiebreak_reports::text;

/// Name of the operation.
pub const OP: &str = "fpm";

/// The arguments of a case by name; the place only where it matters.
fn case(seen: &Seen) -> ledger::Case {
    let c = seen.case();
    let mut out = arguments(c);
    if matches!(seen.explanation.class, Class::Position | Class::StaleDeviation) {
        out.extend([("index".to_owned(), (c.index as i64).into()), ("len".to_owned(), (c.len as i64).into())]);
    }
    out
}

fn arguments(c: &Case) -> ledger::Case {
    let Channel { multiplier, shift } = c.channel;
    let mut out = vec![("x", i64::from(c.x)), ("m", multiplier.into()), ("s", shift.into())];
    if c.q != 31 {
        out.push(("q", c.q.into()));
    }
    out.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn witness(request: &Request, subject: &Subject<'_>, seen: &Seen) -> Witness {
    let c = seen.case();
    Witness {
        case: case(seen),
        got: seen.observation.got.into(),
        expected: Some(seen.expected.into()),
        scheme: seen.scheme.clone(),
        class: seen.explanation.class.into(),
        because: seen.explanation.because.clone(),
        command: command(request, subject, c),
    }
}

fn place<'a>(subject: &Subject<'a>) -> Place<'a> {
    Place { op: OP, kernel: subject.kernel.name, lane: subject.lane }
}

/// The command that runs one input again.
pub fn again(command: &Command, kernel: &str, lane: &str, c: &Case) -> String {
    let format = if c.q == 31 { String::new() } else { format!(" --q {}", c.q) };
    let Channel { multiplier, shift } = c.channel;
    let kernel = command.kernel(OP, kernel, lane);
    format!("{kernel} --multiplier={multiplier} --shift={shift}{format} --x={}", c.x)
}

fn command(request: &Request, subject: &Subject<'_>, c: &Case) -> String {
    again(&request.command, subject.kernel.name, &subject.lane.name, c)
}

/// Writes one subject's record into the ledger: two rows, and a finding for everything outside the contract.
pub fn record(request: &Request, subject: &Subject<'_>, record: &Settled, coverage: Coverage, part: &mut Part) {
    let sides = [(Some(&subject.contract), &record.contract), (subject.reference.as_ref(), &record.reference)];
    for (yardstick, account) in sides {
        let Some(yardstick) = yardstick else { continue };
        let count = &account.tally.count;
        part.rows.push(Row {
            parameters: record.parameters,
            deviations: named(&account.tally.deviations),
            declared: declared(subject, yardstick.against),
            witness: account.witness.as_ref().map(|seen| witness(request, subject, seen)),
            seconds: record.seconds,
            ..place(subject).row(yardstick.against, yardstick.scheme().label(), count, coverage)
        });
        part.mismatches.extend(
            account
                .kept
                .iter()
                .filter_map(|seen| place(subject).mismatch(yardstick.against, witness(request, subject, seen))),
        );
        part.findings.extend(broken(request, subject, yardstick, account));
    }
    let failed = place(subject).failed(&record.failures, Case::size, |c| (arguments(c), command(request, subject, c)));
    part.findings.extend(failed);
}

/// What the contract declares, for the rows against it.
fn declared(subject: &Subject<'_>, against: Against) -> BTreeMap<String, String> {
    let deviations = subject.kernel.contract.deviations.iter().filter(|_| against == Against::Contract);
    deviations.map(|d| (d.class.into(), d.reason.to_owned())).collect()
}

/// Any difference from the contract; and, from the reference, one that nothing explains.
fn broken(request: &Request, subject: &Subject<'_>, yardstick: &Yardstick, account: &Account) -> Option<Finding> {
    let seen = account.witness.as_ref()?;
    let count = &account.tally.count;
    let message = match yardstick.against {
        Against::Contract => {
            let (differ, inputs) = (text::count(count.differ), text::count(count.inputs));
            format!("differs from its contract on {differ} of {inputs} inputs")
        }
        Against::Reference => {
            let n = count.classes.get(&Class::Unexplained)?;
            format!("differs from the reference on {} inputs for no known reason", text::count(*n))
        }
    };
    Some(place(subject).finding(seen.explanation.class, message, Some(witness(request, subject, seen))))
}

//! From records to rows, witnesses, findings and mismatches of the ledger.

use super::{Part, Request};
use crate::class::Class;
use crate::fpm::Case;
use crate::fpm::sampled::{Settled, Subject, Unanswered};
use crate::fpm::tally::{Account, FAR, Seen};
use crate::fpm::yardstick::Yardstick;
use std::collections::BTreeMap;
use tiebreak_impls::fpm::Channel;
use tiebreak_reports::ledger::{self, Against, Coverage, Finding, Mismatch, Row, Witness};
use tiebreak_reports::text;

/// Name of the operation.
pub(super) const OP: &str = "fpm";

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
        command: request.command.case(subject.kernel.name, &subject.lane.name, c.x, c.channel, c.q),
    }
}

/// Writes one subject's record into the ledger: two rows, and a finding for everything outside the contract.
pub(super) fn record(request: &Request, subject: &Subject<'_>, record: &Settled, coverage: Coverage, part: &mut Part) {
    let sides = [(Some(&subject.contract), &record.contract), (subject.reference.as_ref(), &record.reference)];
    for (yardstick, account) in sides {
        let Some(yardstick) = yardstick else { continue };
        part.rows.push(row(request, subject, yardstick, account, record, coverage));
        part.mismatches.extend(account.kept.iter().map(|seen| mismatch(request, subject, yardstick, seen)));
        part.findings.extend(broken(request, subject, yardstick, account));
    }
    part.findings.extend(unanswered(request, subject, &record.failures));
}

fn row(
    request: &Request,
    subject: &Subject<'_>,
    yardstick: &Yardstick,
    account: &Account,
    record: &Settled,
    coverage: Coverage,
) -> Row {
    let named = |map: &BTreeMap<Class, u64>| map.iter().map(|(class, n)| (class.name().to_owned(), *n)).collect();
    Row {
        op: OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: subject.lane.name.clone(),
        isa_path: subject.lane.isa_path(OP, subject.kernel.name).unwrap_or("not offered").to_owned(),
        against: yardstick.against,
        scheme: yardstick.scheme().label(),
        parameters: record.parameters,
        inputs: account.tally.inputs,
        coverage,
        out_of_domain: account.tally.out_of_domain,
        differ: account.tally.differ,
        by_delta: by_delta(&account.tally.by_delta),
        classes: named(&account.classes),
        deviations: named(&account.tally.deviations),
        declared: declared(subject, yardstick.against),
        extents: BTreeMap::new(),
        path: Vec::new(),
        witness: account.witness.as_ref().map(|seen| witness(request, subject, seen)),
        seconds: record.seconds,
    }
}

/// Distinct deltas that a ledger names; the rest are counted under `other`.
const DELTAS: usize = 16;

/// Small deltas first, then the most frequent; where an intermediate wraps there are thousands.
pub(super) fn by_delta(all: &BTreeMap<i64, u64>) -> BTreeMap<String, u64> {
    let mut deltas: Vec<(i64, u64)> = all.iter().map(|(d, n)| (*d, *n)).filter(|(d, _)| *d != FAR).collect();
    deltas.sort_by_key(|(d, n)| (d.unsigned_abs() > 2, std::cmp::Reverse(*n), *d));
    let unnamed: u64 = deltas.iter().skip(DELTAS).map(|(_, n)| n).sum();
    let other = unnamed + all.get(&FAR).copied().unwrap_or(0);
    let named = deltas.into_iter().take(DELTAS).map(|(d, n)| (d.to_string(), n));
    named.chain((other > 0).then(|| ("other".to_owned(), other))).collect()
}

/// What the contract declares, for the rows against it.
fn declared(subject: &Subject<'_>, against: Against) -> BTreeMap<String, String> {
    let deviations = subject.kernel.contract.deviations.iter().filter(|_| against == Against::Contract);
    deviations.map(|d| (d.class.into(), d.reason.to_owned())).collect()
}

fn mismatch(request: &Request, subject: &Subject<'_>, yardstick: &Yardstick, seen: &Seen) -> Mismatch {
    let c = seen.case();
    Mismatch {
        op: OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: subject.lane.name.clone(),
        against: yardstick.against,
        scheme: seen.scheme.clone(),
        case: text::case(&case(seen)),
        got: seen.observation.got.into(),
        expected: seen.expected.into(),
        class: seen.explanation.class.into(),
        command: request.command.case(subject.kernel.name, &subject.lane.name, c.x, c.channel, c.q),
    }
}

/// Any difference from the contract; and, from the reference, one that nothing explains.
fn broken(request: &Request, subject: &Subject<'_>, yardstick: &Yardstick, account: &Account) -> Option<Finding> {
    let seen = account.witness.as_ref()?;
    let message = match yardstick.against {
        Against::Contract => {
            format!(
                "differs from its contract on {} of {} inputs",
                text::count(account.tally.differ),
                text::count(account.tally.inputs)
            )
        }
        Against::Reference => {
            let n = account.classes.get(&Class::Unexplained)?;
            format!("differs from the reference on {} inputs for no known reason", text::count(*n))
        }
    };
    Some(Finding {
        op: OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: subject.lane.name.clone(),
        class: seen.explanation.class.into(),
        message,
        witness: Some(witness(request, subject, seen)),
    })
}

/// Batches without an output, those of one class as one finding: the simplest case of it, and how often it happened.
fn unanswered(request: &Request, subject: &Subject<'_>, all: &[Unanswered]) -> Vec<Finding> {
    let mut by_class: BTreeMap<Class, Vec<&Unanswered>> = BTreeMap::new();
    for one in all {
        by_class.entry(one.failure.class()).or_default().push(one);
    }
    let simplest = |same: &[&Unanswered]| {
        let cases = same.iter().filter(|one| one.case.is_some());
        cases.min_by_key(|one| one.case.map(|c| c.size())).or(same.first()).map(|one| (*one).clone())
    };
    by_class.values().filter_map(|same| Some(one_unanswered(request, subject, &simplest(same)?, same.len()))).collect()
}

fn one_unanswered(request: &Request, subject: &Subject<'_>, unanswered: &Unanswered, times: usize) -> Finding {
    let witness = unanswered.case.map(|c| Witness {
        case: arguments(&c),
        got: 0.into(),
        expected: None,
        scheme: String::new(),
        class: unanswered.failure.class().into(),
        because: unanswered.failure.to_string(),
        command: request.command.case(subject.kernel.name, &subject.lane.name, c.x, c.channel, c.q),
    });
    let again = if witness.is_some() { "" } else { "; a fresh worker answered the same batch" };
    let often = if times > 1 { format!(", {times} times in all") } else { String::new() };
    Finding {
        op: OP.to_owned(),
        kernel: subject.kernel.name.to_owned(),
        lane: subject.lane.name.clone(),
        class: unanswered.failure.class().into(),
        message: format!("{} (batch of {}){again}{often}", unanswered.failure, unanswered.during),
        witness,
    }
}

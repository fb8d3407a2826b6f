//! Consistency of the fields of a ledger. A run never writes a ledger that contradicts itself, but an edited ledger may. No report is made of
//! such a ledger.

use super::{Against, Agreement, CatalogueRun, Figure, LaneStatus, Ledger, Planned, Row, Verdict};
use crate::text::count;
use std::collections::{BTreeMap, BTreeSet};

/// Efforts that a run can have.
const EFFORTS: [&str; 3] = ["quick", "standard", "exhaustive"];

impl Ledger {
    /// Describes the first two fields that contradict each other. The counts of the ledger must [add up](Ledger::adds_up).
    pub fn contradiction(&self) -> Option<String> {
        let rows = || self.rows.iter().find_map(|row| of_row(row).map(|what| format!("{}: {what}", name(row))));
        of_run(self)
            .or_else(|| of_verdict(self))
            .or_else(|| of_lanes(self))
            .or_else(rows)
            .or_else(|| self.planned.iter().find_map(of_planned))
            .or_else(|| self.catalogue.iter().find_map(of_catalogue))
            .or_else(|| self.agreements.iter().find_map(of_agreement))
            .or_else(|| self.figures.iter().find_map(of_figure))
    }
}

fn name(row: &Row) -> String {
    let against = match row.against {
        Against::Contract => "contract",
        Against::Reference => "reference",
    };
    format!("the row of {} {} {} against its {against}", row.op, row.kernel, row.lane)
}

/// Returns the sentence if the condition holds.
fn when(is_so: bool, what: impl FnOnce() -> String) -> Option<String> {
    is_so.then(what)
}

fn of_run(ledger: &Ledger) -> Option<String> {
    let ended = ledger.verdict != Verdict::Unfinished;
    when(!EFFORTS.contains(&ledger.effort.as_str()), || {
        format!("its effort is `{}`, and a run has one of {}", ledger.effort, EFFORTS.join(", "))
    })
    .or_else(|| {
        let why = ledger.unfinished.as_deref().filter(|_| ended)?;
        Some(format!("it has a verdict, although `unfinished` has a reason for none: {why}"))
    })
}

/// Returns a contradiction between the verdict and another field.
fn of_verdict(ledger: &Ledger) -> Option<String> {
    let findings = ledger.findings.len();
    match ledger.verdict {
        Verdict::Unfinished => None,
        Verdict::Broken => when(findings == 0, || "its verdict is broken, and it has no finding".to_owned()),
        Verdict::Holds => of_holds(ledger).map(|what| format!("its verdict is holds, and {what}")),
    }
    .or_else(|| (ledger.verdict == Verdict::Broken).then(|| unfound(ledger)).flatten())
}

fn of_holds(ledger: &Ledger) -> Option<String> {
    let row = |wanted: fn(&Row) -> bool, what: &str| {
        ledger.rows.iter().find(|row| wanted(row)).map(|row| format!("{} {what}", name(row)))
    };
    let check = ledger.self_checks.iter().find(|check| !check.passed);
    let broken = ledger.catalogue.iter().find(|run| run.broken > 0);
    let bound = ledger.bounds.iter().find(|bound| !bound.shown);
    let rewrite = ledger.rewrites.iter().find(|rewrite| !rewrite.held());
    let absent = ledger.lanes.iter().find(|l| matches!(l.status, LaneStatus::NotRun { allowed: false, .. }));
    when(!ledger.findings.is_empty(), || format!("it has {}", crate::text::plural(ledger.findings.len(), "finding")))
        .or_else(|| {
            when(ledger.rows.iter().all(|row| row.inputs == 0), || "no row has an input that was judged".to_owned())
        })
        .or_else(|| row(|row| row.against == Against::Contract && row.differ > 0, "differs"))
        .or_else(|| {
            row(|row| row.extents.iter().any(|(class, e)| deviating(row, class) > e.most), "deviates beyond its extent")
        })
        .or_else(|| check.map(|c| format!("the self-check {} {} {} did not pass", c.op, c.name, c.lane)))
        .or_else(|| {
            broken.map(|run| format!("{} outputs of the catalogue of {} {} are broken", run.broken, run.op, run.lane))
        })
        .or_else(|| {
            bound.map(|b| format!("the bound of {} {} {}, {}, is not shown", b.op, b.kernel, b.lane, b.quantity))
        })
        .or_else(|| rewrite.map(|r| format!("the rewrite `{}` of {} is not as recorded", r.rewrite, r.ty)))
        .or_else(|| absent.map(|lane| format!("lane {} did not run and was not allowed not to", lane.name)))
}

fn deviating(row: &Row, class: &str) -> u64 {
    row.deviations.get(class).copied().unwrap_or(0)
}

/// Returns a broken contract or failed self-check without a finding about it in its lane.
fn unfound(ledger: &Ledger) -> Option<String> {
    let found: BTreeSet<[&str; 3]> = ledger.findings.iter().map(|f| [&*f.op, &*f.kernel, &*f.lane]).collect();
    let broken = ledger.rows.iter().filter(|row| row.against == Against::Contract && row.differ > 0);
    let row = broken.into_iter().find(|row| !found.contains(&[&*row.op, &*row.kernel, &*row.lane]));
    let check = ledger.self_checks.iter().find(|c| !c.passed && !found.contains(&[&*c.op, &*c.name, &*c.lane]));
    row.map(|row| format!("{} differs, and no finding is about that kernel in that lane", name(row))).or_else(|| {
        check.map(|c| format!("the self-check {} {} {} did not pass, and no finding names it", c.op, c.name, c.lane))
    })
}

/// Returns a contradiction about lanes: every result belongs to a lane that ran.
fn of_lanes(ledger: &Ledger) -> Option<String> {
    let mut ran: BTreeMap<&str, bool> = BTreeMap::new();
    for lane in &ledger.lanes {
        if ran.insert(&lane.name, matches!(lane.status, LaneStatus::Ran { .. })).is_some() {
            return Some(format!("lane {} is listed twice", lane.name));
        }
    }
    let rows = ledger.rows.iter().map(|row| (&row.lane, name(row)));
    let checks = ledger.self_checks.iter().map(|c| (&c.lane, format!("the self-check {} {}", c.op, c.name)));
    let catalogue = ledger.catalogue.iter().map(|run| (&run.lane, format!("the catalogue of {}", run.op)));
    let elsewhere = rows.chain(checks).chain(catalogue).find(|(lane, _)| ran.get(lane.as_str()) != Some(&true));
    elsewhere.map(|(lane, what)| {
        let state = if ran.contains_key(lane.as_str()) { "did not run" } else { "is not listed" };
        format!("{what} is of lane {lane}, which {state}")
    })
}

fn of_row(row: &Row) -> Option<String> {
    let sum = |map: &BTreeMap<String, u64>| map.values().sum::<u64>();
    let (deltas, classes, deviations) = (sum(&row.by_delta), sum(&row.classes), sum(&row.deviations));
    let differ = count(row.differ);
    let undeclared = row.deviations.keys().find(|class| !row.declared.contains_key(*class));
    let of_contract = !row.deviations.is_empty() || !row.declared.is_empty();
    let kind = row.kinds.iter().find(|(_, n)| **n > row.inputs);
    when(row.differ > row.inputs, || format!("{differ} differ of {} inputs", count(row.inputs)))
        .or_else(|| when(deltas != row.differ, || format!("{differ} differ, and by their deltas {}", count(deltas))))
        .or_else(|| when(classes != row.differ, || format!("{differ} differ, and by their classes {}", count(classes))))
        .or_else(|| {
            let more = deviations > row.inputs;
            when(more, || format!("{} deviate of {} inputs", count(deviations), count(row.inputs)))
        })
        .or_else(|| undeclared.map(|class| format!("inputs deviate by `{class}`, which the contract does not declare")))
        .or_else(|| {
            let reference = row.against == Against::Reference && of_contract;
            when(reference, || "a reference has no deviations, which a contract declares".to_owned())
        })
        .or_else(|| kind.map(|(kind, n)| format!("{} inputs `{kind}` of {}", count(*n), count(row.inputs))))
        .or_else(|| of_witnesses(row))
        .or_else(|| of_spans(row))
}

/// Returns a witness of a class that no differing input has.
fn of_witnesses(row: &Row) -> Option<String> {
    let classes = row.witness.iter().map(|w| &w.class).chain(row.examples.iter().map(|example| &example.class));
    // The witness of a reference was shrunk from a counted input, and may have another class.
    let counted =
        |class: &&String| row.differ > 0 && row.against == Against::Reference || row.classes.contains_key(*class);
    let mut classes = classes.filter(|class| !counted(class));
    classes.next().map(|class| match row.differ {
        0 => format!("it has a witness of `{class}`, and no input differs"),
        _ => format!("it has a witness of `{class}`, and no input of that class differs"),
    })
}

fn of_spans(row: &Row) -> Option<String> {
    let size = row.sizes.iter().find(|(_, size)| size.least > size.greatest || size.remainders > 64);
    let range = row.ranges.iter().find(|(_, range)| range.least > range.greatest);
    size.map(|(name, size)| {
        format!("`{name}` is {} to {}, of {} remainders", size.least, size.greatest, size.remainders)
    })
    .or_else(|| range.map(|(name, range)| format!("`{name}` is {} to {}", range.least, range.greatest)))
}

fn of_planned(p: &Planned) -> Option<String> {
    let dropped: u64 = p.dropped.iter().map(|dropped| dropped.count).sum();
    when(p.run + dropped != p.planned, || {
        let all = [p.planned, p.run, dropped].map(count);
        format!(
            "{} {} {}: {} {}s are planned, of which {} ran and {} were dropped",
            p.op,
            p.kernel,
            p.lane,
            all[0],
            p.unit.name(),
            all[1],
            all[2]
        )
    })
}

fn of_catalogue(run: &CatalogueRun) -> Option<String> {
    let place = format!("the catalogue of {} {}", run.op, run.lane);
    when(run.broken > run.judged, || format!("{place}: {} outputs are broken of {} judged", run.broken, run.judged))
        .or_else(|| {
            when(run.not_taken > run.cases, || {
                format!("{place}: {} of {} cases are not taken", run.not_taken, run.cases)
            })
        })
}

fn of_agreement(a: &Agreement) -> Option<String> {
    let pair = format!("{} {} {} with {} {}", a.op, a.kernel, a.lane, a.other, a.other_lane);
    let [results, open, inside, outside] = [a.results, a.open, a.differ, a.differ_open].map(count);
    let types: u64 = a.types.values().sum();
    when(a.open > a.results || a.differ_open > a.open || a.differ > a.results - a.open, || {
        format!("{pair}: {inside} and, of {open} open ones, {outside} differ of {results} results")
    })
    .or_else(|| {
        let all = a.differ + a.differ_open;
        when(types != all, || format!("{pair}: {} differ, and by their types {}", count(all), count(types)))
    })
}

fn of_figure(figure: &Figure) -> Option<String> {
    let columns = figure.columns.len();
    let row = figure.rows.iter().find(|row| row.len() != columns)?;
    Some(format!(
        "the figure {} of {}: a row has {} values for {columns} columns",
        figure.kind.name(),
        figure.op,
        row.len()
    ))
}

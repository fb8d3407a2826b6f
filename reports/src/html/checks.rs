//! Checks of the harness: known bugs and the lanes that detect them, corner cases, bounds, bit-for-bit comparisons.

use super::command;
use super::table::{Cell, Row, Table};
use crate::agreement;
use crate::ledger::{Bound, CheckKind, Ledger, SelfCheck};
use crate::proofs;
use crate::text;
use crate::view;
use indexmap::{IndexMap, IndexSet};

/// Table of known bugs by lane.
pub(super) fn kill_matrix(ledger: &Ledger) -> Option<Table> {
    let lanes: IndexSet<&str> = ledger.self_checks.iter().map(|check| check.lane.as_str()).collect();
    let mut checks: IndexMap<[&str; 2], Vec<&SelfCheck>> = IndexMap::new();
    for check in &ledger.self_checks {
        checks.entry([&check.op, &check.name]).or_default().push(check);
    }
    let heads: Vec<&str> =
        ["operation", "known bug or control", "must be"].into_iter().chain(lanes.iter().copied()).collect();
    let mut table = Table::new("kill-matrix", "Known bugs and controls, and the lanes that distinguish them", &heads);
    // A list has fixed labels, but these heads are names of lanes.
    table.is_list = false;
    table.rows = checks.values().map(|all| matrix_row(ledger, all, &lanes)).collect();
    table.filled()
}

fn matrix_row(ledger: &Ledger, all: &[&SelfCheck], lanes: &IndexSet<&str>) -> Row {
    let first = all[0];
    let must = match first.kind {
        CheckKind::Mutant => first.expected_class.as_str(),
        CheckKind::Control => "equal",
    };
    let of_lane = |lane: &&str| match all.iter().find(|check| check.lane == **lane) {
        None => Cell::text("not run").class("notable"),
        Some(SelfCheck { passed: true, kind: CheckKind::Mutant, .. }) => Cell::text("killed").class("good"),
        Some(SelfCheck { passed: true, .. }) => Cell::text("equal").class("good"),
        Some(SelfCheck { kind: CheckKind::Mutant, .. }) => Cell::text("SURVIVED").class("bad"),
        Some(_) => Cell::text("DIFFERS").class("bad"),
    };
    let own = [Cell::text(&first.op), Cell::text(&first.name), Cell::text(must)];
    let seen = view::lanes_together(all.iter().map(|check| (vec![check.seen.clone()], check.lane.as_str())));
    let seen = seen.into_iter().map(|(seen, lanes)| format!("{}: {}", lanes.join(", "), seen.concat()));
    let origin = Some(&first.origin).filter(|origin| !origin.is_empty()).map(|origin| format!("from {origin}"));
    Row {
        cells: own.into_iter().chain(lanes.iter().map(of_lane)).collect(),
        says: seen.chain(origin).map(|line| text::one_line(&line)).collect(),
        command: match first.kind {
            CheckKind::Mutant => command::narrowed(ledger, &[("--op", &first.op), ("--kernel", &first.name)]),
            CheckKind::Control => command::narrowed(ledger, &[("--op", &first.op)]),
        },
        ..Row::default()
    }
}

/// Table of kept corner cases by operation and lane.
pub(super) fn catalogue(ledger: &Ledger) -> Option<Table> {
    let heads =
        ["operation", "lane", "#kept cases", "#accepted by no kernel", "#outputs judged", "#outside a contract"];
    let mut table = Table::new("catalogue-runs", "The catalogue of corner cases, run first", &heads);
    for (i, run) in ledger.catalogue.iter().enumerate() {
        let at = |field: &str| format!("/catalogue/{i}/{field}");
        table.rows.push(Row {
            cells: vec![
                Cell::text(&run.op),
                Cell::text(&run.lane),
                Cell::count(run.cases, at("cases")),
                Cell::count(run.not_taken, at("not_taken")),
                Cell::count(run.judged, at("judged")),
                Cell::count(run.broken, at("broken")).class(if run.broken > 0 { "bad" } else { "" }),
            ],
            command: command::narrowed(ledger, &[("--op", &run.op), ("--lane", &run.lane)]),
            ..Row::default()
        });
    }
    table.filled()
}

/// Table of bounds; lanes with equal bounds share a row.
pub(super) fn bounds(ledger: &Ledger) -> Option<Table> {
    let heads = ["operation", "kernel", "quantity", "#safe up to", "one past it", "lanes"];
    let mut table = Table::new(
        "bound-statements",
        "Bounds of exact sums: right at the bound, wrong one past it, because a sum overflows there and wraps as the contract allows",
        &heads,
    );
    for (bound, lanes) in view::bounds(ledger) {
        let at = ledger.bounds.iter().position(|known| std::ptr::eq(known, bound)).expect("a bound of the ledger");
        let from = if bound.bound.is_some() { format!("/bounds/{at}/bound") } else { String::new() };
        table.rows.push(Row {
            cells: vec![
                Cell::text(&bound.op),
                Cell::text(&bound.kernel),
                Cell::text(&bound.quantity),
                Cell { text: text::bound(bound), from, ..Cell::default() },
                Cell::text(past(bound)).class(if bound.shown { "" } else { "bad" }),
                Cell::text(lanes.join(", ")),
            ],
            says: vec![text::one_line(&bound.because)],
            command: bound_command(ledger, bound),
            ..Row::default()
        });
    }
    table.filled()
}

/// Table of recorded proofs, a row for each form and contract.
pub(super) fn theorems(ledger: &Ledger) -> Option<Table> {
    let heads = ["kernel", "form", "contract", "verdict"];
    let mut table = Table::new(
        "theorems",
        "Recorded proofs, for all accumulators and multipliers of the contract's domain",
        &heads,
    );
    for theorem in ledger.proofs.iter().flat_map(|proofs| &proofs.theorems) {
        let holds = if theorem.mutant { theorem.refuted || theorem.proved } else { theorem.proved };
        table.rows.push(Row {
            cells: vec![
                Cell::text(&theorem.kernel),
                Cell::text(proofs::form(theorem)),
                Cell::text(&theorem.contract),
                Cell::text(theorem.verdict.join("; ")).class(if holds { "" } else { "bad" }),
            ],
            // The code of the kernels is only in a clone of the repository.
            command: match super::command::program(ledger) {
                "tiebreak" => String::new(),
                program => format!("{program} prove --kernels --kernel {}", theorem.kernel),
            },
            ..Row::default()
        });
    }
    table.filled()
}

/// Table of rewrites of the quant dialect, a row for each type.
pub(super) fn rewrites(ledger: &Ledger) -> Option<Table> {
    let heads = ["rewrite", "type", "same", "differ", "poison", "verdict"];
    let mut table = Table::new("rewrites", "Rewrites of the quant dialect, by the results of both sides", &heads);
    for (at, rewrite) in ledger.rewrites.iter().enumerate() {
        let number = |key: &str, n: u64| Cell::count(n, format!("/rewrites/{at}/counted/{key}"));
        table.rows.push(Row {
            cells: vec![
                Cell::text(&rewrite.rewrite),
                Cell::text(&rewrite.ty),
                number("same", rewrite.counted.same),
                number("differ", rewrite.counted.differ),
                number("undefined", rewrite.counted.undefined),
                Cell::text(text::rewrite(rewrite)).class(if rewrite.held() { "" } else { "bad" }),
            ],
            command: text::one_line(&rewrite.command),
            ..Row::default()
        });
    }
    table.filled()
}

fn past(bound: &Bound) -> String {
    let shown = if bound.shown { "" } else { "not shown: " };
    format!("{shown}{}", text::past(bound))
}

fn bound_command(ledger: &Ledger, bound: &Bound) -> String {
    let witness = bound.witness_past_bound.as_ref().or(bound.witness_at_bound.as_ref());
    witness.map_or_else(
        || format!("{} bounds", super::command::program(ledger)),
        |witness| text::one_line(&witness.command),
    )
}

/// Table of kernels compared bit for bit.
pub(super) fn agreements(ledger: &Ledger) -> Option<Table> {
    let heads = ["kernel", "lanes", "compared to the bit", "where they differ"];
    let mut table = Table::new(
        "agreement-lines",
        "Kernels and lanes compared to the bit, also where no contract gives a value",
        &heads,
    );
    for line in agreement::lines(ledger) {
        let case = line.witness.map_or(String::new(), |witness| text::case(&witness.case));
        let differ = if case.is_empty() { String::new() } else { format!("{case}: {}", line.values) };
        table.rows.push(Row {
            cells: vec![
                Cell::text(&line.names[0]),
                Cell::text(&line.names[1]),
                Cell::text(&line.prose).class("long"),
                Cell::text(differ).class("long"),
            ],
            command: line.witness.map_or_else(|| command::narrowed(ledger, &[]), |w| text::one_line(&w.command)),
            ..Row::default()
        });
    }
    table.filled()
}

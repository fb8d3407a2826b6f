//! First screen: verdict, findings, lanes, uncovered inputs, checks.

use super::command;
use super::has_ended;
use super::table::{Cell, Row, Table};
use crate::findings;
use crate::ledger::{Content, Lane, LaneStatus, Ledger, Role, Verdict};
use crate::overview;
use crate::text::{self, plural};
use crate::uncovered;
use crate::view;

/// Number of workers that a lane names: one, with its emulator.
const WORKERS: usize = 2;

/// Finding as the page shows it.
pub(super) struct Shown {
    pub(super) line: String,
    pub(super) details: Vec<String>,
    pub(super) command: String,
}

/// Returns the heading with the verdict, and the totals of the run.
pub(super) fn heading(ledger: &Ledger) -> (String, String) {
    let heading = match ledger.verdict {
        Verdict::Holds => "Every contract held".to_owned(),
        Verdict::Broken => plural(findings::number(ledger), "finding"),
        Verdict::Unfinished => "The run did not end".to_owned(),
    };
    let why = ledger.unfinished.as_deref().filter(|_| !has_ended(ledger)).map(text::one_line);
    let why = why.map_or(String::new(), |why| format!("{why}; until then "));
    (heading, format!("{why}{}", view::Totals::of(ledger).sentence(ledger.seconds)))
}

/// Returns all findings, the most likely causes first.
pub(super) fn findings(ledger: &Ledger) -> Vec<Shown> {
    let shown = |merged: findings::Merged<'_>| Shown {
        line: merged.line(),
        details: text::finding_details(merged.finding),
        command: text::one_line(text::rerun(merged.finding, &ledger.command)),
    };
    findings::by_severity(ledger).into_iter().map(shown).collect()
}

/// True if the caller allows the lane not to run, or its tools are not installed. Such a lane has a note instead of a row.
fn is_absent(lane: &Lane) -> bool {
    matches!(lane.status, LaneStatus::NotRun { allowed: true, .. })
}

/// Returns the absent lanes, one line for each reason.
pub(super) fn absent(ledger: &Ledger) -> Vec<String> {
    uncovered::absent_lanes(ledger, true).into_iter().map(|line| text::one_line(&line)).collect()
}

/// Table of the lanes that are not absent.
pub(super) fn lanes(ledger: &Ledger) -> Table {
    let mut table = Table::new(
        "lanes",
        "Lanes of the run",
        &["lane", "runs on", "#kernels", "#inputs", "code (SHA-256 of the worker)"],
    );
    table.rows = ledger.lanes.iter().filter(|lane| !is_absent(lane)).map(|lane| of_lane(ledger, lane)).collect();
    table
}

fn of_lane(ledger: &Ledger, lane: &Lane) -> Row {
    let count = overview::of_lane(ledger, &lane.name);
    let ran = matches!(lane.status, LaneStatus::Ran { .. });
    let places: Vec<String> = view::lines(ledger)
        .iter()
        .filter(|line| line.row().lane == lane.name && line.inputs() > 0)
        .filter_map(|line| judged(ledger, line))
        .collect();
    // In the files of a lane, an emulator comes before the program that it runs.
    let workers: Vec<String> = lane.files.iter().filter(|file| file.role == Role::Worker).map(short).collect();
    Row {
        cells: vec![
            Cell::text(&lane.name),
            Cell::text(text::lane(&lane.status)).class(if ran { "" } else { "bad" }),
            Cell::text(text::count(count.kernels as u64)),
            Cell::count(count.inputs, places.join(" ")),
            Cell::text(text::some(&workers, WORKERS)).class("code"),
        ],
        command: command::narrowed(ledger, &[("--lane", &lane.name)]),
        ..Row::default()
    }
}

/// Returns the name of a file and the first digits of its hash.
fn short(file: &Content) -> String {
    format!("{} {}", file.name, file.sha256.chars().take(12).collect::<String>())
}

/// Returns the JSON pointer to the number of inputs that a line's contract judged; `None` without a contract.
pub(super) fn judged(ledger: &Ledger, line: &view::Line<'_>) -> Option<String> {
    let contract = line.contract?;
    let at = ledger.rows.iter().position(|row| std::ptr::eq(row, contract))?;
    Some(format!("/rows/{at}/inputs"))
}

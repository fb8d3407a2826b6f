//! One screen for a run of everything: failures, lanes, a line for each operation, checks, uncovered inputs, the verdict.
//! Lists are bounded; the last line of a cut list counts the missing entries.

use super::page::{Entry, Ink, Page, bare_table};
use super::{diff, first_finding, one_finding, title, verdict};
use crate::files::DETAILS;
use crate::findings;
use crate::html::Earlier;
use crate::ledger::{Lane, LaneStatus, Ledger};
use crate::overview::{self, Count, Operation, Outcome};
use crate::text::{self, count};
use crate::uncovered;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

/// Upper bound on the columns of the screen, however wide the terminal is.
const WIDTH: u16 = 100;
/// Number of listed findings.
const FINDINGS: usize = 6;
/// Upper bound on the bytes of a sentence on a finding, so that its command is within the first ten lines.
const EXPLANATION: usize = 200;
/// Number of listed kernels with changes since an earlier run.
const CHANGED: usize = 4;
/// Number of listed lanes.
const LANES: usize = 7;
/// Number of listed failed checks, beneath the counts.
const CHECKS: usize = 5;
/// Number of lines without the findings.
const LINES: usize = 54;
/// Lines around the uncovered inputs: a blank line on either side, the verdict, the files.
const ENDING: usize = 5;
/// Reasons for gaps that are listed even if they exceed the number of lines, and bytes of a reason.
const UNCOVERED: usize = 4;
const REASON: usize = 190;

pub(super) fn render(page: &mut Page, ledger: &Ledger, earlier: Earlier<'_>) {
    page.style.width = Some(page.style.width.map_or(WIDTH, |width| width.min(WIDTH)));
    failing(page, ledger);
    let findings = page.out.lines().count();
    diff::changed(page, ledger, earlier, CHANGED);
    title(page, ledger);
    lanes(page, ledger);
    operations(page, ledger);
    checks(page, ledger);
    let used = page.out.lines().count() - findings;
    not_covered(page, ledger, LINES.saturating_sub(used + ENDING));
    verdict(page, ledger);
    first_finding(page, ledger);
}

fn failing(page: &mut Page, ledger: &Ledger) {
    let all = findings::alike(ledger);
    let listed = &all[..all.len().min(FINDINGS)];
    let shown: usize = listed.iter().map(|alike| alike.count).sum();
    let number = findings::number(ledger);
    match number {
        0 => return,
        n if n > shown => page.heading(&format!("Findings, {shown} of {}", count(n as u64))),
        _ => page.heading("Findings"),
    }
    for alike in listed {
        one_finding(page, alike, &ledger.command, EXPLANATION);
    }
    more(page, number - shown, "finding");
}

/// Prints the number of entries that a list leaves out, if any.
fn more(page: &mut Page, missing: usize, noun: &str) {
    if missing > 0 {
        let plural = if missing == 1 { "" } else { "s" };
        page.line(2, &format!("and {} more {noun}{plural}, see {DETAILS}", count(missing as u64)), Ink::Notable);
    }
}

fn lanes(page: &mut Page, ledger: &Ledger) {
    page.heading("Lanes");
    // A lane that did not run must always be listed.
    let mut all: Vec<&Lane> = ledger.lanes.iter().collect();
    if all.len() > LANES {
        all.sort_by_key(|lane| matches!(lane.status, LaneStatus::Ran { .. }));
    }
    let shown = &all[..all.len().min(LANES)];
    page.list(&lane_entries(page, ledger, shown));
    more(page, all.len() - shown.len(), "lane");
}

fn lane_entries(page: &Page, ledger: &Ledger, lanes: &[&Lane]) -> Vec<Entry> {
    let judged: Vec<_> = lanes.iter().map(|lane| overview::of_lane(ledger, &lane.name)).collect();
    let digits = judged.iter().map(|judged| count(judged.inputs).len()).max().unwrap_or(0);
    let names = |(lane, judged): (&&Lane, &Count)| {
        let kernels = format!("{:>3} {}", judged.kernels, if judged.kernels == 1 { "kernel" } else { "kernels" });
        vec![lane.name.clone(), kernels, format!("{:>digits$} inputs", count(judged.inputs))]
    };
    let names: Vec<_> = lanes.iter().zip(&judged).map(names).collect();
    let widest = |i: usize| names.iter().map(|names| names[i].chars().count() + 2).max().unwrap_or(0);
    let width = page.style.width.map_or(usize::MAX, usize::from);
    let room = width.saturating_sub(2 + (0..3).map(widest).sum::<usize>());
    let entries = lanes.iter().zip(&names).map(|(lane, names)| {
        let (prose, ink) = match &lane.status {
            LaneStatus::Ran { arch, via } => (overview::reached(arch, via, room), Ink::Plain),
            LaneStatus::NotRun { allowed: true, .. } => ("not run".to_owned(), Ink::Notable),
            LaneStatus::NotRun { allowed: false, .. } => ("not run".to_owned(), Ink::Bad),
        };
        Entry { names: names.clone(), prose, ink }
    });
    entries.collect()
}

fn operations(page: &mut Page, ledger: &Ledger) {
    page.heading("Operations");
    let all = overview::operations(ledger);
    if all.is_empty() {
        return page.line(2, "none ran", Ink::Bad);
    }
    // The classes get the width that the other columns leave.
    let others = table(&all, 0).lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
    let width = page.style.width.map_or(usize::MAX, usize::from);
    page.table(table(&all, width.saturating_sub(others + 3)));
    if let Some(deviations) = overview::deviations(&all) {
        page.prose(2, &deviations, Ink::Faint);
    }
}

/// Returns the table of operations, with `room` columns for class names, or without them for 0.
fn table(operations: &[Operation<'_>], room: usize) -> Table {
    let mut table = bare_table();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    let mut header = vec!["operation", "kernels", "inputs", "contract", "differ from\nreference"];
    header.extend((room > 0).then_some("classes"));
    table.set_header(header.into_iter().map(|name| Ink::Faint.cell(name)).collect::<Vec<_>>());
    for operation in operations {
        let (contract, outcome) = operation.contract();
        let contract = if outcome == Outcome::Good { Ink::Good } else { Ink::Bad }.cell(contract);
        let reference = if operation.differs() { Ink::Notable } else { Ink::Plain }.cell(operation.reference());
        let mut cells = vec![
            Ink::Strong.cell(operation.op),
            Cell::new(count(operation.kernels as u64)),
            Cell::new(count(operation.inputs)),
            contract,
            reference,
        ];
        cells.extend((room > 0).then(|| Cell::new(operation.classes(room))));
        table.add_row(cells);
    }
    for i in 0..table.column_count() {
        let column = table.column_mut(i).expect("one for each header");
        column.set_padding((1, 0));
        if matches!(i, 1 | 2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn checks(page: &mut Page, ledger: &Ledger) {
    page.heading("Checks");
    let entry = |check: overview::Check| Entry {
        names: vec![check.name.to_owned()],
        prose: check.sentence,
        ink: if check.passed { Ink::Good } else { Ink::Bad },
    };
    page.list(&overview::checks(ledger).into_iter().map(entry).collect::<Vec<_>>());
    let failed = overview::failed_checks(ledger);
    for line in failed.iter().take(CHECKS) {
        page.prose(4, &text::cut(line, EXPLANATION), Ink::Bad);
    }
    more(page, failed.len().saturating_sub(CHECKS), "failed check");
}

/// Prints uncovered inputs in at most `most` lines, with the heading.
fn not_covered(page: &mut Page, ledger: &Ledger, most: usize) {
    let all = uncovered::all(ledger);
    if all.is_empty() {
        return;
    }
    let section = |shown: usize| {
        let mut section = Page { style: page.style, out: String::new() };
        section.heading("Not covered");
        let entries = all.iter().take(shown).map(|uncovered| Entry {
            names: vec![uncovered.subject.to_owned()],
            prose: text::cut(&uncovered.sentence, REASON),
            ink: if uncovered.unexpected { Ink::Notable } else { Ink::Plain },
        });
        section.list(&entries.collect::<Vec<_>>());
        more(&mut section, all.len().saturating_sub(shown), "reason");
        section.out
    };
    let fits = |text: &String| text.lines().count() <= most;
    let fitting = (UNCOVERED..=all.len()).rev().map(section).find(fits);
    let text = fitting.unwrap_or_else(|| section(UNCOVERED));
    page.out.push('\n');
    page.out.push_str(&text);
}

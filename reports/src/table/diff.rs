//! Comparison of two runs, for the terminal.

use super::Style;
use super::page::{Ink, Page, bare_table};
use crate::diff::{Change, Diff, KernelChange, diff};
use crate::drawable;
use crate::html::{Earlier, against};
use crate::ledger::Ledger;
use crate::markdown::capital;
use crate::text::{count, one_line, plural};
use comfy_table::Cell;

/// Draws the comparison: the sum in one line, a line for each kernel, and commands that reproduce worse results.
pub fn render_diff(diff: &Diff, style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    page.line(0, &diff.line(), if diff.is_worse() { Ink::Bad } else { Ink::Good });
    if diff.differences.is_empty() {
        return page.out;
    }
    page.heading("Differences");
    let mut table = bare_table();
    table.set_header(KernelChange::HEADS);
    let kernels = diff.kernels();
    for kernel in &kernels {
        let [change, rest @ ..] = kernel.cells();
        let cells = [ink(kernel.change).cell(change)].into_iter().chain(rest.into_iter().map(Cell::new));
        table.add_row(cells.collect::<Vec<_>>());
    }
    page.table(table);
    if !diff.reasons().is_empty() {
        page.heading("Parts of the plan that differ");
    }
    for (why, n) in diff.reasons() {
        page.line(2, &format!("{}: {}", plural(n, "row"), one_line(why)), Ink::Plain);
    }
    let worse: Vec<_> = kernels.iter().filter(|kernel| kernel.change == Change::Worse).collect();
    if !worse.is_empty() {
        page.heading("Worse results");
    }
    for kernel in worse {
        let says = kernel.says.unwrap_or("the ledger has no witness of this class");
        page.line(2, &format!("{} {} {}: {says}", kernel.op, kernel.kernel, kernel.lanes.join(", ")), Ink::Plain);
        if let Some(command) = kernel.command {
            page.line(4, command, Ink::Faint);
        }
    }
    page.out
}

fn ink(change: Change) -> Ink {
    match change {
        Change::Worse | Change::Gone => Ink::Bad,
        Change::PlanChanged | Change::NotAsked => Ink::Notable,
        Change::New => Ink::Plain,
        Change::Better => Ink::Good,
    }
}

/// Prints the changes since the last of the earlier runs, with at most `most` kernels; nothing without an earlier run.
pub(super) fn changed(page: &mut Page, ledger: &Ledger, earlier: Earlier<'_>, most: usize) {
    let Some(old) = earlier.runs.last().map(drawable::ledger) else { return };
    let diff = diff(&old, ledger);
    page.heading("Changed");
    let summary = format!("{}.{}", capital(&diff.line()), against(Some(&old)));
    page.prose(2, &summary, if diff.is_worse() { Ink::Bad } else { Ink::Good });
    let kernels = diff.kernels();
    for kernel in kernels.iter().take(most) {
        let [change, op, name, lanes, what] = kernel.cells();
        page.prose(2, &one_line(&format!("{change}: {op} {name} ({lanes}): {what}")), ink(kernel.change));
    }
    if let Some(more) = kernels.len().checked_sub(most).filter(|more| *more > 0) {
        page.line(2, &format!("and {} more kernels, see {}", count(more as u64), crate::files::REPORT), Ink::Notable);
    }
    for (why, n) in diff.reasons().into_iter().take(most) {
        page.prose(2, &format!("{}: {}", plural(n, "comparison"), one_line(why)), Ink::Plain);
    }
}

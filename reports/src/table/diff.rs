//! Two runs compared, for the terminal.

use super::Style;
use super::page::{Ink, Page, bare_table};
use crate::diff::{Change, Diff};
use crate::text::{one_line, plural};
use comfy_table::Cell;

/// Draws it: the sum in one line, a line for each difference, and how to see those again that are worse.
pub fn render_diff(diff: &Diff, style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    let ink = |change| match change {
        Change::Worse => Ink::Bad,
        Change::Gone => Ink::Bad,
        Change::PlanChanged | Change::NotAsked => Ink::Notable,
        Change::New => Ink::Plain,
        Change::Better => Ink::Good,
    };
    page.line(0, &diff.line(), if diff.is_worse() { Ink::Bad } else { Ink::Good });
    if diff.differences.is_empty() {
        return page.out;
    }
    page.heading("Differences");
    let mut table = bare_table();
    table.set_header(["change", "operation", "kernel", "lane", "against", "class", "before", "after"]);
    for difference in &diff.differences {
        let [change, rest @ ..] = difference.cells();
        let cells = [ink(difference.change).cell(change)].into_iter().chain(rest.into_iter().map(Cell::new));
        table.add_row(cells.collect::<Vec<_>>());
    }
    page.table(table);
    if !diff.reasons().is_empty() {
        page.heading("Parts of the plan that differ");
    }
    for (why, n) in diff.reasons() {
        page.line(2, &format!("{}: {}", plural(n, "row"), one_line(why)), Ink::Plain);
    }
    let worse: Vec<_> = diff.differences.iter().filter(|difference| difference.change == Change::Worse).collect();
    if !worse.is_empty() {
        page.heading("Worse results");
    }
    for difference in worse {
        let says = difference.says.as_deref().unwrap_or("the ledger has no witness of this class");
        page.line(2, &format!("{} {} {}: {says}", difference.op, difference.kernel, difference.lane), Ink::Plain);
        if let Some(command) = &difference.command {
            page.line(4, command, Ink::Faint);
        }
    }
    page.out
}

//! Changes since an earlier run, and the list of earlier runs.

use super::command;
use super::environment::short;
use super::table::{Cell, Row, Table};
use crate::diff::{Change, Diff, Difference};
use crate::ledger::Ledger;
use crate::text;

/// Differences that the page lists; the terminal's `diff` prints all.
const MOST: usize = 60;

/// The section.
pub(super) struct News {
    pub(super) is_worse: bool,
    /// Nothing where there is no earlier run.
    pub(super) line: Option<String>,
    pub(super) differences: Option<Table>,
    /// Number of differences that the table leaves out.
    pub(super) more: usize,
    /// The runs, where there are at least two earlier ones.
    pub(super) history: Option<Table>,
}

pub(super) fn news(ledger: &Ledger, earlier: &[Ledger], compared: Option<Diff>) -> News {
    let more = compared.as_ref().map_or(0, |diff| diff.differences.len().saturating_sub(MOST));
    News {
        is_worse: compared.as_ref().is_some_and(Diff::is_worse),
        line: compared.as_ref().map(|diff| sentence(diff, earlier.last())),
        differences: compared.as_ref().and_then(|diff| differences(ledger, &diff.differences)),
        more,
        history: (earlier.len() > 1).then(|| history(earlier, ledger)),
    }
}

fn sentence(diff: &Diff, old: Option<&Ledger>) -> String {
    let environment = old.and_then(|old| old.environment.as_ref());
    let of = environment.map_or(String::new(), |e| {
        let commit = e.commit.as_deref().map_or(String::new(), |commit| format!(", commit {}", short(commit)));
        format!(" Against the run of {}{commit}.", e.date)
    });
    text::one_line(&format!("{}.{of}", crate::markdown::capital(&diff.line())))
}

fn differences(ledger: &Ledger, all: &[Difference]) -> Option<Table> {
    let heads = ["change", "operation", "kernel", "lane", "against", "class", "before", "after"];
    let mut table = Table::new("differences", "What changed since the earlier run", &heads);
    table.rows = all.iter().take(MOST).map(|difference| row(ledger, difference)).collect();
    table.filled()
}

fn row(ledger: &Ledger, difference: &Difference) -> Row {
    let Difference { op, kernel, lane, .. } = difference;
    let again = || command::narrowed(ledger, &[("--op", op), ("--kernel", kernel), ("--lane", lane)]);
    let class = match difference.change {
        Change::Worse => "bad",
        Change::Better => "good",
        Change::Gone => "bad",
        Change::PlanChanged | Change::NotAsked | Change::New => "notable",
    };
    let mut cells: Vec<Cell> = difference.cells().into_iter().map(Cell::text).collect();
    cells[0].class = class;
    Row {
        cells,
        says: difference.says.iter().map(|says| text::one_line(says)).collect(),
        command: difference.command.as_deref().map_or_else(again, text::one_line),
        ..Row::default()
    }
}

fn history(earlier: &[Ledger], ledger: &Ledger) -> Table {
    let mut table = Table::new(
        "history",
        "The runs, the last one shown here",
        &["date", "commit", "verdict", "findings", "change"],
    );
    let runs: Vec<&Ledger> = earlier.iter().chain([ledger]).collect();
    table.rows = runs.iter().enumerate().map(|(i, run)| of_run(run, i.checked_sub(1).map(|i| runs[i]))).collect();
    table
}

fn of_run(run: &Ledger, before: Option<&Ledger>) -> Row {
    let environment = run.environment.as_ref();
    let date = environment.map_or("not recorded".to_owned(), |e| e.date.clone());
    let commit = environment.and_then(|e| e.commit.as_deref()).map_or("-".to_owned(), short);
    let change = before.map_or("-".to_owned(), |before| crate::diff::diff(before, run).line());
    let cells = [date, commit, text::verdict(run.verdict).to_owned(), text::count(run.findings.len() as u64), change];
    Row { cells: cells.into_iter().map(Cell::text).collect(), command: text::one_line(&run.command), ..Row::default() }
}

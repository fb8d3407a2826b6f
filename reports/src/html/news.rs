//! Changes since an earlier run, and the list of earlier runs.

use super::command;
use super::environment::short;
use super::table::{Cell, Row, Table};
use crate::diff::{Change, Diff, KernelChange};
use crate::findings;
use crate::ledger::Ledger;
use crate::text;

/// Number of kernels that the page lists; `diff` in the terminal prints all.
const MOST: usize = 60;

/// Section on changes.
pub(super) struct ChangesSection {
    pub(super) is_worse: bool,
    /// `None` if there is no earlier run.
    pub(super) line: Option<String>,
    pub(super) differences: Option<Table>,
    /// Changed parts of the plan and missing requests, with the number of comparisons that each explains.
    pub(super) reasons: Vec<String>,
    /// Number of kernels that the table leaves out.
    pub(super) more: usize,
    /// Table of runs, if there are at least two earlier ones.
    pub(super) history: Option<Table>,
}

pub(super) fn news(ledger: &Ledger, earlier: &[Ledger], compared: Option<Diff>) -> ChangesSection {
    let kernels = compared.as_ref().map(Diff::kernels).unwrap_or_default();
    let more = kernels.len().saturating_sub(MOST);
    ChangesSection {
        is_worse: compared.as_ref().is_some_and(Diff::is_worse),
        line: compared
            .as_ref()
            .map(|diff| format!("{}.{}", crate::markdown::capital(&diff.line()), against(earlier.last()))),
        differences: differences(ledger, &kernels),
        reasons: compared.as_ref().map(reasons).unwrap_or_default(),
        more,
        history: (earlier.len() > 1).then(|| history(earlier, ledger)),
    }
}

/// Returns ` Against the run of DATE, commit X.`, as far as the ledger of that run has the facts.
pub(crate) fn against(old: Option<&Ledger>) -> String {
    let environment = old.and_then(|old| old.environment.as_ref());
    environment.map_or(String::new(), |e| {
        let commit = e.commit.as_deref().map_or(String::new(), |commit| format!(", commit {}", short(commit)));
        text::one_line(&format!("Against the run of {}{commit}.", e.date)).replacen("Against", " Against", 1)
    })
}

fn reasons(diff: &Diff) -> Vec<String> {
    let sentence = |(why, n): (&str, usize)| format!("{}: {}", text::plural(n, "comparison"), text::one_line(why));
    diff.reasons().into_iter().map(sentence).collect()
}

fn differences(ledger: &Ledger, all: &[KernelChange<'_>]) -> Option<Table> {
    let mut table = Table::new("differences", "What changed since the earlier run", &KernelChange::HEADS);
    table.rows = all.iter().take(MOST).map(|kernel| row(ledger, kernel)).collect();
    table.filled()
}

fn row(ledger: &Ledger, kernel: &KernelChange<'_>) -> Row {
    let mut narrowed = vec![("--op", kernel.op), ("--kernel", kernel.kernel)];
    narrowed.extend(kernel.lanes.iter().map(|lane| ("--lane", *lane)));
    narrowed.retain(|(_, name)| !name.is_empty());
    let class = match kernel.change {
        Change::Worse => "bad",
        Change::Better => "good",
        Change::Gone => "bad",
        Change::PlanChanged | Change::NotAsked | Change::New => "notable",
    };
    let mut cells: Vec<Cell> = kernel.cells().into_iter().map(Cell::text).collect();
    cells[0].class = class;
    Row {
        cells,
        says: kernel.says.map(text::one_line).into_iter().collect(),
        command: kernel.command.map_or_else(|| command::narrowed(ledger, &narrowed), text::one_line),
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
    let cells =
        [date, commit, text::verdict(run.verdict).to_owned(), text::count(findings::number(run) as u64), change];
    Row { cells: cells.into_iter().map(Cell::text).collect(), command: text::one_line(&run.command), ..Row::default() }
}

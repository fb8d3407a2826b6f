//! Kernels of an operation: contract, result, and differences from the reference. Lanes with equal results share a row.

use super::command;
use super::first::judged;
use super::operation::id;
use super::table::{Cell, Row, Table};
use crate::ledger::{Coverage, Ledger, Row as Judged};
use crate::spans;
use crate::text::{self, count};
use crate::view::{self, Line};

/// Number of classes and deltas that a cell names.
const MOST: usize = 3;

/// Lines of one kernel that differ only in lane, path and seconds.
struct Group<'a> {
    lines: Vec<Line<'a>>,
    cells: Vec<String>,
}

pub(super) fn table(ledger: &Ledger, op: &str) -> Table {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for line in view::lines(ledger).into_iter().filter(|line| line.row().op == op) {
        let cells = compared(&line);
        match groups.iter_mut().find(|group| group.lines[0].row().kernel == line.row().kernel && group.cells == cells) {
            Some(group) => group.lines.push(line),
            None => groups.push(Group { lines: vec![line], cells }),
        }
    }
    let shared = Shared {
        lanes: view::shared(groups.iter().map(lanes)),
        coverage: view::shared(groups.iter().map(|group| group.lines[0].row().coverage)),
    };
    let heads = [
        "kernel",
        "promises",
        "contract",
        "#inputs of each lane",
        "#differ from the reference",
        "classes",
        "lanes",
        "coverage",
    ];
    let mut table = Table::new(&format!("{}-kernels", id(op)), shared.caption(op), &heads);
    table.is_captioned = true;
    table.rows = groups.iter().map(|group| row(ledger, group)).collect();
    for (column, is_shared) in [(7, shared.coverage.is_some()), (6, shared.lanes.is_some())] {
        if is_shared {
            table.heads.remove(column);
            table.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
        }
    }
    table
}

/// Values that all rows of a table share. The caption states them.
struct Shared<'a> {
    lanes: Option<Vec<&'a str>>,
    coverage: Option<Coverage>,
}

impl Shared<'_> {
    fn caption(&self, op: &str) -> String {
        let lanes = self.lanes.as_ref().map(|lanes| format!("each in {}", lanes.join(", ")));
        let coverage = self.coverage.map(|coverage| match coverage {
            Coverage::Exhaustive => "on all inputs",
            Coverage::Sampled => "on samples of the inputs",
        });
        let kernels = format!("Kernels of {op}");
        let parts: Vec<String> = [kernels].into_iter().chain(lanes).chain(coverage.map(str::to_owned)).collect();
        text::one_line(&parts.join(", "))
    }
}

fn lanes<'a>(group: &Group<'a>) -> Vec<&'a str> {
    group.lines.iter().map(|line| line.row().lane.as_str()).collect()
}

/// Returns the values that must be equal for two lanes to share a row.
fn compared(line: &Line<'_>) -> Vec<String> {
    let of = |row: Option<&Judged>| {
        row.map_or(String::new(), |row| {
            let witness = row.witness.as_ref().map_or(String::new(), text::witness);
            format!("{} {} {:?} {:?} {witness}", row.scheme, row.differ, row.classes, row.deviations)
        })
    };
    vec![of(line.contract), of(line.reference), line.inputs().to_string(), format!("{:?}", line.row().coverage)]
}

fn row(ledger: &Ledger, group: &Group<'_>) -> Row {
    let line = &group.lines[0];
    let first = line.row();
    let lanes = lanes(group);
    let (contract, class) = contract(line);
    Row {
        cells: vec![
            Cell::text(&first.kernel),
            Cell::text(line.contract.map_or("nothing exact", |row| text::scheme(&row.scheme))),
            Cell::text(contract).class(class),
            Cell::count(line.inputs(), judged(ledger, line).unwrap_or_default()),
            differ(ledger, line),
            Cell::text(classes(line)),
            Cell::text(lanes.join(", ")),
            Cell::text(text::coverage(first.coverage)),
        ],
        says: says(group),
        command: rerun(ledger, line, lanes[0]),
        ..Row::default()
    }
}

/// Returns the result of the contract in a few words, and its CSS class.
fn contract(line: &Line<'_>) -> (String, &'static str) {
    let Some(row) = line.contract else { return ("no contract row".to_owned(), "notable") };
    let deviations: u64 = row.deviations.values().sum();
    match (row.differ, row.inputs, deviations) {
        (0, 0, 0) => ("not judged".to_owned(), "bad"),
        (0, _, 0) => ("exact".to_owned(), "good"),
        (0, _, n) => (format!("exact except {} declared deviations", count(n)), "good"),
        (n, ..) => (format!("{} differ: {}", count(n), text::classes(&row.classes, MOST, "class").join(", ")), "bad"),
    }
}

fn differ(ledger: &Ledger, line: &Line<'_>) -> Cell {
    let Some(row) = line.reference else { return Cell::text("-") };
    let at = ledger.rows.iter().position(|known| std::ptr::eq(known, row)).expect("a row of the ledger");
    Cell::count(row.differ, format!("/rows/{at}/differ"))
}

fn classes(line: &Line<'_>) -> String {
    line.reference.map_or(String::new(), |row| text::classes(&row.classes, MOST, "class").join(", "))
}

/// Returns the paths, and the smallest input that differs.
fn says(group: &Group<'_>) -> Vec<String> {
    let line = &group.lines[0];
    let lines = group.lines.iter().map(|line| (vec![line.row().isa_path.clone()], line.row().lane.as_str()));
    let paths = view::lanes_together(lines).into_iter();
    let paths = paths.map(|(path, lanes)| format!("{}: {}", lanes.join(", "), path.concat()));
    let witness = line.contract.and_then(|row| row.witness.as_ref());
    let witness = witness.or(line.reference.and_then(|row| row.witness.as_ref()));
    let shown = witness.map(|witness| format!("smallest difference: {}", text::witness(witness)));
    let because = witness.map(|witness| witness.because.clone()).filter(|because| !because.is_empty());
    let deltas = line.reference.filter(|row| row.differ > 0).map(|row| text::deltas(&row.by_delta, MOST));
    let deltas = deltas.filter(|deltas| !deltas.is_empty());
    let deltas = deltas
        .map(|deltas| format!("by got - {}: {}", line.reference.map_or("", |row| &row.scheme), deltas.join(", ")));
    let examples = [line.contract, line.reference].into_iter().flatten().flat_map(|row| &row.examples);
    let examples = examples.map(|example| format!("{}; again: {}", text::example(example), example.command));
    let reference = line.reference.map(|row| format!("reference: {}", text::scheme(&row.scheme)));
    let spanned = line.contract.filter(|row| !row.sizes.is_empty()).map(spans::described).into_iter().flatten();
    let spanned = spanned.filter(|line| !line.is_empty());
    paths
        .chain(reference)
        .chain(shown)
        .chain(because)
        .chain(examples)
        .chain(deltas)
        .chain(spanned)
        .map(|line| text::one_line(&line))
        .collect()
}

fn rerun(ledger: &Ledger, line: &Line<'_>, lane: &str) -> String {
    let witnesses = [line.contract, line.reference].into_iter().flatten().filter_map(|row| row.witness.as_ref());
    let known = witnesses.map(|witness| &witness.command).find(|command| !command.is_empty());
    let row = line.row();
    let whole = || command::narrowed(ledger, &[("--op", &row.op), ("--kernel", &row.kernel), ("--lane", lane)]);
    known.map_or_else(whole, |command| text::one_line(command))
}

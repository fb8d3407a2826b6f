//! Operations: one line each on the first screen, and a section each with kernels, figures, classes and deviations.

use super::command;
use super::figures::{self, Drawn};
use super::first::judged;
use super::kernels;
use super::table::{Cell, Row, Table};
use crate::ledger::{Against, Ledger};
use crate::overview::{self, Operation, Outcome};
use crate::text::{self, count};
use crate::view;
use std::collections::{BTreeMap, BTreeSet};

/// Width of the classes of an operation, in columns.
const CLASSES: usize = 60;

/// Section of the page on an operation.
pub(super) struct Section {
    pub(super) id: String,
    pub(super) op: String,
    /// Result in a sentence.
    pub(super) sentence: String,
    pub(super) kernels: Table,
    pub(super) classes: Option<Table>,
    pub(super) deviations: Option<Table>,
    pub(super) figures: Vec<Drawn>,
}

/// Table with a line for each operation.
pub(super) fn overview(ledger: &Ledger) -> Table {
    let heads = [
        "operation",
        "#kernels",
        "#inputs",
        "contracts",
        "differ from the reference, all lanes",
        "classes",
        "coverage",
    ];
    let mut table = Table::new("operations", "Operations", &heads);
    table.rows = overview::operations(ledger).iter().map(|operation| line(ledger, operation)).collect();
    table
}

fn line(ledger: &Ledger, operation: &Operation<'_>) -> Row {
    let (contract, outcome) = operation.contract();
    let lines = view::lines(ledger);
    let places: Vec<String> =
        lines.iter().filter(|line| line.row().op == operation.op).filter_map(|line| judged(ledger, line)).collect();
    Row {
        cells: vec![
            Cell::text(operation.op).link(format!("#{}", id(operation.op))),
            Cell::text(count(operation.kernels as u64)),
            Cell::count(operation.inputs, places.join(" ")),
            Cell::text(contract).class(if outcome == Outcome::Bad { "bad" } else { "good" }),
            Cell::text(operation.reference()),
            Cell::text(operation.classes(CLASSES)),
            Cell::text(operation.coverage),
        ],
        command: command::narrowed(ledger, &[("--op", operation.op)]),
        ..Row::default()
    }
}

/// Returns the meaning of the star next to `exact`.
pub(super) fn legend(ledger: &Ledger) -> Option<String> {
    overview::deviations(&overview::operations(ledger))
}

/// Returns the identifier of an operation's section. Foreign names may contain any character.
pub(super) fn id(op: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("op-{}", op.chars().map(plain).collect::<String>())
}

/// Returns all sections, in the order of the first screen.
pub(super) fn sections(ledger: &Ledger) -> Vec<Section> {
    let section = |operation: &Operation<'_>| {
        let sentence = operation.sentence(0);
        Section {
            id: id(operation.op),
            op: text::one_line(operation.op),
            sentence: text::one_line(sentence.split_once(": ").map_or(&*sentence, |(_, rest)| rest)),
            kernels: kernels::table(ledger, operation.op),
            classes: classes(ledger, operation.op),
            deviations: deviations(ledger, operation.op),
            figures: figures::of(ledger, operation.op),
        }
    };
    overview::operations(ledger).iter().map(section).collect()
}

/// Table of the classes of differences from the reference, with the number of kernels and inputs that show each class.
fn classes(ledger: &Ledger, op: &str) -> Option<Table> {
    let mut classes: BTreeMap<&str, (BTreeSet<&str>, u64, Vec<String>)> = BTreeMap::new();
    let rows = ledger.rows.iter().enumerate().filter(|(_, row)| row.op == op && row.against == Against::Reference);
    for (i, row) in rows {
        for (class, n) in &row.classes {
            let (kernels, inputs, places) = classes.entry(class).or_default();
            kernels.insert(&row.kernel);
            *inputs += n;
            places.push(format!("/rows/{i}/classes/{}", pointer(class)));
        }
    }
    let mut table = Table::new(
        &format!("{}-classes", id(op)),
        format!("{op}: causes of differences from the reference, which break no contract"),
        &["class", "#number of kernels", "#inputs, summed over kernels and lanes", "meaning", "kernels"],
    );
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, (_, inputs, _))| std::cmp::Reverse(*inputs));
    table.rows = classes
        .into_iter()
        .map(|(class, (kernels, inputs, places))| Row {
            cells: vec![
                Cell::text(class),
                Cell::text(count(kernels.len() as u64)),
                Cell::count(inputs, places.join(" ")),
                Cell::text(ledger.meanings.get(class).map_or("", String::as_str)),
                Cell::text(text::some(&kernels.into_iter().collect::<Vec<_>>(), 4)),
            ],
            command: command::narrowed(ledger, &[("--op", op)]),
            ..Row::default()
        })
        .collect();
    table.filled()
}

/// Escapes a name as a part of a JSON pointer in a list of pointers.
pub(super) fn pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1").replace(' ', "%20")
}

/// Table of the deviations that contracts declare.
fn deviations(ledger: &Ledger, op: &str) -> Option<Table> {
    let mut table = Table::new(
        &format!("{}-deviations", id(op)),
        format!("{op}: deviations that contracts declare"),
        &["kernel", "lanes", "class", "observed"],
    );
    let of_op = view::deviations(ledger).filter(|declared| declared.row.op == op);
    let lines = of_op.map(|declared| {
        let cells = vec![declared.row.kernel.clone(), declared.class.to_owned(), declared.sentence()];
        (cells, declared.row.lane.as_str())
    });
    for (cells, lanes) in view::lanes_together(lines) {
        let [kernel, class, sentence] = &cells[..] else { continue };
        table.rows.push(Row {
            cells: vec![Cell::text(kernel), Cell::text(lanes.join(", ")), Cell::text(class), Cell::text(sentence)],
            command: command::narrowed(ledger, &[("--op", op), ("--kernel", kernel), ("--lane", lanes[0])]),
            ..Row::default()
        });
    }
    table.filled()
}

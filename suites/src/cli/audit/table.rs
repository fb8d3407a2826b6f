//! Audit for the terminal: answer, totals, worst channels, layers, operators that are not audited, and commands for a closer look.

use super::answer::{answers, versions};
use super::rows::{channel_row, commands, facts, lanes, not_audited, share, worst};
use crate::audit::report::{Audit, Comparison, Totals};
use crate::cli::table_within;
use tiebreak_reports::text;

/// Maximum width of a line of a list.
const WIDTH: u16 = 100;

fn list(title: &str, header: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{title}\n{}", table_within(header, rows, Some(WIDTH)))
}

/// Wraps a sentence between words.
fn wrapped(sentence: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in sentence.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > usize::from(WIDTH) {
            out += "\n  ";
            width = 2;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += length;
    }
    out + "\n"
}

/// Wraps a command with backslashes, so that a shell joins the lines.
fn folded(command: &str) -> String {
    let (mut out, mut width) = (String::from(" "), 1);
    for word in command.split(' ') {
        let length = word.chars().count();
        // Reserve two columns for a space and a backslash.
        if width > 1 && width + 1 + length + 2 > usize::from(WIDTH) {
            out += " \\\n     ";
            width = 5;
        }
        out.push(' ');
        out += word;
        width += 1 + length;
    }
    out + "\n"
}

pub(super) fn render(audit: &Audit) -> String {
    let sentences = |all: Vec<String>| all.iter().map(|sentence| wrapped(sentence)).collect::<String>();
    let mut out = wrapped(&format!("{} ({}): {}", audit.model, audit.kind, extent(audit)));
    out += &sentences(answers(audit));
    out += &sentences(versions(audit).into_iter().collect());
    out += &list(
        &totals_title(audit),
        &["to", "channels", "change", "inputs", "change", "rate", "not clamped", "rate there", "delta"],
        totals(audit),
    );
    out += &list(
        "The worst channels, and the differing input nearest to zero with both results",
        &["to", "layer", "channel", "inputs", "differ", "rate", "by delta", "nearest zero"],
        worst_rows(audit),
    );
    let header: Vec<&str> = ["layer", "operator", "depth", "channels"]
        .into_iter()
        .chain(audit.comparisons.iter().map(|c| c.right.as_str()))
        .collect();
    out += &list("Layers, and the share of their inputs that differ", &header, layers(audit));
    out += "\n";
    out += &sentences(facts(audit));
    out += &list(
        "Two products in 16 bits: pairs of neighbouring weights whose sum can leave the lane",
        &["lanes", "pairs", "channels", "first"],
        lanes(audit),
    );
    out += &list("Not audited", &["operator", "number", "reason"], not_audited(audit));
    let commands = commands(audit);
    if !commands.is_empty() {
        let lines: String = commands.iter().map(|command| folded(command)).collect();
        out += &format!("\nLook closer at the worst channel\n{lines}");
    }
    out
}

/// Describes the audited part of the model.
fn extent(audit: &Audit) -> String {
    // A layer of two tensors, such as ADD, counts as one channel.
    let channels: usize = audit.layers.iter().map(|layer| layer.channels.len().max(1)).sum();
    let (layers, channels) = (text::plural(audit.layers.len(), "layer"), text::plural(channels, "channel"));
    let moving = match audit.without_arithmetic.len() {
        0 => String::new(),
        n => format!("; {} without arithmetic", text::plural(n, "operator")),
    };
    format!("{layers} with {channels} audited, {} not{moving}.", text::plural(audit.not_audited.len(), "operator"))
}

/// Returns the title of the totals. All comparisons have the same left side.
fn totals_title(audit: &Audit) -> String {
    audit.comparisons.first().map_or("Totals".to_owned(), |c| format!("Totals, from {}", c.left))
}

fn totals(audit: &Audit) -> Vec<Vec<String>> {
    let row = |c: &Comparison| {
        let Totals { channels, channels_that_differ, inputs, inside, differ, differ_inside, largest } = c.totals;
        let counts = [channels, channels_that_differ, inputs, differ].map(text::count);
        let rest = [share(differ, inputs), share(inside, inputs), share(differ_inside, inside), largest.to_string()];
        std::iter::once(c.right.clone()).chain(counts).chain(rest).collect()
    };
    audit.comparisons.iter().map(row).collect()
}

/// Returns the rows of the worst channels without the operator, which the list of layers names.
fn worst_rows(audit: &Audit) -> Vec<Vec<String>> {
    let mut rows: Vec<_> = worst(audit).into_iter().map(channel_row).collect();
    rows.iter_mut().for_each(|row| drop(row.remove(2)));
    rows
}

fn layers(audit: &Audit) -> Vec<Vec<String>> {
    let row = |layer: &crate::audit::report::Layer| {
        let found = |c: &Comparison| {
            let counts = c.layers.iter().find(|l| l.index == layer.index);
            counts.map_or("not compared".to_owned(), |l| share(l.totals.differ, l.totals.inputs))
        };
        let own =
            [layer.index.to_string(), layer.op.clone(), layer.depth.to_string(), layer.channels.len().to_string()];
        own.into_iter().chain(audit.comparisons.iter().map(found)).collect()
    };
    audit.layers.iter().map(row).collect()
}

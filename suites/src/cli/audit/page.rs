//! Audit as an HTML page.

use super::answer::{answers, versions};
use super::rows::{channel_row, commands, facts, lanes, not_audited, share, worst};
use crate::audit::report::Audit;
use anyhow::Result;
use askama::Template;
use tiebreak_reports::html::STYLE;
use tiebreak_reports::text;

/// Number of rows from which a table is collapsed at first.
const LONG: usize = 40;

/// Page without scripts and external links, in the style of a run's page. Tables scroll separately and become lists on a narrow screen.
/// Colours follow the reader's light or dark mode.
#[derive(Template)]
#[template(path = "audit.html")]
struct Page<'a> {
    style: &'static str,
    audit: &'a Audit,
    answers: Vec<String>,
    facts: Vec<String>,
    lists: Vec<List>,
    commands: Vec<String>,
}

/// Table of the page.
struct List {
    title: String,
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl List {
    fn new(title: impl Into<String>, header: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        Self { title: title.into(), header: header.to_vec(), rows }
    }

    fn is_long(&self) -> bool {
        self.rows.len() >= LONG
    }

    fn head(&self, at: &usize) -> &'static str {
        self.header.get(*at).copied().unwrap_or_default()
    }

    /// True if all cells of the column are counts, rates or other numbers.
    fn is_number(&self, at: &usize) -> bool {
        let is_digit = |c: char| c.is_ascii_digit() || ",.-+%e ".contains(c);
        let cells = || self.rows.iter().filter_map(|row| row.get(*at)).filter(|cell| !cell.is_empty());
        cells().next().is_some() && cells().all(|cell| cell.chars().all(is_digit))
    }
}

const CHANNEL: [&str; 9] =
    ["to", "layer", "operator", "channel", "inputs", "differ", "rate", "by delta", "nearest zero: left, right"];

pub(super) fn render(audit: &Audit) -> Result<String> {
    let mut lists =
        vec![List::new("The worst channels", &CHANNEL, worst(audit).into_iter().map(channel_row).collect())];
    for c in &audit.comparisons {
        let layers = c.layers.iter().map(|layer| {
            let t = layer.totals;
            let own = [layer.index.to_string(), layer.op.clone(), layer.left.clone(), layer.right.clone()];
            let counts = [t.channels, t.channels_that_differ, t.inputs, t.differ].map(text::count);
            own.into_iter()
                .chain(counts)
                .chain([share(t.differ, t.inputs), share(t.differ_inside, t.inside), t.largest.to_string()])
                .collect()
        });
        lists.push(List::new(
            format!("Layers, {} to {}", c.left, c.right),
            &[
                "layer",
                "operator",
                "left",
                "right",
                "channels",
                "change",
                "inputs",
                "change",
                "rate",
                "rate where not clamped",
                "delta",
            ],
            layers.collect(),
        ));
    }
    lists.push(List::new("Two products in 16 bits", &["lanes", "unsafe pairs", "channels", "first"], lanes(audit)));
    lists.push(List::new("Not audited", &["operator", "number", "reason"], not_audited(audit)));
    for c in &audit.comparisons {
        let channels = c.layers.iter().flat_map(|layer| {
            layer.channels.iter().map(move |counts| channel_row((c, layer.index, &layer.op, counts)))
        });
        lists.push(List::new(format!("Every channel, {} to {}", c.left, c.right), &CHANNEL, channels.collect()));
    }
    lists.retain(|list| !list.rows.is_empty());
    let facts = versions(audit).into_iter().chain(facts(audit)).collect();
    let page = Page { style: STYLE, audit, answers: answers(audit), facts, lists, commands: commands(audit) };
    Ok(page.render()?)
}

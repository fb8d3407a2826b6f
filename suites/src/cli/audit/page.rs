//! An audit as one page for a browser.

use super::answer::{answers, versions};
use super::rows::{channel_row, commands, facts, lanes, not_audited, share, worst};
use crate::audit::report::Audit;
use anyhow::Result;
use askama::Template;
use tiebreak_reports::text;

/// A page without scripts and without links to elsewhere: tables that scroll on their own, light or dark as the reader's system is.
#[derive(Template)]
#[template(path = "audit.html")]
struct Page<'a> {
    audit: &'a Audit,
    answers: Vec<String>,
    facts: Vec<String>,
    lists: Vec<List>,
    commands: Vec<String>,
}

/// A table of the page.
struct List {
    title: String,
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl List {
    fn new(title: impl Into<String>, header: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        Self { title: title.into(), header: header.to_vec(), rows }
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
    let page = Page { audit, answers: answers(audit), facts, lists, commands: commands(audit) };
    Ok(page.render()?)
}

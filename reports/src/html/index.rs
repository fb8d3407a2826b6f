//! The index page over dated reports: one directory each, `DATE-NAME`, and what changed from one of a name to the next.

use super::environment::short;
use super::table::{Cell, Row, Table};
use super::{SCRIPT, STYLE};
use crate::diff::diff;
use crate::files::REPORT;
use crate::ledger::{Ledger, Verdict};
use crate::text;
use crate::view;
use askama::Template;

/// A directory of the index.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name; a date in front is the report's.
    pub directory: String,
    /// Its ledger; nothing where it holds something else, such as the ledger of a space, which its `README.md` describes.
    pub ledger: Option<Ledger>,
}

impl Entry {
    /// What the directory is called after its date: reports of one name are compared with each other.
    pub fn name(&self) -> &str {
        let is_date = |date: &str| date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        match self.directory.split_at_checked(10) {
            Some((date, rest)) if is_date(date) => rest.strip_prefix('-').unwrap_or(&self.directory),
            _ => &self.directory,
        }
    }
}

/// The latest earlier report of the same name, in a list that is sorted by directory.
pub fn before(entries: &[Entry], at: usize) -> Option<&Ledger> {
    let earlier = entries[..at].iter().rev().filter(|entry| entry.name() == entries[at].name());
    earlier.filter_map(|entry| entry.ledger.as_ref()).find(|ledger| ledger.verdict != Verdict::Unfinished)
}

#[derive(Template)]
#[template(path = "index.html")]
struct Page {
    style: &'static str,
    script: &'static str,
    reports: Table,
    others: Vec<String>,
}

/// Draws the page over directories that are sorted by name; the newest report stands first.
pub fn render(entries: &[Entry]) -> String {
    let heads = ["report", "date", "commit", "verdict", "#findings", "#inputs", "what ran", "against the one before"];
    let mut reports = Table::new("reports", "Reports, the newest first", &heads);
    reports.rows = (0..entries.len()).rev().filter_map(|at| row(entries, at)).collect();
    let others = entries.iter().filter(|entry| entry.ledger.is_none()).map(|entry| text::one_line(&entry.directory));
    let page = Page { style: STYLE, script: SCRIPT, reports, others: others.collect() };
    page.render().expect("written to memory")
}

fn row(entries: &[Entry], at: usize) -> Option<Row> {
    let entry = &entries[at];
    let ledger = entry.ledger.as_ref()?;
    let environment = ledger.environment.as_ref();
    let date =
        environment.map_or("not recorded", |environment| environment.date.get(..10).unwrap_or(&environment.date));
    let commit = environment.and_then(|environment| environment.commit.as_deref()).map_or("-".to_owned(), short);
    let class = match ledger.verdict {
        Verdict::Holds => "good",
        Verdict::Broken => "bad",
        Verdict::Unfinished => "notable",
    };
    let totals = view::Totals::of(ledger);
    let change = before(entries, at).map_or("the first of its name".to_owned(), |old| diff(old, ledger).line());
    Some(Row {
        cells: vec![
            Cell::text(&entry.directory).link(format!("{}/{REPORT}", entry.directory)),
            Cell::text(date),
            Cell::text(commit).class("code"),
            Cell::text(text::verdict(ledger.verdict)).class(class),
            Cell::text(text::count(ledger.findings.len() as u64)),
            Cell::text(text::count(totals.inputs)),
            Cell::text(totals.what(ledger.seconds)),
            Cell::text(change),
        ],
        command: text::one_line(&ledger.command),
        ..Row::default()
    })
}

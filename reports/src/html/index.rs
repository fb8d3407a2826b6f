//! Index page of dated reports. Each report has a directory, `DATE-NAME`; the page shows changes between reports of the same name.

use super::environment::short;
use super::table::{Cell, Row, Table};
use super::{SCRIPT, STYLE};
use crate::diff::diff;
use crate::drawable;
use crate::files::REPORT;
use crate::findings;
use crate::ledger::{Ledger, Verdict};
use crate::text;
use crate::view;
use askama::Template;

/// Directory of the index.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the directory; a leading date is the date of the report.
    pub directory: String,
    /// Content of the directory.
    pub holds: Holds,
}

/// Content of a directory of the index.
#[derive(Clone, Debug)]
pub enum Holds {
    /// The ledger of a run.
    Run(Box<Ledger>),
    /// Another result, such as the ledger of a space.
    Other {
        /// Title of a few words.
        title: String,
        /// Name of a page or document in the directory.
        file: String,
    },
}

impl Entry {
    /// Returns the ledger of a run.
    pub fn ledger(&self) -> Option<&Ledger> {
        match &self.holds {
            Holds::Run(ledger) => Some(ledger),
            Holds::Other { .. } => None,
        }
    }

    /// Returns the part of the directory's name after the date and after the number of a further report of that day
    /// (`2026-11-22.2-default`). Reports of the same name are compared with each other.
    pub fn name(&self) -> &str {
        let is_date = |date: &str| date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        match self.directory.split_at_checked(10) {
            Some((date, rest)) if is_date(date) => {
                let numbered = rest.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
                numbered.unwrap_or(rest).strip_prefix('-').unwrap_or(&self.directory)
            }
            _ => &self.directory,
        }
    }
}

/// Returns the latest earlier report of the same name; `entries` are sorted by directory.
pub fn before(entries: &[Entry], at: usize) -> Option<&Ledger> {
    let earlier = entries[..at].iter().rev().filter(|entry| entry.name() == entries[at].name());
    earlier.filter_map(Entry::ledger).find(|ledger| ledger.verdict != Verdict::Unfinished)
}

#[derive(Template)]
#[template(path = "index.html")]
struct Page {
    style: &'static str,
    script: &'static str,
    reports: Table,
    others: Vec<Other>,
}

/// Result other than a run.
struct Other {
    link: String,
    title: String,
}

/// Returns a relative link to a file of a directory, whatever their names contain.
fn link(directory: &str, file: &str) -> String {
    let plain = |name: &str| name.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
    format!("./{}/{}", plain(directory), plain(file))
}

/// Draws the index page of directories that are sorted by name; the newest report comes first.
pub fn render(entries: &[Entry]) -> String {
    let heads = ["report", "commit", "verdict", "#findings", "#inputs", "what ran", "against the one before"];
    let mut reports = Table::new("reports", "Reports, the newest first", &heads);
    let mut newest: Vec<usize> = (0..entries.len()).rev().collect();
    newest.sort_by_key(|at| std::cmp::Reverse(begun(&entries[*at])));
    reports.rows = newest.into_iter().filter_map(|at| row(entries, at)).collect();
    let other = |entry: &Entry| match &entry.holds {
        Holds::Run(_) => None,
        Holds::Other { title, file } => {
            Some(Other { link: link(&entry.directory, file), title: text::one_line(title) })
        }
    };
    let others = entries.iter().filter_map(other);
    let page = Page { style: STYLE, script: SCRIPT, reports, others: others.collect() };
    page.render().expect("written to memory")
}

/// Returns the date when the run began, if recorded.
fn begun(entry: &Entry) -> Option<&str> {
    Some(entry.ledger()?.environment.as_ref()?.date.as_str())
}

fn row(entries: &[Entry], at: usize) -> Option<Row> {
    let entry = &entries[at];
    let ledger = &*drawable::ledger(entry.ledger()?);
    let environment = ledger.environment.as_ref();
    let commit = environment.and_then(|environment| environment.commit.as_deref()).map_or("-".to_owned(), short);
    let class = match ledger.verdict {
        Verdict::Holds => "good",
        Verdict::Broken => "bad",
        Verdict::Unfinished => "notable",
    };
    let totals = view::Totals::of(ledger);
    let change =
        before(entries, at).map_or("no earlier report to compare with".to_owned(), |old| diff(old, ledger).line());
    Some(Row {
        cells: vec![
            Cell::text(&entry.directory).link(link(&entry.directory, REPORT)),
            Cell::text(commit).class("code"),
            Cell::text(text::verdict(ledger.verdict)).class(class),
            Cell::text(text::count(findings::number(ledger) as u64)),
            Cell::text(text::count(totals.inputs)),
            Cell::text(totals.what(ledger.seconds)),
            Cell::text(change),
        ],
        command: text::one_line(&ledger.command),
        ..Row::default()
    })
}

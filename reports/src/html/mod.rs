//! `report.html`: a ledger as one page that needs no network, for a reviewer with five minutes. Verdict, lanes, changes and uncovered inputs
//! come first, then each operation, the checks of the harness itself, and the machine.
//!
//! Each number in a table names its place in `ledger.json`: `data-from` has a JSON pointer, or several with spaces, whose values are summed.
//!
//! A test can therefore compare all numbers, and a reader can look them up.

mod checks;
mod command;
pub(crate) mod csv;
mod environment;
mod figures;
mod first;
pub mod index;

mod kernels;
mod news;
mod operation;
mod table;

use crate::diff::{Diff, diff};
use crate::drawable;
use crate::ledger::{Ledger, Verdict};
use crate::overview::{self, Check};
use crate::text;
use crate::uncovered::{self, Uncovered};
use askama::Template;
use table::Table;

pub(crate) use news::against;

/// Style sheet of every page, also of audits.
pub const STYLE: &str = include_str!("../../templates/style.css");
/// Script for sorting, filtering and copying.
const SCRIPT: &str = include_str!("../../templates/script.js");

/// Earlier runs to compare a page with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier<'a> {
    /// Earlier runs by date; the last is the most recent.
    pub runs: &'a [Ledger],
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    style: &'static str,
    script: &'static str,
    title: String,
    ledger: &'a Ledger,
    verdict: &'static str,
    heading: String,
    measure: String,
    facts: Vec<(&'static str, String)>,
    findings: Vec<first::Shown>,
    lanes: Option<Table>,
    absent: Vec<String>,
    news: news::ChangesSection,
    uncovered: Vec<Uncovered>,
    operations: Table,
    legend: Option<String>,
    checks: Vec<Check>,
    sections: Vec<operation::Section>,
    kill_matrix: Option<Table>,
    catalogue: Option<Table>,
    bounds: Option<Table>,
    theorems: Option<Table>,
    rewrites: Option<Table>,
    agreements: Option<Table>,
    environment: Vec<(&'static str, String)>,
    tools: Option<Table>,
}

/// Draws the page. `earlier` are the runs before this one.
pub fn render(ledger: &Ledger, earlier: Earlier<'_>) -> String {
    drawn(&drawable::ledger(ledger), earlier)
}

/// Draws a ledger whose texts are drawable.
pub(crate) fn drawn(ledger: &Ledger, earlier: Earlier<'_>) -> String {
    let earlier = Earlier { runs: &drawable::ledgers(earlier.runs) };
    let compared: Option<Diff> = earlier.runs.last().map(|old| diff(old, ledger));
    let (heading, measure) = first::heading(ledger);
    let page = Page {
        style: STYLE,
        script: SCRIPT,
        title: format!("Tiebreak: {}", text::verdict(ledger.verdict)),
        ledger,
        verdict: text::verdict(ledger.verdict),
        heading,
        measure,
        facts: environment::facts(ledger),
        findings: first::findings(ledger),
        lanes: first::lanes(ledger).filled(),
        absent: first::absent(ledger),
        news: news::news(ledger, earlier.runs, compared),
        uncovered: uncovered::all(ledger),
        operations: operation::overview(ledger),
        legend: operation::legend(ledger),
        checks: overview::checks(ledger),
        sections: operation::sections(ledger),
        kill_matrix: checks::kill_matrix(ledger),
        catalogue: checks::catalogue(ledger),
        bounds: checks::bounds(ledger),
        theorems: checks::theorems(ledger),
        rewrites: checks::rewrites(ledger),
        agreements: checks::agreements(ledger),
        environment: environment::all(ledger),
        tools: environment::tools(ledger),
    };
    page.render().expect("written to memory")
}

/// True if the run has a verdict.
fn has_ended(ledger: &Ledger) -> bool {
    ledger.verdict != Verdict::Unfinished
}

//! Text for the terminal at the end of a run: findings first, if any, then lanes, kernels, checks, and the verdict last. It is either one screen
//! with a line for each operation, or has tables of all kernels with explanations of their differences.
//!
//! Lines of a table are never wrapped. If the width is too small for all columns, repetitive columns (path, contract) move to a list beneath
//! the table, and columns with facts that appear elsewhere are omitted.

mod compact;
mod diff;
mod kernels;
mod page;

use crate::agreement;
use crate::drawable;
use crate::files;
use crate::findings::{self, Alike};
use crate::html::Earlier;
use crate::ledger::{Bound, Lane, LaneStatus, Ledger, Row, Verdict};
use crate::left_out;
use crate::network;
use crate::self_checks::{self, SelfChecks};
use crate::text;
use crate::view;
use kernels::{Column, Layout};
use page::{Entry, Ink, Page};
use std::path::Path;

pub use diff::render_diff;

/// Style that the caller chooses. The default is plain, without a limit on width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// True for colour; the caller knows the terminal and `NO_COLOR`.
    pub colour: bool,
    /// Columns of the terminal; `None` if the output is no terminal.
    pub width: Option<u16>,
}

/// Amount of detail of a printed run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One screen: a line for each operation, everything else counted.
    Screen,
    /// Tables of all kernels, every witness, every finding.
    #[default]
    Tables,
}

/// Draws a ledger for the terminal, with a newline at the end.
pub fn render(ledger: &Ledger, detail: Detail, style: Style) -> String {
    render_compared(ledger, Earlier::default(), detail, style)
}

/// Draws a ledger for the terminal, with the changes since the last of the earlier runs.
pub fn render_compared(ledger: &Ledger, earlier: Earlier<'_>, detail: Detail, style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    let ledger = drawable::ledger(ledger);
    match detail {
        Detail::Screen => compact::render(&mut page, &ledger, earlier),
        Detail::Tables => tables(&mut page, &ledger, earlier),
    }
    page.out
}

/// Returns the line on the files of a run, for callers that wrote them. `findings.sarif` is not on the line, which has no room for it; a code host
/// gets the name from the caller.
pub fn format_files(dir: &Path, style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    let names = [files::REPORT, files::LEDGER, files::DETAILS, files::SUMMARY, files::MISMATCHES, files::JUNIT];
    let (first, rest) = names.split_first().expect("several files");
    page.line(0, &format!("files: {}, {}", dir.join(first).display(), rest.join(", ")), Ink::Faint);
    page.out
}

fn tables(page: &mut Page, ledger: &Ledger, earlier: Earlier<'_>) {
    let condensed = view::condensed(ledger);
    all_findings(page, ledger);
    diff::changed(page, ledger, earlier, usize::MAX);
    title(page, ledger);
    lanes(page, ledger);
    // Operations have different references and widths, so each has a separate table.
    for part in view::by_op(&condensed) {
        let layout = Layout::fitting(&part, page.style.width);
        all_kernels(page, &part, layout, part.rows.len() < condensed.rows.len());
        legend(page, &part, layout);
    }
    network(page, ledger);
    witnesses(page, ledger);
    out_of_domain(page, ledger);
    agreements(page, ledger);
    deviations(page, ledger);
    outside_domain(page, ledger);
    left_out(page, ledger);
    positions(page, ledger);
    bounds(page, ledger);
    catalogue(page, ledger);
    checks(page, ledger);
    verdict(page, ledger);
    first_finding(page, ledger);
}

/// Prints the network of a model, layer after layer.
fn network(page: &mut Page, ledger: &Ledger) {
    for shown in network::tables(ledger) {
        page.heading(&shown.heading);
        let mut table = page::bare_table();
        table.set_header(shown.columns.iter().map(|name| Ink::Faint.cell(*name)).collect::<Vec<_>>());
        for row in shown.rows {
            table.add_row(row);
        }
        page.table(table);
        shown.notes.iter().for_each(|note| page.prose(2, note, Ink::Faint));
    }
}

fn title(page: &mut Page, ledger: &Ledger) {
    let Ledger { version, effort, seed, .. } = ledger;
    page.heading(&format!("tiebreak {version}, effort {effort}, seed {seed}"));
    page.line(2, &ledger.command, Ink::Faint);
}

fn lanes(page: &mut Page, ledger: &Ledger) {
    page.heading("Lanes");
    let ink = |lane: &Lane| match &lane.status {
        LaneStatus::Ran { .. } => Ink::Plain,
        LaneStatus::NotRun { allowed: true, .. } => Ink::Faint,
        LaneStatus::NotRun { allowed: false, .. } => Ink::Bad,
    };
    let mut entries: Vec<Entry> = Vec::new();
    let mut before: Option<&Lane> = None;
    for lane in &ledger.lanes {
        // Lanes that are absent for one reason, such as those of compiled modules, share a line.
        let again = before
            .is_some_and(|other| matches!(&lane.status, LaneStatus::NotRun { .. }) && other.status == lane.status);
        match entries.last_mut().filter(|_| again) {
            Some(entry) => entry.names[0] += &format!(", {}", lane.name),
            None => {
                entries.push(Entry { names: vec![lane.name.clone()], prose: text::lane(&lane.status), ink: ink(lane) });
            }
        }
        before = Some(lane);
    }
    page.list(&entries);
}

/// Prints the kernels of one operation; `among_others` is true if the run has several operations.
fn all_kernels(page: &mut Page, ledger: &Ledger, layout: Layout, among_others: bool) {
    let each = match kernels::one_parameters(ledger) {
        Some(n) if n > 0 => format!(", {} (m, s) each", text::plural(n as usize, "pair")),
        _ => String::new(),
    };
    let of = ledger.rows.first().filter(|_| among_others).map_or(String::new(), |row| format!(" of {}", row.op));
    page.heading(&format!("Kernels{of}{each}"));
    if ledger.rows.is_empty() {
        return page.line(2, "none ran", Ink::Bad);
    }
    page.table(kernels::kernel_table(ledger, layout));
    if view::lines(ledger).iter().any(|line| line.contract.is_some_and(kernels::deviates)) {
        page.prose(2, kernels::FOOTNOTE, Ink::Faint);
    }
}

/// Prints the contracts and paths if the table has no column for them. Kernels and lanes with equal values share a line.
fn legend(page: &mut Page, ledger: &Ledger, layout: Layout) {
    if layout.shows(Column::IsaPath) || ledger.rows.is_empty() {
        return;
    }
    let with_contract = !layout.shows(Column::Contract);
    page.heading(if with_contract { "Contracts and ISA paths" } else { "ISA paths" });
    let mut entries = Vec::new();
    for (kernel, path) in paths(ledger) {
        let mut names = vec![kernel.0];
        if with_contract {
            names.push(kernel.1);
        }
        names.push(path.lanes.join(", "));
        entries.push(Entry::new(names, text::one_line(path.isa_path)));
    }
    page.list(&entries);
}

struct IsaPath<'a> {
    row: &'a Row,
    isa_path: &'a str,
    lanes: Vec<&'a str>,
}

/// Returns paths by kernel, each with the label and contract to print first, blank if the line above has them.
fn paths(ledger: &Ledger) -> Vec<((String, String), IsaPath<'_>)> {
    let mut out: Vec<((String, String), IsaPath<'_>)> = Vec::new();
    for line in view::lines(ledger) {
        let row = line.row();
        let same_kernel = |known: &Row| (&known.op, &known.kernel) == (&row.op, &row.kernel);
        let known = out.iter_mut().map(|(_, path)| path).find(|path| same_kernel(path.row));
        let first = known.is_none();
        let same_path = |p: &&mut IsaPath<'_>| same_kernel(p.row) && p.isa_path == row.isa_path;
        if let Some(path) = out.iter_mut().map(|(_, path)| path).find(same_path) {
            if !path.lanes.contains(&row.lane.as_str()) {
                path.lanes.push(&row.lane);
            }
            continue;
        }
        let contract = line.contract.map_or("", |row| &row.scheme).to_owned();
        let label = (view::kernel_label(ledger, row), contract);
        let label = if first { label } else { Default::default() };
        out.push((label, IsaPath { row, isa_path: &row.isa_path, lanes: vec![&row.lane] }));
    }
    out
}

fn witnesses(page: &mut Page, ledger: &Ledger) {
    let shown = view::witnesses(ledger);
    if shown.is_empty() {
        return;
    }
    page.heading("Differences from the reference (information, no failures)");
    for shown in shown {
        let kernel = page.paint(&view::kernel_label(ledger, shown.row), Ink::Strong);
        let lanes = page.paint(&shown.lanes.join(", "), Ink::Faint);
        page.line(2, &format!("{kernel}  {lanes}"), Ink::Plain);
        for line in view::all_classes(&shown) {
            page.prose(4, &line, Ink::Notable);
        }
        page.line(4, &text::witness(shown.witness), Ink::Plain);
        page.prose(4, &text::one_line(&shown.witness.because), Ink::Plain);
        page.line(4, &shown.witness.command, Ink::Faint);
    }
}

fn out_of_domain(page: &mut Page, ledger: &Ledger) {
    let lines = view::out_of_domain(ledger);
    let together = view::lanes_together(lines.into_iter()).into_iter();
    let entries: Vec<_> = together.map(|(names, lanes)| Entry::new(names, lanes.join(", "))).collect();
    if !entries.is_empty() {
        page.heading("Out of domain: inputs to which the scheme gives no int32, not compared");
        page.list(&entries);
    }
}

fn agreements(page: &mut Page, ledger: &Ledger) {
    let comparisons = agreement::lines(ledger);
    if comparisons.is_empty() {
        return;
    }
    page.heading("To the bit, also where the contract gives no value");
    for agreement::Comparison { names, prose, witness, values } in comparisons {
        let [kernel, lanes] = [(0, Ink::Strong), (1, Ink::Faint)].map(|(at, ink)| page.paint(&names[at], ink));
        page.line(2, &format!("{kernel}  {lanes}"), Ink::Plain);
        page.prose(4, &prose, if witness.is_some() { Ink::Notable } else { Ink::Good });
        if let Some(witness) = witness {
            page.line(4, &format!("{}: {values}", text::case(&witness.case)), Ink::Plain);
            page.line(4, &witness.command, Ink::Faint);
        }
    }
}

fn deviations(page: &mut Page, ledger: &Ledger) {
    let lines = view::deviations(ledger).map(|deviation| {
        let kernel = view::kernel_label(ledger, deviation.row);
        (vec![kernel, deviation.class.to_owned(), deviation.sentence()], deviation.row.lane.as_str())
    });
    let mut entries = Vec::new();
    for (mut names, lanes) in view::lanes_together(lines) {
        let prose = names.pop().expect("the sentence");
        names.push(lanes.join(", "));
        entries.push(Entry::new(names, prose));
    }
    for stale in ledger.findings.iter().filter(|f| f.class == "stale-deviation") {
        let names = [&view::label(ledger, &stale.op, &stale.kernel), &stale.class, &stale.lane].map(String::clone);
        entries.push(Entry { ink: Ink::Bad, ..Entry::new(names.to_vec(), text::one_line(&stale.message)) });
    }
    if !entries.is_empty() {
        page.heading("Declared deviations");
        page.list(&entries);
    }
}

fn outside_domain(page: &mut Page, ledger: &Ledger) {
    if ledger.outside_domain.is_empty() {
        return;
    }
    page.heading("Not run: the domain has no parameter of this run");
    for outside in text::outside_domain(&ledger.outside_domain) {
        page.prose(2, &outside, Ink::Faint);
    }
}

fn left_out(page: &mut Page, ledger: &Ledger) {
    let sentences = left_out::sentences(ledger);
    if !sentences.is_empty() {
        page.heading("Left out");
        sentences.iter().for_each(|sentence| page.prose(2, sentence, Ink::Notable));
    }
}

fn positions(page: &mut Page, ledger: &Ledger) {
    if !ledger.positions.is_empty() {
        page.heading("Requested position");
        ledger.positions.iter().for_each(|position| page.prose(2, &left_out::position(position), Ink::Plain));
    }
}

/// Prints the number of checked bounds, and each failed bound; `bounds` prints all bounds.
fn bounds(page: &mut Page, ledger: &Ledger) {
    if ledger.bounds.is_empty() {
        return;
    }
    page.heading("Bounds");
    let all_shown = ledger.bounds.iter().all(|bound| bound.shown);
    let ink = if all_shown { Ink::Good } else { Ink::Bad };
    page.line(2, &text::bounds(&ledger.bounds), ink);
    for (bound, lanes) in view::bounds(ledger).into_iter().filter(|(bound, _)| !bound.shown) {
        let line = format!("{} {}: {} {}", bound.kernel, lanes.join(", "), bound.quantity, text::bound(bound));
        page.line(2, &line, Ink::Bad);
    }
}

/// Draws bounds as a separate table.
pub fn render_bounds(all: &[Bound], style: Style) -> String {
    let mut page = Page { style, out: String::new() };
    let mut kernel = "";
    for bound in all {
        if bound.kernel != kernel {
            kernel = &bound.kernel;
            page.heading(kernel);
        }
        let ink = if bound.shown { Ink::Plain } else { Ink::Bad };
        page.line(2, &format!("{}: {}", bound.quantity, text::bound(bound)), ink);
        page.prose(4, &bound.because, Ink::Faint);
        for (place, witness) in [("at it", &bound.witness_at_bound), ("past it", &bound.witness_past_bound)] {
            if let Some(w) = witness {
                page.line(4, &format!("{place}: {}: got {}, exact {}", w.case, w.got, w.exact), Ink::Plain);
            }
        }
    }
    page.out.push('\n');
    page.line(0, &text::bounds(all), if all.iter().all(|b| b.shown) { Ink::Good } else { Ink::Bad });
    page.out
}

fn catalogue(page: &mut Page, ledger: &Ledger) {
    if ledger.catalogue.is_empty() {
        return;
    }
    page.heading("Catalogue");
    for run in &ledger.catalogue {
        let ink = match (run.broken + run.unanswered, run.judged) {
            (0, 0) => Ink::Faint,
            (0, _) => Ink::Good,
            _ => Ink::Bad,
        };
        page.line(2, &text::catalogue(run), ink);
    }
}

fn checks(page: &mut Page, ledger: &Ledger) {
    let checks = SelfChecks::of(ledger);
    let ink = match (checks.ran(), checks.failed.is_empty()) {
        (false, _) => Ink::Faint,
        (true, true) => Ink::Good,
        (true, false) => Ink::Bad,
    };
    page.heading("Self-check");
    for sentence in self_checks::sentences(ledger) {
        page.prose(2, &sentence, ink);
    }
    for failed in &checks.failed {
        page.prose(2, &self_checks::describe(failed), Ink::Bad);
    }
}

fn all_findings(page: &mut Page, ledger: &Ledger) {
    if ledger.findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for alike in findings::alike(ledger) {
        one_finding(page, &alike, &ledger.command, usize::MAX);
    }
}

/// Prints a finding, explanations of at most `most` bytes each, and the command that reproduces it.
fn one_finding(page: &mut Page, Alike { first, others, .. }: &Alike<'_>, run: &str, most: usize) {
    let finding = first.finding;
    page.line(2, &first.line(), Ink::Bad);
    if let Some(others) = others {
        page.prose(4, &text::cut(others, most), Ink::Notable);
    }
    for detail in text::finding_details(finding) {
        page.prose(4, &text::cut(&detail, most), Ink::Plain);
    }
    page.line(4, text::rerun(finding, run), Ink::Faint);
}

/// Upper bound on the bytes of the finding after the verdict.
const FINDING: usize = 240;

/// Repeats the first finding after the verdict, because the list of findings is above the screen by then.
fn first_finding(page: &mut Page, ledger: &Ledger) {
    if let Some(alike) = findings::alike(ledger).first() {
        page.prose(0, &text::cut(&format!("first finding: {}", alike.first.line()), FINDING), Ink::Bad);
    }
}

fn verdict(page: &mut Page, ledger: &Ledger) {
    let ink = match ledger.verdict {
        Verdict::Holds => Ink::Good,
        Verdict::Broken | Verdict::Unfinished => Ink::Bad,
    };
    let word = text::verdict(ledger.verdict);
    page.out.push('\n');
    page.prose(0, &format!("{word}: {}", view::verdict(ledger)), ink);
}

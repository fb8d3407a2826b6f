//! `summary.md`: a run for a reviewer, small enough for a comment on a pull request. In front stands what decides: the verdict, what fails,
//! the lanes, what was not covered, a line an operation. The rest is folded, as far as there is room; `details.md` has all of it.

use crate::ledger::{Coverage, LaneStatus, Ledger, Row};
use crate::markdown::{self, Section, code, plain};
use crate::text::{self, count, plural};
use crate::view;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Bytes of what is not folded, at most.
pub const FRONT: usize = 4096;
/// Bytes of all of it, at most. GitHub takes comments of 65,536 characters, and whoever pastes it may want to say something.
pub const WHOLE: usize = 60_000;

/// Bytes of one line in front.
const LINE: usize = 240;
/// Bytes of the lists in front, which together with what surrounds them stay below [`FRONT`].
const FINDINGS: usize = 1100;
const LANES: usize = 500;
const UNCOVERED: usize = 500;
const OPERATIONS: usize = 1350;

/// Draws a ledger as GitHub Markdown.
pub fn render(ledger: &Ledger) -> String {
    let mut out = front(ledger);
    out.push_str(&folded(&markdown::sections(ledger), WHOLE - out.len()));
    out
}

fn front(ledger: &Ledger) -> String {
    let title = text::verdict(ledger.verdict);
    let sentence = cut(&view::verdict(ledger));
    let blocks = [
        format!("# Tiebreak: {title}\n\n{}.\n", markdown::capital(&sentence)),
        list("Findings", findings(ledger), FINDINGS),
        list("Lanes", lanes(ledger), LANES),
        list("Not covered", uncovered(ledger), UNCOVERED),
        list("Operations", operations(ledger), OPERATIONS),
        format!("Folded below, and whole in `{}` beside this file:\n", crate::files::DETAILS),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What is broken, kernels before lanes and checks.
fn findings(ledger: &Ledger) -> Vec<String> {
    let mut all: Vec<_> = ledger.findings.iter().collect();
    all.sort_by_key(|finding| (finding.kernel.is_empty(), finding.class == "self-check"));
    all.into_iter().map(|finding| code(&cut(&text::finding(finding)))).collect()
}

fn lanes(ledger: &Ledger) -> Vec<String> {
    let ran = ledger.lanes.iter().filter(|lane| matches!(lane.status, LaneStatus::Ran { .. }));
    ran.map(|lane| format!("{}: {}", code(&lane.name), plain(&cut(&text::lane(&lane.status))))).collect()
}

fn uncovered(ledger: &Ledger) -> Vec<String> {
    let absent = ledger.lanes.iter().filter(|lane| matches!(lane.status, LaneStatus::NotRun { .. }));
    let mut out: Vec<String> =
        absent.map(|lane| format!("lane {}: {}", code(&lane.name), plain(&cut(&text::lane(&lane.status))))).collect();
    let outside = text::outside_domain(&ledger.outside_domain);
    out.extend(outside.iter().map(|line| format!("not run: {}", plain(&cut(line)))));
    let without: u64 = ledger.rows.iter().map(|row| row.out_of_domain).sum();
    if without > 0 {
        let inputs = count(without);
        out.push(format!("{inputs} results were not compared with a scheme that gives them no value (summed over kernels, lanes and schemes)"));
    }
    out
}

/// A line an operation, those with findings first.
fn operations(ledger: &Ledger) -> Vec<String> {
    let mut ops: Vec<&str> = Vec::new();
    let named = ledger.rows.iter().map(|row| &row.op).chain(ledger.findings.iter().map(|finding| &finding.op));
    for op in named.filter(|op| !op.is_empty()) {
        if !ops.contains(&op.as_str()) {
            ops.push(op);
        }
    }
    let findings = |op: &str| ledger.findings.iter().filter(|finding| finding.op == op).count();
    ops.sort_by_key(|op| findings(op) == 0);
    ops.into_iter().map(|op| operation(ledger, op, findings(op))).collect()
}

fn operation(ledger: &Ledger, op: &str, findings: usize) -> String {
    let rows: Vec<&Row> = ledger.rows.iter().filter(|row| row.op == op).collect();
    let inputs: u64 = view::lines(ledger).iter().filter(|line| line.row().op == op).map(view::Line::inputs).sum();
    let distinct = |name: fn(&Row) -> &String| rows.iter().map(|row| name(row)).collect::<BTreeSet<_>>().len();
    let differing = rows.iter().filter(|row| row.against == crate::ledger::Against::Reference && row.differ > 0);
    let differing = differing.map(|row| &row.kernel).collect::<BTreeSet<_>>().len();
    let exhaustive = rows.iter().filter(|row| row.coverage == Coverage::Exhaustive).count();
    let (kernels, lanes) = (plural(distinct(|row| &row.kernel), "kernel"), plural(distinct(|row| &row.lane), "lane"));
    let mut out =
        format!("{}: {}, {kernels} in {lanes}, {} inputs", plain(op), plural(findings, "finding"), count(inputs));
    out.push_str(match exhaustive {
        0 => ", sampled",
        n if n == rows.len() => ", exhaustive",
        _ => ", in part exhaustive",
    });
    if differing > 0 {
        let _ = write!(out, ", {differing} differ from their references");
    }
    cut(&out)
}

/// At most [`LINE`] bytes of a text on one line.
fn cut(text: &str) -> String {
    const MARK: &str = " (cut)";
    let text = text::one_line(text);
    if text.len() <= LINE {
        return text;
    }
    let end = text.floor_char_boundary(LINE - MARK.len());
    format!("{}{MARK}", &text[..end])
}

/// A heading and as many of the lines as `most` bytes hold, with the number of those left out.
fn list(title: &str, lines: Vec<String>, most: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("**{title}**\n\n");
    let rest = |n: usize| format!("- and {} more\n", count(n as u64));
    for (i, line) in lines.iter().enumerate() {
        let left = lines.len() - i;
        let room = most - if left > 1 { rest(left - 1).len() } else { 0 };
        if out.len() + line.len() + 3 > room {
            out.push_str(&rest(left));
            break;
        }
        let _ = writeln!(out, "- {line}");
    }
    out
}

/// The sections folded, in `most` bytes: small ones whole, large ones cut at a line, with what is missing said.
fn folded(sections: &[Section], most: usize) -> String {
    let whole: Vec<String> = sections.iter().map(|section| fold(section, section.body.lines().count())).collect();
    let mut shares = vec![0; sections.len()];
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|at| whole[*at].len());
    let mut room = most.saturating_sub(sections.len());
    for (done, at) in order.iter().enumerate() {
        shares[*at] = whole[*at].len().min(room / (sections.len() - done));
        room -= shares[*at];
    }
    let within = |((section, whole), share): ((&Section, String), usize)| {
        if whole.len() <= share {
            return whole;
        }
        // The most lines that fit: a fold of fewer lines is not longer.
        let lines = section.body.lines().count();
        let fitting = (0..lines).collect::<Vec<_>>().partition_point(|n| fold(section, *n).len() <= share);
        if fitting == 0 { String::new() } else { fold(section, fitting - 1) }
    };
    let parts = sections.iter().zip(whole).zip(shares).map(within);
    parts.filter(|part| !part.is_empty()).map(|part| format!("\n{part}")).collect()
}

/// The first lines of a section under its title, to be opened by a click.
fn fold(section: &Section, lines: usize) -> String {
    let Section { title, body } = section;
    let all = body.lines().count();
    let mut out = format!("<details>\n<summary>{title}</summary>\n\n");
    for line in body.lines().take(lines) {
        out.push_str(line);
        out.push('\n');
    }
    if lines < all {
        let more = count((all - lines) as u64);
        let _ = write!(out, "\n{more} more lines are in `{}`.\n", crate::files::DETAILS);
    }
    out.push_str("\n</details>\n");
    out
}

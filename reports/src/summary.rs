//! `summary.md`: a run for a reviewer, small enough for a comment on a pull request. In front stands what the screen shows, in the same
//! order: what fails, the lanes, a line for each operation, the checks, what was not covered; the verdict is the title. The rest is
//! folded, as far as there is room; `details.md` has all of it.

use crate::drawable;
use crate::findings;
use crate::ledger::{Finding, Lane, LaneStatus, Ledger};
use crate::markdown::{self, Section, code, plain};
use crate::overview;
use crate::text::{self, count};
use crate::uncovered;
use crate::view;
use std::fmt::Write;

/// Bytes of what is not folded, at most.
pub const FRONT: usize = 4096;
/// Bytes of all of it, at most. GitHub takes comments of 65,536 characters, and whoever pastes it may want to say something.
pub const WHOLE: usize = 60_000;

/// Bytes of one line in front.
const LINE: usize = 240;
/// Bytes of how a lane is reached.
const VIA: usize = 60;
/// Classes that an operation's line names.
const CLASSES: usize = 2;

/// Bytes that the heading of a list takes.
const HEADING: usize = 24;
/// Bytes of the lists in front, which together with what surrounds them stay below [`FRONT`].
const FINDINGS: usize = 950;
const LANES: usize = 350;
const OPERATIONS: usize = 1550;
const CHECKS: usize = 350;
const UNCOVERED: usize = 550;

/// Draws a ledger as GitHub Markdown.
pub fn render(ledger: &Ledger) -> String {
    let ledger = &*drawable::ledger(ledger);
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
        list("Operations", operations(ledger), OPERATIONS),
        list("Checks", checks(ledger), CHECKS),
        list("Not covered", uncovered(ledger), UNCOVERED),
        format!("Folded below, and complete in `{}`:\n", crate::files::DETAILS),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn findings(ledger: &Ledger) -> Vec<String> {
    let item = |finding: &Finding| {
        let line = code(&cut(&text::finding(finding)));
        // A command is of no use if it is cut, and that of the whole run stands once, at the end.
        match &finding.witness {
            Some(witness) if (1..=LINE).contains(&witness.command.len()) => {
                format!("{line}\n  - {}", code(&text::one_line(&witness.command)))
            }
            _ => line,
        }
    };
    findings::by_severity(ledger).into_iter().map(item).collect()
}

/// Those that ran; the others are not covered.
fn lanes(ledger: &Ledger) -> Vec<String> {
    let sentence = |lane: &Lane| match &lane.status {
        LaneStatus::Ran { arch, via } => {
            Some(format!("{}: {}", code(&cut(&lane.name)), plain(&overview::reached(arch, via, VIA))))
        }
        LaneStatus::NotRun { .. } => None,
    };
    ledger.lanes.iter().filter_map(sentence).collect()
}

/// Each in a line, with as many classes by name as leave room for all of them.
fn operations(ledger: &Ledger) -> Vec<String> {
    let all = overview::operations(ledger);
    let naming = |classes: usize| -> Vec<String> {
        let lines = all.iter().map(|operation| operation.sentence(classes)).chain(overview::deviations(&all));
        lines.map(|line| plain(&cut(&line))).collect()
    };
    let fits = |lines: &Vec<String>| lines.iter().map(|line| line.len() + 3).sum::<usize>() + HEADING <= OPERATIONS;
    (0..=CLASSES).rev().map(naming).find(fits).unwrap_or_else(|| naming(0))
}

fn checks(ledger: &Ledger) -> Vec<String> {
    let counted = overview::checks(ledger).into_iter().map(|check| format!("{}: {}", check.name, check.sentence));
    counted.chain(overview::failed_checks(ledger)).map(|line| plain(&cut(&line))).collect()
}

fn uncovered(ledger: &Ledger) -> Vec<String> {
    let all = uncovered::all(ledger).into_iter();
    all.map(|uncovered| format!("{}: {}", uncovered.subject, plain(&cut(&uncovered.sentence)))).collect()
}

/// At most [`LINE`] bytes of a text on one line.
fn cut(text: &str) -> String {
    text::cut(text, LINE)
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

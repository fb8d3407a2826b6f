//! `summary.md`: a run for a reviewer, at most [`MOST`] bytes, which fit a comment on a pull request or the summary of a step. The order is that
//! of a review: verdict and command, changes since the earlier run, failures, one table of the operations, gaps without permission, names of
//! the other files. Lanes, checks and other gaps are in a fold, if there is room; `details.md` has all of them.

use crate::diff::{Change, Diff, KernelChange, diff};
use crate::drawable;
use crate::files;
use crate::findings::{self, Merged};
use crate::html::{Earlier, against};
use crate::ledger::{Lane, LaneStatus, Ledger};
use crate::markdown::{capital, code, plain, table_row};
use crate::overview;
use crate::text::{self, count};
use crate::uncovered;
use crate::view;
use std::fmt::Write;

/// Upper bound on the bytes of the file.
pub const MOST: usize = 4096;

/// Upper bound on the bytes of a list's line.
const LINE: usize = 240;
/// Upper bound on the bytes of a line below that of its finding.
const SHORT: usize = 160;
/// Upper bound on the bytes of a lane's connection.
const VIA: usize = 60;
/// Number of classes that an operation's row names.
const CLASSES: usize = 2;

/// Upper bounds on the bytes of parts before the fold; the findings get the rest.
const CHANGED: usize = 600;
const TABLE: usize = 1700;
const UNCOVERED: usize = 450;
/// Bytes reserved for the findings by the limits of the other parts.
const FINDINGS: usize = 850;
/// Smallest number of bytes for which a fold is useful.
const FOLD: usize = 160;

/// Draws a ledger as GitHub Markdown, compared with the last of the earlier runs.
pub fn render(ledger: &Ledger, earlier: Earlier<'_>) -> String {
    drawn(&drawable::ledger(ledger), earlier)
}

/// Draws a ledger whose texts are drawable.
pub(crate) fn drawn(ledger: &Ledger, earlier: Earlier<'_>) -> String {
    let old = earlier.runs.last().map(drawable::ledger);
    let title = text::verdict(ledger.verdict);
    let command = code(&cut(&text::one_line(&ledger.command)));
    let title = format!("# Tiebreak: {title}\n\n{}.\n\n{command}\n", capital(&plain(&cut(&view::verdict(ledger)))));
    let changed = changed(ledger, old.as_deref());
    let table = table(ledger);
    let uncovered = list("Not covered, and neither planned nor allowed", gaps(ledger, true), UNCOVERED);
    let files = other_files();
    let others = [&title, &changed, &table, &uncovered, &files].map(|part| part.len() + 1).iter().sum::<usize>();
    let findings = list("Findings", findings(ledger), MOST.saturating_sub(others).max(FINDINGS));
    let parts = [title, changed, findings, table, uncovered, files];
    let mut out = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    out.push_str(&folded(ledger, MOST.saturating_sub(out.len())));
    out
}

/// Changes since the earlier run, the worst first.
fn changed(ledger: &Ledger, old: Option<&Ledger>) -> String {
    let Some(old) = old else {
        return "**Changed:** not known, because there is no earlier run to compare with (`--base LEDGER`).\n"
            .to_owned();
    };
    let diff = diff(old, ledger);
    let sentence = plain(&cut(&format!("{}.{}", capital(&diff.line()), against(Some(old)))));
    let kernels = diff.kernels();
    let lines = kernels.iter().map(|kernel| change(kernel)).chain(reasons(&diff));
    lined(format!("**Changed:** {sentence}\n\n"), lines.collect(), CHANGED)
}

/// Line on a changed kernel. If its plan changed, another line has the reason.
fn change(kernel: &KernelChange<'_>) -> String {
    let [change, op, name, lanes, what] = kernel.cells();
    let what = match kernel.change {
        Change::PlanChanged | Change::NotAsked => String::new(),
        _ => format!(": {what}"),
    };
    plain(&cut(&format!("{change}: {op} {name} ({lanes}){what}")))
}

fn reasons(diff: &Diff) -> Vec<String> {
    let reason = |(why, n): (&str, usize)| plain(&cut(&format!("{}: {why}", text::plural(n, "comparison"))));
    diff.reasons().into_iter().map(reason).collect()
}

fn findings(ledger: &Ledger) -> Vec<String> {
    findings::by_severity(ledger).iter().map(item).collect()
}

/// Returns a finding: class and results first, since its case may be long; then count and cause; then the command, or the case if that is too long.
fn item(merged: &Merged<'_>) -> String {
    let finding = merged.finding;
    let Some(witness) = &finding.witness else { return code(&cut(&merged.line())) };
    // A cut command is useless, and the other files have the whole command.
    let command = Some(&witness.command).filter(|command| (1..=LINE).contains(&command.len()));
    let again = |line: String| format!("\n  - {}", code(&line));
    let command = command.map(|command| again(text::one_line(command)));
    let Some(expected) = &witness.expected else {
        return code(&cut(&merged.line())) + &command.unwrap_or_default();
    };
    let subject = code(&cut(&format!("{} {} {}", finding.op, finding.kernel, merged.lanes.join(", "))));
    let results = format!("got {}, {} {expected}", witness.got, text::scheme(&witness.scheme));
    let mut out = format!("**{}**: {subject}: {}", plain(&cut(&witness.class)), plain(&text::cut(&results, SHORT)));
    for detail in text::finding_details(finding) {
        let _ = write!(out, "\n  - {}", plain(&text::cut(&detail, SHORT)));
    }
    out + &command.unwrap_or_else(|| again(text::cut(&text::case(&witness.case), SHORT)))
}

/// Returns a table with a row for each operation, with as many class names as fit for all rows.
fn table(ledger: &Ledger) -> String {
    let all = overview::operations(ledger);
    if all.is_empty() {
        return String::new();
    }
    let naming = |classes: usize| {
        let mut out = table_row(
            ["operation", "kernels", "lanes", "inputs", "contract", "differ from the reference"].map(str::to_owned),
        );
        out.push_str("|---|--:|--:|--:|---|---|\n");
        for operation in &all {
            let [kernels, lanes] = [operation.kernels, operation.lanes].map(|n| count(n as u64));
            let inputs = format!("{} {}", count(operation.inputs), operation.coverage);
            let op = cut(operation.op);
            out.push_str(&table_row([
                plain(&op),
                kernels,
                lanes,
                inputs,
                operation.result(),
                operation.differing(classes),
            ]));
        }
        if let Some(line) = overview::deviations(&all) {
            let _ = writeln!(out, "\n{}", plain(&line));
        }
        out
    };
    let fits = |table: &String| table.len() <= TABLE;
    let whole = (0..=CLASSES).rev().map(naming).find(fits);
    whole.unwrap_or_else(|| shortened(&naming(0), TABLE))
}

/// Returns the rows of a table that fit, with the number of omitted rows.
fn shortened(table: &str, most: usize) -> String {
    let more = |n: usize| format!("\nand {} more lines\n", count(n as u64));
    let (mut out, lines) = (String::new(), table.lines().count());
    for (at, line) in table.lines().enumerate() {
        if out.len() + line.len() + 1 + more(lines).len() > most {
            out.push_str(&more(lines - at));
            break;
        }
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Returns the lanes that ran; other lanes are in the list of gaps.
fn lanes(ledger: &Ledger) -> Vec<String> {
    let sentence = |lane: &Lane| match &lane.status {
        LaneStatus::Ran { arch, via } => {
            Some(format!("{}: {}", code(&cut(&lane.name)), plain(&overview::reached(arch, via, VIA))))
        }
        LaneStatus::NotRun { .. } => None,
    };
    ledger.lanes.iter().filter_map(sentence).collect()
}

fn checks(ledger: &Ledger) -> Vec<String> {
    let counted = overview::checks(ledger).into_iter().map(|check| format!("{}: {}", check.name, check.sentence));
    overview::failed_checks(ledger).into_iter().chain(counted).map(|line| plain(&cut(&line))).collect()
}

/// Returns the unexpected or the expected gaps in coverage.
fn gaps(ledger: &Ledger, unexpected: bool) -> Vec<String> {
    let some = uncovered::all(ledger).into_iter().filter(|gap| gap.unexpected == unexpected);
    some.map(|gap| format!("{}: {}", gap.subject, plain(&cut(&gap.sentence)))).collect()
}

fn other_files() -> String {
    let [report, details, mismatches, junit, sarif, ledger] =
        [files::REPORT, files::DETAILS, files::MISMATCHES, files::JUNIT, files::SARIF, files::LEDGER].map(code);
    format!(
        "Files in the same directory: {report}, {details}, {mismatches}, {junit}, {sarif}, and {ledger} with everything.\n"
    )
}

/// Returns a fold with lanes, checks and expected gaps in `most` bytes; empty if `most` is too small.
fn folded(ledger: &Ledger, most: usize) -> String {
    let (begin, end) = ("\n<details>\n<summary>Lanes, checks, what was not covered</summary>\n\n", "\n</details>\n");
    let mut room = most.saturating_sub(begin.len() + end.len());
    let lists = [("Checks", checks(ledger)), ("Lanes", lanes(ledger)), ("Not covered", gaps(ledger, false))];
    let mut parts = Vec::new();
    let mut left = lists.len();
    for (title, lines) in lists {
        let part = list(title, lines, room.saturating_sub(1) / left);
        left -= 1;
        room -= part.len() + usize::from(!part.is_empty());
        parts.extend((!part.is_empty()).then_some(part));
    }
    let body = parts.join("\n");
    if body.len() < FOLD { String::new() } else { format!("{begin}{body}{end}") }
}

/// Returns at most [`LINE`] bytes of a text on one line.
fn cut(text: &str) -> String {
    text::cut(text, LINE)
}

/// Returns a heading and as many lines as fit in `most` bytes; empty if the first line does not fit.
fn list(title: &str, lines: Vec<String>, most: usize) -> String {
    let heading = format!("**{title}**\n\n");
    let first = lines.first().map_or(0, String::len);
    let room = heading.len() + first + LIST_MARK + MORE;
    if lines.is_empty() || room > most { String::new() } else { lined(heading, lines, most) }
}

/// Bytes around each line of a list.
const LIST_MARK: usize = 3;
/// Bytes of the line that counts omitted lines.
const MORE: usize = 32;

/// Returns a beginning and as many lines as fit in `most` bytes, with the number of omitted lines.
fn lined(mut out: String, lines: Vec<String>, most: usize) -> String {
    for (at, line) in lines.iter().enumerate() {
        let left = lines.len() - at;
        let room = most.saturating_sub(if left > 1 { MORE } else { 0 });
        if out.len() + line.len() + LIST_MARK > room {
            let _ = writeln!(out, "- and {} more", count(left as u64));
            break;
        }
        let _ = writeln!(out, "- {line}");
    }
    out
}

//! `details.md`: the complete run, for a reviewer. Every statement comes from the ledger, with the command that reproduces it.

use crate::agreement;
use crate::calls;
use crate::drawable;
use crate::findings;
use crate::ledger::{Counts, Ledger, Row};
use crate::left_out;
use crate::network;
use crate::proofs;
use crate::self_checks::{self, SelfChecks};
use crate::spans;
use crate::text;
use crate::uncovered::{self, Uncovered};
use crate::view::{self, Line};
use std::fmt::Write;

/// Number of deltas or classes that a cell names before it sums up the rest.
const MOST: usize = 4;

/// Draws a ledger as GitHub Markdown.
pub fn render(ledger: &Ledger) -> String {
    drawn(&drawable::ledger(ledger))
}

/// Draws a ledger whose texts are drawable.
pub(crate) fn drawn(ledger: &Ledger) -> String {
    let sections = [
        findings(ledger),
        lanes(ledger),
        not_covered(ledger),
        kernels(ledger),
        witnesses(ledger),
        remarks(ledger),
        of_network(ledger),
        spanned(ledger),
        agreements(ledger),
        bounds(ledger),
        proved(ledger),
        rewritten(ledger),
        catalogue(ledger),
        checks(ledger),
        called(ledger),
        again(ledger),
    ];
    std::iter::once(verdict(ledger)).chain(sections.into_iter().flatten()).collect::<Vec<_>>().join("\n")
}

fn verdict(ledger: &Ledger) -> String {
    let word = text::verdict(ledger.verdict);
    format!("# Tiebreak: {word}\n\n{}.\n", plain(&capital(&view::verdict(ledger))))
}

fn findings(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for merged in findings::merged(ledger) {
        let finding = merged.finding;
        let _ = writeln!(out, "- {}", code(&merged.line()));
        for detail in text::finding_details(finding) {
            let _ = writeln!(out, "  - {}", plain(&detail));
        }
        let _ = writeln!(out, "  - again: {}", code(text::rerun(finding, &ledger.command)));
    }
    section("Findings", &out)
}

fn lanes(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for lane in &ledger.lanes {
        let _ = writeln!(out, "- {}: {}", code(&lane.name), plain(&text::lane(&lane.status)));
    }
    section("Lanes", &out)
}

/// Section with uncovered inputs, counted by reason; later sections name the kernels.
fn not_covered(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for Uncovered { subject, sentence, .. } in uncovered::all(ledger) {
        let _ = writeln!(out, "- {subject}: {}", plain(&sentence));
    }
    section("Not covered", &out)
}

fn kernels(ledger: &Ledger) -> Option<String> {
    if ledger.rows.is_empty() {
        return section("Kernels", "None ran.\n");
    }
    let columns = [
        "kernel",
        "lane",
        "ISA path",
        "pairs (m, s)",
        "inputs",
        "coverage",
        "against contract",
        "against reference",
        "seconds",
    ];
    let mut out = table_row(columns.map(str::to_owned));
    out.push_str("|---|---|---|--:|--:|---|---|---|--:|\n");
    for line in view::lines(ledger) {
        out.push_str(&kernel(ledger, &line));
    }
    section("Kernels", &out)
}

fn kernel(ledger: &Ledger, line: &Line<'_>) -> String {
    let row = line.row();
    table_row([
        view::kernel_label(ledger, row),
        plain(&row.lane),
        plain(&row.isa_path),
        text::parameters(line.parameters()),
        text::count(line.inputs()),
        text::coverage(row.coverage).to_owned(),
        line.contract.map_or("-".to_owned(), |row| against(row, line, "exact")),
        line.reference.map_or("-".to_owned(), |row| against(row, line, "equal")),
        text::seconds(line.seconds()),
    ])
}

/// Returns `8,388,607 differ (all +1); double-rounding`, or the text for equality, after the scheme.
fn against(row: &Row, line: &Line<'_>, same: &str) -> String {
    let what = match row.differ {
        0 if row.inputs == 0 => "nothing compared".to_owned(),
        0 => match row.deviations.values().sum::<u64>() {
            0 => same.to_owned(),
            n => format!("{same}, deviates on {} as declared", text::plural(n as usize, "input")),
        },
        n => {
            let classes = text::classes(&row.classes, MOST, "other class").join("; ");
            format!("{} differ ({}); {classes}", text::count(n), deltas(row))
        }
    };
    let among = match row.inputs == line.inputs() {
        true => String::new(),
        false => format!(" of {}", text::count(row.inputs)),
    };
    format!("`{}` {what}{among}", row.scheme)
}

fn deltas(row: &Row) -> String {
    let mut all = row.by_delta.keys();
    match (all.next(), all.next()) {
        (Some(only), None) => format!("all {}", text::delta(only)),
        _ => text::deltas(&row.by_delta, MOST).join(", "),
    }
}

fn witnesses(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for shown in view::witnesses(ledger) {
        let kernel = view::kernel_label(ledger, shown.row);
        let lanes = plain(&shown.lanes.join(", "));
        let witness = code(&text::witness(shown.witness));
        let _ = writeln!(out, "- {} ({lanes}): {witness}", plain(&kernel));
        for line in view::all_classes(&shown) {
            let _ = writeln!(out, "  - {}", plain(&line));
        }
        if !shown.witness.because.is_empty() {
            let _ = writeln!(out, "  - {}", plain(&text::one_line(&shown.witness.because)));
        }
        let _ = writeln!(out, "  - again: {}", code(&shown.witness.command));
        for example in &shown.row.examples {
            let _ = writeln!(out, "  - {}", plain(&text::one_line(&text::example(example))));
            let _ = writeln!(out, "    - again: {}", code(&example.command));
        }
    }
    section("Differences from the reference (information, no failures)", &out)
}

fn remarks(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for row in view::rows_out_of_domain(ledger) {
        let Row { kernel, scheme, .. } = row;
        let lane = plain(&row.lane);
        let n = text::count(row.out_of_domain);
        let _ = writeln!(out, "- {kernel} ({lane}): {n} inputs to which `{scheme}` gives no int32, not compared");
    }
    for deviation in view::deviations(ledger) {
        let kernel = &deviation.row.kernel;
        let lane = plain(&deviation.row.lane);
        let (class, sentence) = (deviation.class, plain(&deviation.sentence()));
        let _ = writeln!(out, "- {kernel} ({lane}): declared deviation `{class}` {sentence}");
    }
    for outside in text::outside_domain(&ledger.outside_domain) {
        let _ = writeln!(out, "- not run: {}", plain(&outside));
    }
    for sentence in left_out::sentences(ledger) {
        let _ = writeln!(out, "- left out: {}", plain(&sentence));
    }
    for position in &ledger.positions {
        let _ = writeln!(out, "- {}", plain(&left_out::position(position)));
    }
    section("Domain and deviations", &out)
}

/// Section on the network of a model, layer after layer.
fn of_network(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    for table in network::tables(ledger) {
        let columns: Vec<String> = table.columns.iter().map(|name| (*name).to_owned()).collect();
        let rule: Vec<String> = columns.iter().map(|_| "---".to_owned()).collect();
        let _ = writeln!(out, "{}\n\n{}\n{}", plain(&table.heading), line(&columns), line(&rule));
        for row in &table.rows {
            let _ = writeln!(out, "{}", line(&row.iter().map(|cell| plain(cell)).collect::<Vec<_>>()));
        }
        let _ = writeln!(out);
        for note in &table.notes {
            let _ = writeln!(out, "- {}", plain(note));
        }
    }
    section("Network", &out)
}

/// Section on the range of each kernel's inputs.
fn spanned(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for (cells, lanes) in spans::lines(ledger) {
        let [op, kernel, spanned @ ..] = &cells[..] else { continue };
        let _ = writeln!(out, "- {} {} ({})", plain(op), code(kernel), plain(&lanes.join(", ")));
        for line in spanned.iter().filter(|line| !line.is_empty()) {
            let _ = writeln!(out, "  - {}", plain(line));
        }
    }
    section("What the inputs spanned", &out)
}

fn checks(ledger: &Ledger) -> Option<String> {
    let checks = SelfChecks::of(ledger);
    let sentences: Vec<_> = self_checks::sentences(ledger).iter().map(|sentence| capital(sentence)).collect();
    let mut out = format!("{}.\n", sentences.join(". "));
    if !checks.failed.is_empty() {
        out.push('\n');
    }
    for failed in &checks.failed {
        let _ = writeln!(out, "- {}", plain(&self_checks::describe(failed)));
    }
    section("Self-check", &out)
}

/// Section on the calls of each kernel, and the fault rate that these exclude at 95 %.
fn called(ledger: &Ledger) -> Option<String> {
    let lines = calls::lines(ledger);
    let mut out = calls::sentence(ledger).map_or_else(String::new, |sentence| format!("{}.\n\n", capital(&sentence)));
    for line in lines {
        let _ = writeln!(out, "- {}", plain(&line));
    }
    section("Calls, and the rate of faults that they exclude at 95 %", &out)
}

fn agreements(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for agreement::Comparison { names, prose, witness, values } in agreement::lines(ledger) {
        let _ = writeln!(out, "- {} {}: {prose}", code(&names[0]), plain(&names[1]));
        if let Some(witness) = witness {
            let _ = writeln!(out, "  - {}", code(&format!("{}: {values}", text::case(&witness.case))));
            let _ = writeln!(out, "  - again: {}", code(&witness.command));
        }
    }
    section("To the bit, also where the contract gives no value", &out)
}

/// Section on recorded proofs of the run's kernels.
fn proved(ledger: &Ledger) -> Option<String> {
    let table = ledger.proofs.as_ref().zip(proofs::sentence(ledger)).map(|(proofs, sentence)| {
        let solvers = proofs.solvers.join("; ");
        format!("{}. Solvers: {}.\n\n{}", capital(&sentence), plain(&solvers), proofs::markdown(proofs))
    });
    section("Proofs, for all accumulators and multipliers", &table.unwrap_or_default())
}

/// Section on rewrites of the quant dialect.
fn rewritten(ledger: &Ledger) -> Option<String> {
    if ledger.rewrites.is_empty() {
        return section("Rewrites", "");
    }
    let mut out = table_row(["rewrite", "type", "same", "differ", "poison", "verdict"].map(str::to_owned));
    out.push_str("|---|---|--:|--:|--:|---|\n");
    for rewrite in &ledger.rewrites {
        let Counts { same, differ, undefined } = rewrite.counted;
        let [same, differ, undefined] = [same, differ, undefined].map(text::count);
        let [name, ty] = [&rewrite.rewrite, &rewrite.ty].map(|words| code(words));
        out.push_str(&table_row([name, ty, same, differ, undefined, plain(&text::rewrite(rewrite))]));
    }
    section("Rewrites of the quant dialect", &out)
}

fn bounds(ledger: &Ledger) -> Option<String> {
    if ledger.bounds.is_empty() {
        return section("Bounds", "");
    }
    let mut out = format!("{}.\n\n", capital(&text::bounds(&ledger.bounds)));
    out.push_str(&table_row(["kernel", "quantity", "bound", "one past it", "because"].map(str::to_owned)));
    out.push_str("|---|---|--:|---|---|\n");
    for (bound, _) in view::bounds(ledger) {
        let past = text::past(bound);
        out.push_str(&table_row([
            bound.kernel.clone(),
            plain(&bound.quantity),
            text::bound(bound),
            past,
            plain(&bound.because),
        ]));
    }
    section("Bounds", &out)
}

fn catalogue(ledger: &Ledger) -> Option<String> {
    let mut out = String::new();
    for run in &ledger.catalogue {
        let _ = writeln!(out, "- {}", plain(&text::catalogue(run)));
    }
    section("Catalogue", &out)
}

fn again(ledger: &Ledger) -> Option<String> {
    let Ledger { version, command, seed, effort, .. } = ledger;
    let about = format!("tiebreak {version}, effort {effort}, seed {seed}:");
    section("Again", &format!("{about}\n\n```sh\n{command}\n```\n"))
}

/// Returns the section on a subject; `None` without a list or table.
fn section(title: &str, body: &str) -> Option<String> {
    (!body.is_empty()).then(|| format!("## {title}\n\n{body}"))
}

pub(crate) fn table_row<const N: usize>(cells: [String; N]) -> String {
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.join(" | "))
}

/// Returns text as code. The fence is longer than any run of backticks inside.
pub(crate) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns text on one line, with markup characters escaped.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(' '),
            '*' | '<' | '>' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

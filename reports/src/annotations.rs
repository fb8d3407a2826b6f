//! Findings as workflow commands of GitHub Actions, `::error file=..,title=..::..`. GitHub shows each command as an annotation of a change, but
//! only ten for each step. The last line is therefore a notice with the verdict and the number of findings.

use crate::drawable;
use crate::findings;
use crate::ledger::{Ledger, Verdict};
use crate::sarif;
use crate::text;
use crate::view;
use std::fmt::Write;

/// Draws a ledger, one command a line.
pub fn render(ledger: &Ledger) -> String {
    let ledger = &*drawable::ledger(ledger);
    let mut out = String::new();
    for merged in findings::by_severity(ledger) {
        let finding = merged.finding;
        let named = [&finding.op, &finding.kernel, &finding.class].map(String::as_str);
        let title = named.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ");
        let file =
            sarif::file(ledger, &merged).filter(|_| ledger.code.contains_key(&key(&finding.op, &finding.kernel)));
        let place = file.map_or(String::new(), |file| format!("file={},line=1,", property(file)));
        let again = format!("again: {}", text::rerun(finding, &ledger.command));
        let lines = std::iter::once(merged.line()).chain(text::finding_details(finding)).chain([again]);
        let says = lines.collect::<Vec<_>>().join("\n");
        let _ = writeln!(out, "::error {place}title={}::{}", property(&title), data(&says));
    }
    let verdict = format!("{}: {}", text::verdict(ledger.verdict), view::verdict(ledger));
    let level = if ledger.verdict == Verdict::Holds { "notice" } else { "error" };
    let _ = writeln!(out, "::{level} title=tiebreak::{}", data(&verdict));
    out
}

fn key(op: &str, kernel: &str) -> String {
    format!("{op} {kernel}")
}

/// Escapes the text after `::`, such as its line ends.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, in which `:` and `,` have a meaning.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

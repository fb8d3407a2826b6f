//! `findings.sarif`: the findings of a run in SARIF 2.1.0, which code hosts show next to the lines of a change. A rule is a class, with its
//! meaning; a result is a finding, with all of its lanes. Its location is the file with the kernel's code, if the ledger has it, otherwise the
//! program that ran the kernel.

use crate::drawable;
use crate::findings::{self, Merged};
use crate::ledger::{Ledger, Role, Verdict};
use crate::text;
use serde_json::{Value, json};

/// SARIF version that [`render`] writes.
pub const VERSION: &str = "2.1.0";
/// Address of the schema.
pub const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Address of the project.
const PROJECT: &str = env!("CARGO_PKG_REPOSITORY");

/// Draws the findings of a ledger as indented JSON.
pub fn render(ledger: &Ledger) -> String {
    drawn(&drawable::ledger(ledger))
}

/// Draws a ledger whose texts are drawable.
pub(crate) fn drawn(ledger: &Ledger) -> String {
    let all = findings::by_severity(ledger);
    let mut classes: Vec<&str> = all.iter().map(|merged| merged.finding.class.as_str()).collect();
    classes.sort_unstable();
    classes.dedup();
    let results: Vec<Value> = all.iter().map(|merged| result(ledger, &classes, merged)).collect();
    let rules: Vec<Value> = classes.iter().map(|class| rule(ledger, class)).collect();
    let mut driver = json!({"name": "tiebreak", "version": ledger.version, "rules": rules});
    if !PROJECT.is_empty() {
        driver["informationUri"] = PROJECT.into();
    }
    let run = json!({
        "tool": {"driver": driver},
        "invocations": [invocation(ledger)],
        "results": results,
        "columnKind": "unicodeCodePoints",
    });
    crate::json::pretty(&json!({"$schema": SCHEMA, "version": VERSION, "runs": [run]}))
}

fn rule(ledger: &Ledger, class: &str) -> Value {
    let meaning = ledger.meanings.get(class).map_or(class, String::as_str);
    json!({
        "id": class,
        "shortDescription": {"text": meaning},
        "defaultConfiguration": {"level": "error"},
    })
}

/// Command of the run, and true if the run ended.
fn invocation(ledger: &Ledger) -> Value {
    let mut invocation =
        json!({"commandLine": ledger.command, "executionSuccessful": ledger.verdict != Verdict::Unfinished});
    if let Some(why) = &ledger.unfinished {
        invocation["toolExecutionNotifications"] = json!([{"level": "error", "message": {"text": why}}]);
    }
    invocation
}

fn result(ledger: &Ledger, classes: &[&str], merged: &Merged<'_>) -> Value {
    let finding = merged.finding;
    let rule = classes.iter().position(|class| *class == finding.class);
    let lines = std::iter::once(merged.line()).chain(text::finding_details(finding));
    let again = format!("again: {}", text::one_line(text::rerun(finding, &ledger.command)));
    let says = lines.chain([again]).collect::<Vec<_>>().join("\n");
    let name = [finding.op.as_str(), finding.kernel.as_str()].into_iter().filter(|name| !name.is_empty());
    let name = name.collect::<Vec<_>>().join(" ");
    let mut place = json!({});
    if !name.is_empty() {
        place["logicalLocations"] = json!([{"fullyQualifiedName": name, "kind": "function"}]);
    }
    if let Some(file) = file(ledger, merged) {
        let region = json!({"startLine": 1});
        place["physicalLocation"] = json!({"artifactLocation": {"uri": uri(file)}, "region": region});
    }
    let mut result = json!({
        "ruleId": finding.class,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": says},
        "partialFingerprints": {"tiebreak/v1": format!("{name} {}", finding.class)},
        "properties": {"lanes": merged.lanes},
    });
    if place.as_object().is_some_and(|place| !place.is_empty()) {
        result["locations"] = json!([place]);
    }
    result
}

/// Returns the file that a finding is about: the file with the kernel's code, otherwise the program that ran the kernel.
pub(crate) fn file<'a>(ledger: &'a Ledger, merged: &Merged<'_>) -> Option<&'a str> {
    let finding = merged.finding;
    let known = ledger.code.get(&format!("{} {}", finding.op, finding.kernel));
    let worker = || {
        let lane = ledger.lanes.iter().find(|lane| lane.name == finding.lane)?;
        // In the files of a lane, an emulator comes before the program that it runs.
        let last = lane.files.iter().rfind(|file| file.role == Role::Worker)?;
        Some(last.name.as_str())
    };
    known.map(String::as_str).or_else(worker).filter(|name| !name.is_empty())
}

/// Returns a path as a relative reference, or an absolute path with a scheme.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_reference() {
        assert_eq!(uri("./my kernels/libmine.so"), "my%20kernels/libmine.so");
        assert_eq!(uri("/opt/c:1/k.c"), "file:///opt/c%3A1/k.c");
    }
}

//! `findings.sarif` against the schema of SARIF 2.1.0, and annotations of GitHub.

use crate::{everything, sample};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tiebreak_reports::annotations;
use tiebreak_reports::ledger::{Ledger, Verdict};
use tiebreak_reports::sarif::{SCHEMA, VERSION, render};

/// Returns the sources of a package that `Cargo.lock` pins by its hash. Cargo downloads them if necessary.
fn package(name: &str) -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let metadata = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]).arg(&manifest).args(more);
        command.output().expect("cargo runs")
    };
    let offline = Some(metadata(&["--offline"])).filter(|output| output.status.success());
    let output = offline.unwrap_or_else(|| metadata(&[]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut packages = all["packages"].as_array().expect("packages").iter();
    let found = packages.find(|package| package["name"] == name).expect("it is among the dependencies");
    Path::new(found["manifest_path"].as_str().expect("a path")).parent().expect("a directory").to_owned()
}

fn schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string(package("serde-sarif").join("src/schema.json")).expect("it has the schema");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    // This pattern of the schema is not a regular expression of JavaScript; `language` is never written.
    for definition in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{definition}/properties/language"));
        language.and_then(Value::as_object_mut).expect("it is there").remove("pattern").expect("it is there");
    }
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Runs with a finding about a known file, about no file, about a lane, and a run that did not end.
fn ledgers() -> Vec<Ledger> {
    let mut known = sample::broken();
    known.code = known.findings.iter().map(|f| (format!("{} {}", f.op, f.kernel), "my kernels/k.c".into())).collect();
    let unfinished = Ledger {
        verdict: Verdict::Unfinished,
        unfinished: Some("interrupted by SIGINT".into()),
        findings: Vec::new(),
        ..sample::broken()
    };
    vec![sample::holding(), sample::broken(), known, unfinished, everything::broken()]
}

#[test]
fn findings_are_valid_sarif() {
    let schema = schema();
    for ledger in ledgers() {
        let sarif: Value = serde_json::from_str(&render(&ledger)).expect("JSON");
        let errors: Vec<String> = schema.iter_errors(&sarif).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!((&sarif["$schema"], &sarif["version"]), (&SCHEMA.into(), &VERSION.into()));
        let run = &sarif["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        for result in run["results"].as_array().expect("results") {
            let rule = &rules[result["ruleIndex"].as_u64().expect("an index") as usize];
            assert_eq!(rule["id"], result["ruleId"], "{result}");
            assert!(
                result["message"]["text"].as_str().expect("text").contains("again: cargo xtask verify"),
                "{result}"
            );
        }
    }
    // The schema does reject: an invalid level, a result without a message.
    for (at, value) in [("/runs/0/results/0/level", "bad".into()), ("/runs/0/results/0/message", Value::Null)] {
        let mut wrong: Value = serde_json::from_str(&render(&sample::broken())).expect("JSON");
        *wrong.pointer_mut(at).expect("it is there") = value;
        assert!(!schema.is_valid(&wrong), "{at}");
    }
}

#[test]
fn a_finding_has_a_place() {
    let all = ledgers();
    let place = |ledger: &Ledger| {
        let sarif: Value = serde_json::from_str(&render(ledger)).expect("JSON");
        sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone()
    };
    assert_eq!(place(&all[2]), "my%20kernels/k.c");
    // The location is the worker of the lane if nothing else is known.
    assert_eq!(place(&all[1]), "tiebreak-worker");
    assert_eq!(place(&all[0]), Value::Null);
}

#[test]
fn annotations_are_commands_of_a_workflow() {
    let mut ledger = ledgers().remove(2);
    ledger.findings[0].message = "50% of: a,b\nand more".into();
    let text = annotations::render(&ledger);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), ledger.findings.len() + 1, "{text}");
    assert!(
        lines[0].starts_with("::error file=my kernels/k.c,line=1,title=fpm gemmlowp-neon tie-direction::fpm "),
        "{text}"
    );
    assert!(lines[0].contains("%0Aagain: cargo xtask verify") && text.contains("50%25 of: a,b and more"), "{text}");
    assert!(lines.last().expect("a line").starts_with("::error title=tiebreak::broken: "), "{text}");
    assert!(lines.iter().all(|line| line.starts_with("::error ")), "{text}");
    let holds = annotations::render(&sample::holding());
    assert!(holds.starts_with("::notice title=tiebreak::holds: ") && holds.lines().count() == 1, "{holds}");
}

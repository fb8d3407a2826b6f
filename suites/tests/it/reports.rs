//! Output and files of a run: stable, consistent, and reproducible.

use crate::common::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::Stdio;
use tiebreak_impls::mutants;

/// Returns a quick run of one kernel on the host.
fn quick(kernel: &str, more: &[&str]) -> Run {
    verify(&[&["--op=fpm", "--kernel", kernel, "--lane=host", "--effort=quick"][..], more].concat())
}

/// Acceptance 4, for the known bugs: exit code 1, the class, and the smallest witness in one line.
#[track_caller]
fn prints(kernel: &str, lines: &[&str]) {
    let run = quick(kernel, &[]).exits(1);
    for line in lines {
        assert!(run.stdout.contains(line), "no `{line}` in\n{}", run.printed());
        assert!(run.file("details.md").contains(line) && run.file("junit.xml").contains(line), "{line}");
        // A summary has the class and the results first.
        let (seen, class) = line.split_once(", class ").expect("a class");
        let (_, results) = seen.split_once(": ").expect("results");
        let summary = run.file("summary.md");
        assert!(summary.contains(&format!("**{class}**: `fpm {kernel} host`: {results}")), "{line}\n{summary}");
    }
}

#[test]
fn missing_saturation_is_named_with_its_witness() {
    prints(
        "mutant-no-saturation",
        &[
            "fpm mutant-no-saturation host x=-2147483648 m=-2147483648 s=0: got -2147483648, gemmlowp-double 2147483647, class missing-saturation",
        ],
    );
}

#[test]
fn ties_the_other_way_are_named_with_their_witness() {
    prints(
        "mutant-ties-down",
        &["fpm mutant-ties-down host x=1 m=1073741824 s=0: got 0, ties-up 1, class tie-direction"],
    );
}

#[test]
fn a_dropped_fixup_is_named_with_its_witness() {
    prints(
        "mutant-dead-fixup",
        &["fpm mutant-dead-fixup host x=-1 m=1073741825 s=-1: got 0, gemmlowp-double -1, class tie-direction"],
    );
    prints(
        "mutant-fixup-lost",
        &["fpm mutant-fixup-lost host x=-1 m=1073741825 s=-1: got 0, gemmlowp-double -1, class fixup-lost"],
    );
}

#[test]
fn exit_code_0_where_every_contract_holds() {
    let run = quick("tvm-neon-rfc", &[]).exits(0);
    let ledger = run.ledger();
    assert_eq!((ledger["verdict"].as_str(), items(&ledger, "findings").len()), (Some("holds"), 0));
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn set(words: &str) -> BTreeSet<&str> {
    words.split_whitespace().collect()
}

/// The documented keys, and nothing but JSON on standard output.
#[test]
fn the_json_form_is_the_documented_one() {
    let run = verify(&["--kernel=tvm-neon-rfc", "--effort=quick", "--lane=host", "--lane", aarch64(), "--format=json"])
        .exits(0);
    let summary: Value = serde_json::from_str(&run.stdout).expect("standard output is JSON alone");
    let top = "format version command seed effort reference verdict seconds environment lanes rows catalogue agreements bounds outside_domain planned positions unchecked self_checks findings meanings";
    assert_eq!(keys(&summary), set(top));
    assert_eq!(summary["format"], tiebreak_reports::ledger::FORMAT);
    assert_eq!((&summary["seed"], &summary["effort"]), (&1.into(), &"quick".into()));
    assert_eq!(summary["reference"], "ties-up");
    assert_eq!(keys(&summary["self_checks"]), set("mutants controls failed"));
    let row = "op kernel lane isa_path against scheme parameters inputs coverage out_of_domain differ by_delta classes deviations declared witness seconds";
    let rows = items(&summary, "rows");
    assert_eq!(rows.len(), 4, "contract and reference in two lanes");
    for r in rows {
        let more = if r["against"] == "contract" { "sizes ranges calls" } else { "examples" };
        assert_eq!(keys(r), set(&format!("{row} {more}")));
        assert!(r["inputs"].as_u64() > Some(10_000) && r["coverage"] == "sampled", "{r}");
    }
    let reference = rows.iter().find(|r| r["against"] == "reference").expect("a row against the reference");
    assert_eq!(keys(&reference["witness"]), set("case got expected scheme class because command"));
    assert_eq!(keys(&reference["witness"]["case"]), set("x m s"));
    let lanes = items(&summary, "lanes");
    assert_eq!(keys(&lanes[0]), set("name status arch via files"));
    assert_eq!((&lanes[0]["status"], &lanes[1]["arch"]), (&"ran".into(), &"aarch64".into()));
    let emulated = rows.iter().find(|r| r["lane"] == aarch64()).expect("a row of the aarch64 lane");
    assert_eq!(emulated["isa_path"], "neon: sqrdmulh, and, sshr, add, srshl, mul");
}

#[test]
fn other_commands_print_json_too() {
    let case = tiebreak(&["case", "--x=-1", "--multiplier=1073741825", "--shift=-1", "--format=json"]).exits(0);
    let case: Value = serde_json::from_str(&case.stdout).expect("JSON alone");
    assert_eq!(case["exact"], "-1073741825/4294967296");
    let double = items(&case, "schemes").iter().find(|s| s["scheme"] == "gemmlowp-double:wrap").expect("listed");
    assert_eq!(double["result"], -1);
    for list in ["kernels", "schemes"] {
        let run = tiebreak(&[list, "--format=json"]).exits(0);
        let all: Value = serde_json::from_str(&run.stdout).expect("JSON alone");
        assert!(all.as_array().expect("a list").len() >= 10, "{list}");
    }
}

/// Standard output in JSON, the ledger, the CSV file, the summary, the details and JUnit's file agree.
#[test]
fn the_files_agree() {
    for (kernel, code) in [("mutant-dead-fixup", 1), ("tvm-neon-rfc", 0), ("mutant-tail-double-rounding", 1)] {
        let run = quick(kernel, &["--format=json"]).exits(code);
        let ledger = run.ledger();
        let summary: Value = serde_json::from_str(&run.stdout).expect("JSON alone");
        for key in ["rows", "findings", "lanes", "verdict", "seed", "command", "catalogue", "seconds"] {
            assert_eq!(ledger[key], summary[key], "{kernel}: {key}");
        }
        for row in items(&ledger, "rows") {
            adds_up(row);
        }
        mismatches_agree(&ledger, &run.file("mismatches.csv"));
        junit_agrees(&ledger, &run.file("junit.xml"));
        let markdown = run.file("summary.md");
        assert!(markdown.contains(kernel) && markdown.contains(ledger["verdict"].as_str().expect("a word")));
        let names: BTreeSet<_> =
            std::fs::read_dir(run.out()).expect("it is there").map(|e| e.expect("listed").file_name()).collect();
        assert_eq!(names.len(), 7, "{names:?}");
    }
}

/// Deltas and classes are each a partition of the differing inputs.
fn adds_up(row: &Value) {
    let sum =
        |key: &str| row[key].as_object().expect("counts").values().map(|n| n.as_u64().expect("a count")).sum::<u64>();
    let differ = row["differ"].as_u64().expect("a count");
    assert_eq!((sum("by_delta"), sum("classes")), (differ, differ), "{row}");
    assert_eq!(row["witness"].is_object(), differ > 0, "{row}");
    if differ > 0 {
        let w = &row["witness"];
        let delta = w["got"].as_i64().expect("a value") - w["expected"].as_i64().expect("a value");
        assert!(counts(row, delta), "{row}");
        assert!(row["classes"][w["class"].as_str().expect("a class")].is_u64(), "{row}");
    }
}

/// True if the row counts the delta separately or, if there are many deltas, under `other`.
fn counts(row: &Value, delta: i64) -> bool {
    let deltas = &row["by_delta"];
    deltas[delta.to_string()].is_u64() || deltas["other"].is_u64()
}

/// Each line of the CSV file belongs to a row that counts its delta and its class, and the smallest witnesses are among the lines.
fn mismatches_agree(ledger: &Value, text: &str) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    assert_eq!(header.join(","), "op,kernel,lane,against,scheme,case,got,expected,class,command");
    let mut lines = 0;
    for record in reader.records() {
        let record = record.expect("a line");
        let line: BTreeMap<&str, &str> = header.iter().map(String::as_str).zip(&record).collect();
        let of = |r: &&Value| ["kernel", "lane", "against"].iter().all(|key| r[*key] == line[*key]);
        let rows: Vec<_> = items(ledger, "rows").iter().filter(of).collect();
        let delta = line["got"].parse::<i64>().expect("a number") - line["expected"].parse::<i64>().expect("a number");
        assert!(rows.iter().any(|r| counts(r, delta)), "{line:?}");
        assert!(rows.iter().any(|r| r["classes"][line["class"]].is_u64()), "{line:?}");
        lines += 1;
    }
    assert_eq!(lines > 0, items(ledger, "rows").iter().any(|r| r["differ"] != 0));
    println!("{lines} mismatches");
}

/// The file is well-formed, and has failures for broken kernels only.
fn junit_agrees(ledger: &Value, text: &str) {
    let report = quick_junit::Report::deserialize_from_str(text).expect("well-formed");
    let cases: usize = report.test_suites.iter().map(|s| s.test_cases.len()).sum();
    let failed = text.matches("<failure").count();
    let findings = items(ledger, "findings");
    assert_eq!(failed > 0, !findings.is_empty());
    assert_eq!(report.failures, failed);
    assert_eq!(report.tests, cases);
    for finding in findings {
        assert!(text.contains(&format!("again: {}", again(finding))), "{finding}");
    }
}

/// Returns the command printed next to a finding or row.
fn again(of: &Value) -> &str {
    of["witness"]["command"].as_str().expect("a command")
}

/// Runs a printed command; returns the row or finding about the same subject in its ledger.
fn rerun(row: &Value) -> Value {
    let words = again(row).strip_prefix("cargo xtask ").unwrap_or_else(|| panic!("{row}"));
    let words: Vec<&str> = words.split(' ').collect();
    assert_eq!(words[0], "verify");
    let run = verify(&words[1..]);
    let broken = row["against"] == "contract";
    assert_eq!(run.code, i32::from(broken), "{}", run.printed());
    let ledger = run.ledger();
    let same = |r: &&Value| ["kernel", "lane", "against", "scheme"].iter().all(|key| r[*key] == row[*key]);
    items(&ledger, "rows").iter().find(same).expect("the same row").clone()
}

/// Invariant 8: the command next to a witness reproduces this witness.
#[track_caller]
fn shown_again(row: &Value) {
    let again = rerun(row);
    let values = |r: &Value| {
        let w = &r["witness"];
        (
            ["x", "m", "s", "q"].map(|name| w["case"][name].clone()),
            w["got"].clone(),
            w["expected"].clone(),
            w["scheme"].clone(),
        )
    };
    assert_eq!(values(&again), values(row), "{}", self::again(row));
}

#[test]
fn commands_beside_witnesses_of_mutants_show_them_again() {
    for mutant in mutants::fpm::mutants() {
        let ledger = quick(mutant.kernel.name, &[]).exits(1).ledger();
        let broken: Vec<_> =
            items(&ledger, "rows").iter().filter(|r| r["differ"] != 0 && r["against"] == "contract").collect();
        assert_eq!(broken.len(), 1, "{}", mutant.kernel.name);
        shown_again(broken[0]);
    }
}

#[test]
fn commands_beside_witnesses_against_references_show_them_again() {
    let run = verify(&["--op=fpm", "--lane=host", "--lane", aarch64(), "--effort=quick", "--reference=ties-away"]);
    let other = run.exits(0).ledger();
    for (reference, ledger) in [("ties-up", &whole().ledger), ("ties-away", &other)] {
        let differs = |r: &&Value| r["op"] == "fpm" && r["differ"] != 0;
        let differing: Vec<_> = items(ledger, "rows").iter().filter(differs).collect();
        assert!(differing.len() >= 20, "only {} rows differ", differing.len());
        differing.iter().for_each(|row| shown_again(row));
        println!("{} commands against {reference}", differing.len());
    }
}

/// The command of the whole run has the caller's arguments, without additions of its front end.
#[test]
fn the_command_of_the_run_is_the_callers() {
    let run = quick("tvm-relay", &["--seed=7"]).exits(0);
    let ledger = run.ledger();
    let command = ledger["command"].as_str().expect("a command");
    assert!(
        command.starts_with("cargo xtask verify ")
            && command.ends_with(" --kernel tvm-relay --lane=host --effort=quick --seed=7")
    );
    assert!(!command.contains("--lanes"), "{command}");
}

/// Returns the ledger without times and the call itself.
fn timeless(mut ledger: Value) -> Value {
    ledger["environment"]["date"] = "".into();
    ledger["seconds"] = 0.into();
    ledger["command"] = "".into();
    for row in ledger["rows"].as_array_mut().expect("rows") {
        row["seconds"] = 0.into();
    }
    ledger
}

/// Invariant 3: a run depends only on its seed.
#[track_caller]
fn depends_on_its_seed_alone(what: &[&str]) {
    let run = |more: &[&str]| {
        let arguments = ["--effort=quick", "--lane=host", "--lane", aarch64()];
        let run = verify(&[&arguments[..], what, more].concat()).exits(0);
        (timeless(run.ledger()), run.file("mismatches.csv"))
    };
    let (one, csv) = run(&["--seed=7", "--jobs=1"]);
    let (two, csv_again) = run(&["--seed=7", "--jobs=2"]);
    assert_eq!(one, two);
    assert_eq!(csv, csv_again);
    let (other, other_csv) = run(&["--seed=8", "--jobs=2"]);
    assert_ne!(one["rows"], other["rows"]);
    assert_ne!(csv, other_csv);
    println!("{} rows, {} mismatches", items(&one, "rows").len(), csv.lines().count() - 1);
}

/// Returns the entries of a ledger about some operations, from every list whose entries name an operation.
fn said_of(ledger: Value, ops: &[&str]) -> BTreeMap<String, Vec<Value>> {
    let Value::Object(ledger) = timeless(ledger) else { panic!("a ledger is an object") };
    let lists = ledger.into_iter().filter_map(|(name, list)| match list {
        Value::Array(list) => Some((name, list)),
        _ => None,
    });
    let of = |entry: &Value| entry["op"].as_str().is_some_and(|op| ops.contains(&op));
    let said = lists.map(|(name, list)| (name, list.into_iter().filter(of).collect::<Vec<_>>()));
    said.filter(|(_, list)| !list.is_empty()).collect()
}

/// A run does not depend on the number of threads, or on other operations.
#[test]
fn runs_depend_on_their_seed_and_on_nothing_else() {
    let ops = ["fpm", "instruction"];
    let run = |more: &[&str]| {
        let arguments = ["--op=fpm", "--op=instruction", "--effort=quick", "--lane=host", "--lane", aarch64()];
        let run = verify(&[&arguments[..], more].concat()).exits(0);
        (said_of(run.ledger(), &ops), run.file("mismatches.csv"))
    };
    let of = |csv: &str| {
        let of = |line: &&str| ops.iter().any(|op| line.starts_with(&format!("{op},")));
        csv.lines().filter(of).map(str::to_owned).collect::<Vec<_>>()
    };
    let (one, csv) = run(&["--jobs=1"]);
    assert!(one["rows"].len() > 80 && one["self_checks"].len() > 40 && of(&csv).len() > 100);
    let with_all = said_of(whole().ledger.clone(), &ops);
    let differing: Vec<_> = one.keys().filter(|name| with_all.get(*name) != one.get(*name)).collect();
    assert!(with_all.len() == one.len() && differing.is_empty(), "{differing:?}");
    assert_eq!(of(&csv), of(&whole().mismatches));
    let (other, other_csv) = run(&["--seed=8"]);
    assert_ne!(one["rows"], other["rows"]);
    assert_ne!(csv, other_csv);
}

/// Kernels that differ from their reference, so that witnesses are found and shrunk.
#[test]
fn tensor_runs_depend_on_their_seed_and_on_nothing_else() {
    let ops = ["--op=matmul", "--op=conv2d", "--op=requantize", "--op=transform"];
    let kernels = ["arm-umlal-fast", "x86-maddubs", "xnnpack-rndnu-i8", "tflite-requantize-i8", "tvm-im2col"];
    let kernels = kernels.map(|kernel| ["--kernel", kernel]).concat();
    depends_on_its_seed_alone(&[&ops[..], &kernels].concat());
}

/// A reader that closes standard output early causes no panic and no other exit code, and all files are written.
#[test]
fn standard_output_closed_early() {
    for (kernel, code) in [("tvm-relay", 0), ("mutant-ties-down", 1)] {
        for format in ["table", "json"] {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let mut command = program();
            command.args(["verify", "--lane=host", "--effort=quick", "--kernel", kernel, "--format", format, "--out"]);
            command.arg(dir.path().join("out")).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("tiebreak starts");
            drop(child.stdout.take());
            let mut stderr = String::new();
            child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("text");
            let status = child.wait().expect("it ends");
            assert_eq!((status.code(), stderr.as_str()), (Some(code), ""), "{kernel} {format}");
            assert!(dir.path().join("out/ledger.json").is_file());
        }
    }
    for arguments in
        [&["kernels"][..], &["schemes"], &["case", "--x=1", "--multiplier=3", "--shift=0"], &["verify", "--help"]]
    {
        let mut child =
            program().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("tiebreak starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

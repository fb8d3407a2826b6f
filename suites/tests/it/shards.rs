//! Shards of `verify`, `corrupt` and `audit`: merged, they equal the result of one process, for any number, order and interruption.

use crate::common::*;
use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Run with several operations, self-checks, bounds, and differences from a reference.
const RUN: [&str; 8] =
    ["verify", "--op", "dot", "--op", "transform", "--lane=host", "--effort=quick", "--reference=ties-even"];

/// Returns the program under its own name, which printed commands use.
pub(crate) fn direct() -> Command {
    let mut command = program();
    command.env_remove("TIEBREAK_CALLED_AS");
    command
}

fn call(dir: &Path, arguments: &[&str]) -> Output {
    direct().args(arguments).current_dir(dir).output().expect("tiebreak starts")
}

#[track_caller]
fn exits(output: &Output, code: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

/// Returns a ledger without values that depend on machine and time: `seconds` of the run and its rows, and `environment`.
pub(crate) fn timeless(directory: &Path) -> String {
    let text = fs::read_to_string(directory.join("ledger.json")).expect("a ledger");
    let (before, rest) = text.split_once("\n  \"environment\": {").expect("an environment");
    let (_, after) = rest.split_once("\n  },").expect("its end");
    let lines = before.lines().chain(after.lines());
    lines.filter(|line| !line.trim_start().starts_with("\"seconds\": ")).collect::<Vec<_>>().join("\n")
}

/// Returns the result of one process.
fn reference(dir: &Path, run: &[&str]) -> PathBuf {
    let whole = dir.join("whole");
    fs::create_dir(&whole).expect("a directory");
    exits(&call(&whole, run), 0);
    whole.join("tiebreak-out")
}

fn shard(dir: &Path, run: &[&str], shard: &str) -> Output {
    call(dir, &[run, &["--shard", shard, "--out=shards", "--resume"]].concat())
}

fn file(command: &str, index: u32, of: u32) -> String {
    format!("shards/{command}-{index}-of-{of}.jsonl")
}

#[track_caller]
fn same(dir: &Path, merged: &str, whole: &Path) {
    assert!(timeless(&dir.join(merged)) == timeless(whole), "{merged}: another ledger");
    for name in ["mismatches.csv", "findings.sarif"] {
        let read = |directory: &Path| fs::read_to_string(directory.join(name)).expect("a file");
        assert!(read(&dir.join(merged)) == read(whole), "{merged}: another {name}");
    }
}

#[test]
fn verify_is_the_same_whatever_the_number_of_shards() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let whole = reference(dir, &RUN);
    for of in [1, 3, 200] {
        // Most of many shards are empty; one of the empty shards runs, too.
        let needed: Vec<u32> = (1..=of).filter(|index| of < 9 || *index <= 99 || *index == of).collect();
        for index in needed.iter().rev() {
            let said = exits(&shard(dir, &RUN, &format!("{index}/{of}")), 0);
            assert_eq!(said.contains("fewer units than shards"), said.contains(": 0 of "), "{said}");
            assert!(of != 200 || *index != of || said.contains(": 0 of "), "{said}");
        }
        let files: Vec<String> = needed.iter().rev().map(|index| file("verify", *index, of)).collect();
        let merged = format!("merged-{of}");
        let arguments: Vec<&str> =
            ["merge", "--out", &merged].into_iter().chain(files.iter().map(String::as_str)).collect();
        exits(&call(dir, &arguments), 0);
        same(dir, &merged, &whole);
        let again = exits(&call(dir, &arguments), 2);
        assert!(again.contains("exists: name another directory with --out"), "{again}");
    }
}

#[test]
fn a_run_with_a_finding_is_broken_after_the_merge_and_no_shard_is() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let run =
        ["verify", "--op=fpm", "--kernel=mutant-dead-fixup", "--kernel=tvm-relay", "--lane=host", "--effort=quick"];
    let whole = dir.join("whole");
    fs::create_dir(&whole).expect("a directory");
    exits(&call(&whole, &run), 1);
    for index in 1..=2 {
        exits(&shard(dir, &run, &format!("{index}/2")), 0);
    }
    exits(&call(dir, &["merge", "--out=merged", &file("verify", 2, 2), &file("verify", 1, 2)]), 1);
    same(dir, "merged", &whole.join("tiebreak-out"));
}

#[test]
fn what_is_missing_or_doubled_is_named_with_its_command() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let run = ["verify", "--op", "transform", "--lane=host", "--effort=quick"];
    for index in [1, 3] {
        exits(&shard(dir, &run, &format!("{index}/3")), 0);
    }
    let (one, three) = (file("verify", 1, 3), file("verify", 3, 3));
    let missing = exits(&call(dir, &["merge", "--out=merged", &one, &three]), 1);
    assert!(missing.contains("nothing was written"), "{missing}");
    let printed = "tiebreak verify --op transform --lane=host --effort=quick --shard 2/3 --out shards";
    assert_eq!(missing.lines().last().expect("a line").trim(), printed, "{missing}");
    assert!(!dir.join("merged").exists());
    let words: Vec<&str> = printed.split(' ').skip(1).collect();
    exits(&call(dir, &words), 0);
    let two = file("verify", 2, 3);
    let doubled = exits(&call(dir, &["merge", "--out=merged", &one, &two, &three, &two]), 2);
    assert!(
        doubled.contains("overlap: both have the unit") && doubled.contains("--shard 2/3 --out shards"),
        "{doubled}"
    );
    exits(&call(dir, &["merge", "--out=merged", &one, &two, &three]), 0);
    let other =
        ["verify", "--op", "transform", "--lane=host", "--effort=quick", "--seed=2", "--shard=2/3", "--out=others"];
    exits(&call(dir, &other), 0);
    let mixed = exits(&call(dir, &["merge", "--out=mixed", &one, "others/verify-2-of-3.jsonl", &three]), 2);
    assert!(mixed.contains("not of one run") && mixed.contains("--seed=2"), "{mixed}");
}

#[test]
fn what_a_shard_cannot_do_is_refused() {
    let dir = TempDir::new().expect("a temporary directory");
    let with = |more: &[&str]| {
        let output = call(dir.path(), &[&["verify", "--op=dot", "--lane=host", "--shard=1/2"], more].concat());
        exits(&output, 2)
    };
    assert!(with(&["--fail-fast"]).contains("--fail-fast does not go with --shard"));
    assert!(with(&["--format=json"]).contains("--format does not go with --shard: give it to `merge`"));
    assert!(with(&["--seed=random"]).contains("name a number"));
    let stray = exits(&call(dir.path(), &["verify", "--op=dot", "--resume"]), 2);
    assert!(stray.contains("--shard"), "{stray}");
    let wrong = exits(&call(dir.path(), &["verify", "--op=dot", "--shard=3/2"]), 2);
    assert!(wrong.contains("there is no shard 3 of 2"), "{wrong}");
}

#[test]
fn corrupt_prints_the_same_after_a_merge() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let run = ["corrupt", "--op", "dot", "--op", "transform"];
    let whole = call(dir, &[&run, &["--format=json"][..]].concat());
    exits(&whole, 0);
    for index in 1..=3 {
        exits(&shard(dir, &run, &format!("{index}/3")), 0);
    }
    let files: Vec<String> = [2, 3, 1].map(|index| file("corrupt", index, 3)).to_vec();
    let merged = call(dir, &["merge", "--format=json", &files[0], &files[1], &files[2]]);
    exits(&merged, 0);
    assert!(merged.stdout == whole.stdout);
    let mixed = exits(&call(dir, &["merge", &files[0], "nothing.jsonl"]), 2);
    assert!(mixed.contains("nothing.jsonl"), "{mixed}");
}

/// S: audits of many models.
#[test]
fn audit_prints_the_same_after_a_merge() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let models = ["a.tflite", "b.tflite", "c.tflite"];
    models.iter().for_each(|name| fs::write(dir.join(name), crate::models::small()).expect("a model"));
    for format in ["table", "csv", "json"] {
        let run = [&["audit", "--format", format][..], &models].concat();
        let whole = call(dir, &run);
        exits(&whole, 0);
        let text = String::from_utf8_lossy(&whole.stdout).into_owned();
        assert!(models.iter().all(|name| text.contains(name)), "{text}");
        for index in 1..=4 {
            exits(&call(dir, &[&run[..], &["--shard", &format!("{index}/4"), "--out", format]].concat()), 0);
        }
        let files = [3, 1, 4, 2].map(|index| format!("{format}/audit-{index}-of-4.jsonl"));
        let merged = call(dir, &[&["merge"][..], &files.each_ref().map(String::as_str)].concat());
        exits(&merged, 0);
        assert!(merged.stdout == whole.stdout, "{format}");
    }
    let failing = [&["audit", "--to=tvm", "--fail-if-changed"][..], &models].concat();
    let code = call(dir, &failing).status.code();
    exits(&call(dir, &[&failing[..], &["--shard=1/1", "--out=one"]].concat()), 0);
    assert_eq!(call(dir, &["merge", "one/audit-1-of-1.jsonl"]).status.code(), code);
    let unreadable = call(dir, &["audit", "none.tflite", "a.tflite"]);
    assert!(exits(&unreadable, 2).contains("none.tflite"));
    assert!(String::from_utf8_lossy(&unreadable.stdout).contains("a.tflite"), "the other model was audited");
    let twice = exits(&call(dir, &["audit", "a.tflite", "a.tflite", "--shard=1/2"]), 2);
    assert!(twice.contains("a.tflite is there twice"), "{twice}");
}

/// Shard that runs many units in sequence.
const LONG: [&str; 6] = ["verify", "--op", "fpm", "--lane=host", "--effort=quick", "--seed=3"];

fn begun(dir: &Path, least: usize) -> Child {
    let mut command = direct();
    command.args(LONG).args(["--jobs=1", "--shard=1/1", "--out=shards", "--resume"]).current_dir(dir);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("tiebreak starts");
    wait_for("units have ended", || {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it was interrupted");
        (lines(dir) >= least).then_some(())
    });
    child
}

/// Counts the whole lines of the file.
fn lines(dir: &Path) -> usize {
    fs::read(dir.join(file("verify", 1, 1))).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the units of the file, each of which must appear once.
fn units(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join(file("verify", 1, 1))).expect("a file");
    let unit = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("a whole line");
        line["done"]["unit"].as_str().expect("a unit").to_owned()
    };
    let mut units: Vec<String> = text.lines().skip(1).map(unit).collect();
    let all = units.len();
    units.sort();
    units.dedup();
    assert_eq!(units.len(), all, "a unit is there twice");
    units
}

/// A kill, a signal, a full disk, a torn line and a second process, in sequence on one shard: written units stay, and the ledger equals that of an
/// undisturbed run.
#[test]
fn five_interruptions_lose_nothing_and_count_nothing_twice() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let whole = reference(dir, &LONG);
    let mut killed = begun(dir, 3);
    killed.kill().expect("it can be killed");
    assert_eq!(killed.wait().expect("it is dead").signal(), Some(9));
    let kept = lines(dir);
    let mut ended = begun(dir, kept + 2);
    let pid = rustix::process::Pid::from_child(&ended);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it can be asked");
    assert!(!ended.wait().expect("it is dead").success());
    let kept = lines(dir);
    assert!(kept >= 5, "{kept}");
    // A file that cannot grow acts as a full disk, with the same error and without a mount.
    let path = dir.join(file("verify", 1, 1));
    let blocks = fs::metadata(&path).expect("a file").len() / 1024 + 8;
    let limited = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$@\"");
    let mut command = Command::new("bash");
    command.env_remove("TIEBREAK_CALLED_AS").args(["-c", &limited, "bash", env!("CARGO_BIN_EXE_tiebreak")]).args(LONG);
    let full =
        command.args(["--shard=1/1", "--out=shards", "--resume"]).current_dir(dir).output().expect("bash starts");
    let said = exits(&full, 2);
    assert!(said.contains("free some space and continue with --resume"), "{said}");
    let text = fs::read(&path).expect("a file");
    assert!(lines(dir) >= kept && text.ends_with(b"\n"), "a line is torn");
    let before = units(dir);
    // A process that was killed while writing leaves a part of a line.
    let torn = &text[..text.len() - 7];
    fs::write(&path, torn).expect("a file");
    let first = begun(dir, before.len() + 1);
    let second = exits(&shard(dir, &LONG, "1/1"), 2);
    assert!(second.contains("in use by another process"), "{second}");
    exits(&first.wait_with_output().expect("it ends"), 0);
    let after = units(dir);
    assert!(before.iter().all(|unit| after.contains(unit)), "a unit was lost");
    exits(&call(dir, &["merge", "--out=merged", &file("verify", 1, 1)]), 0);
    same(dir, "merged", &whole);
}

/// `plan` names the units of a run, and chooses a number of shards.
#[test]
fn a_plan_has_every_unit_and_ends_in_time() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    let run = ["verify", "--op", "transform", "--lane=host", "--effort=quick"];
    let planned = |more: &[&str]| {
        let output = call(dir, &[&["plan", "--format=json"], more, &run].concat());
        exits(&output, 0);
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    exits(&shard(dir, &run, "1/1"), 0);
    let text = fs::read_to_string(dir.join(file("verify", 1, 1))).expect("a file");
    let head: Value = serde_json::from_str(text.lines().next().expect("a plan")).expect("JSON");
    let names = |value: &Value| value.as_array().expect("a list").clone();
    let plan = planned(&["--sample=2", "--within=2h"]);
    assert_eq!(
        names(&head["shard"]["units"]),
        names(&plan["units"]).iter().map(|unit| unit["unit"].clone()).collect::<Vec<_>>()
    );
    assert_eq!(
        (&plan["shards"], plan["command"].as_str()),
        (&Value::from(1), Some("verify --op transform --lane=host --effort=quick"))
    );
    assert_eq!(names(&plan["units"]).iter().filter(|unit| unit["measured"] == true).count(), 2);
    let unmeasured = planned(&["--sample=0", "--shards=2"]);
    assert!(unmeasured["longest_shard"].is_null() && unmeasured["units"][1]["shard"] == 2);
    let refused = |arguments: &[&str]| exits(&call(dir, arguments), 2);
    assert!(refused(&["plan", "show", "x"]).contains("`show` has no shards"));
    assert!(
        refused(&["plan", "census", "--left=ties-up", "--right=ties-even", "--multiplier=1", "--shift=0"])
            .contains("--space")
    );
    assert!(refused(&["plan", "verify", "--shard=1/2"]).contains("leave it out of the command"));
    assert!(refused(&["plan", "--within=5", "verify"]).contains("no duration"));
    assert!(
        refused(&["plan", "--for=github", "--shards=300", "--sample=0", "verify", "--op=dot", "--lane=host"])
            .contains("256")
    );
}

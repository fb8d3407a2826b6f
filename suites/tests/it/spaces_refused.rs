//! Rejections of `census --space` and `merge`: torn and damaged files, other runs, unsuitable shards, bad calls.

use crate::common::{Run, ended, program, tiebreak};
use crate::spaces::{CHUNK, SOME, bytes, merge, plan, reference, run, some};
use std::path::{Path, PathBuf};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::fpm::scheme::Definition;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_suites::space::{self, Request, merge::contents};

/// Writes a file at `out` with the first `n` chunks of the reference, as an interrupted run leaves it.
fn begun(out: &Path, reference: &Path, n: usize) -> PathBuf {
    let text = String::from_utf8(bytes(reference)).expect("UTF-8");
    let lines: String = text.split_inclusive('\n').take(n + 1).collect();
    std::fs::write(out, lines).expect("it can be written");
    out.to_owned()
}

/// Only an incomplete last line is dropped, of any length. A damaged line before other lines is an error.
#[test]
fn torn_and_damaged_lines() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let reference = reference(dir.path());
    let out = dir.path().join("torn");
    let file = begun(&out, &reference, 4);
    let whole = bytes(&file);
    let chunks = |bytes: &[u8]| contents(bytes).map(|read| read.map(|contents| contents.chunks.len()));
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("lines") + 1;
    let head = whole.iter().position(|byte| *byte == b'\n').expect("lines");
    assert_eq!(chunks(&whole).expect("whole"), Some(4));
    for end in last..whole.len() {
        assert_eq!(chunks(&whole[..end]).expect("torn"), Some(3), "{end}");
    }
    for end in 0..=head {
        assert_eq!(chunks(&whole[..end]).expect("torn"), None, "{end}");
    }
    // A changed digit may give another valid digit, which only a repeated count finds. Every other change is rejected at once.
    for at in (head + 1..last - 1).step_by(7).filter(|at| !whole[*at].is_ascii_digit() && whole[*at] != b'-') {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        let error = chunks(&damaged).expect_err("damaged").to_string();
        assert!(error.starts_with("line "), "{at}: {error}");
    }
    std::fs::write(&file, &whole[..last + 20]).expect("it can be written");
    run(&some(&out, &["--resume"])).exits(0);
    assert!(bytes(&out) == bytes(&reference));
    // The same chunk twice.
    let twice = [&whole[..], &whole[last..]].concat();
    assert!(chunks(&twice).expect_err("twice").to_string().contains("counted twice"));
}

#[track_caller]
fn refused(run: Run, code: i32, words: &[&str]) {
    let run = run.exits(code);
    assert_eq!(run.stdout, "", "{}", run.printed());
    for word in words {
        assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed());
    }
}

#[test]
fn another_run_is_not_gone_on_with() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let reference = reference(dir.path());
    let out = dir.path().join("begun");
    let file = begun(&out, &reference, 4);
    let before = bytes(&file);
    refused(run(&some(&out, &[])), 2, &["begun exists", "--resume", "--out"]);
    let resumed = |more: &[&str]| run(&some(&out, &[&["--resume"], more].concat()));
    let changed = |from: &str, to: &str| {
        let line = some(&out, &["--resume"]).into_iter().map(|a| if a == from { to.to_owned() } else { a });
        run(&line.collect::<Vec<_>>())
    };
    refused(
        changed("--commit=test", "--commit=other"),
        2,
        &["belongs to another run", "commit \"other\" is \"test\" there"],
    );
    refused(changed(SOME[1], "--right=ties-away"), 2, &["right \"ties-away\" is \"sqrdmulh-srshl\" there"]);
    refused(changed(SOME[2], "--shift=-9"), 2, &["shifts [-9,-9] is [-9,-7] there"]);
    refused(changed(CHUNK, "--chunk=501"), 2, &["chunk 501 is 500 there"]);
    refused(resumed(&["--shard=1/2"]), 2, &["shard 1/2 is none there"]);
    let held = std::fs::File::open(&out).expect("it is there");
    held.lock().expect("nobody else has it");
    refused(resumed(&[]), 2, &["begun is in use by another process"]);
    drop(held);
    assert!(bytes(&file) == before, "what is refused is left alone");
    resumed(&[]).exits(0);
    assert!(bytes(&out) == bytes(&reference));
    refused(run(&some(&out, &[])), 2, &["begun exists", "--resume"]);
    refused(changed("--commit=test", "--commit=other"), 2, &["begun belongs to another run"]);
}

#[test]
fn merging_what_does_not_belong_together() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    let shard = |name: &str, more: &[&str]| {
        run(&some(&at(name), more)).exits(0);
        at(name)
    };
    let (one, two) = (shard("one", &["--shard=1/3"]), shard("two", &["--shard=2/3"]));
    let half = shard("half", &["--shard=1/2"]);
    let out = at("merged");
    refused(
        merge(&out, &[one.clone(), half]),
        2,
        &["half and", "overlap: both have shift -9, multipliers 1073741824..1073741999"],
    );
    refused(merge(&out, &[one.clone(), one.clone()]), 2, &["overlap"]);
    run(&some(&at("other"), &["--shard=2/3"]).into_iter().map(|a| a.replace("=test", "=other")).collect::<Vec<_>>())
        .exits(0);
    refused(merge(&out, &[one.clone(), at("other")]), 2, &["are not of one run", "commit \"other\" is \"test\" there"]);
    std::fs::write(
        at("edited"),
        String::from_utf8(bytes(&two)).expect("UTF-8").replacen("{\"total\":{\"pairs\":", "{\"total\":{\"pairs\":1", 1),
    )
    .expect("it can be written");
    refused(merge(&out, &[one.clone(), at("edited")]), 2, &["edited", "is not what its plan and chunks make"]);
    let cut = bytes(&two);
    std::fs::write(at("cut"), &cut[..cut.len() / 2]).expect("it can be written");
    refused(merge(&out, &[one.clone(), at("cut")]), 1, &["missing: "]);
    std::fs::write(at("cut"), &cut[..9]).expect("it can be written");
    refused(merge(&out, &[one.clone(), at("cut")]), 2, &["cut is not the file of a census of a space"]);
    refused(merge(&out, &[at("nowhere")]), 2, &["cannot read", "nowhere"]);
    refused(merge(&one, &[one.clone(), two.clone()]), 2, &["exists: name another file with --out"]);
    assert!(!out.exists());
}

/// Missing chunks are reported with the commands that count them. After these commands, the ledger is complete. The file of an interrupted run is as
/// good as a ledger.
#[test]
fn merging_says_what_is_missing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let reference = reference(dir.path());
    let whole = dir.path().join("begun");
    let file = begun(&whole, &reference, 5);
    let out = dir.path().join("merged");
    let described = merge(&out, std::slice::from_ref(&file)).exits(1);
    assert!(
        described.stderr.contains("missing: 25 of 30 chunks") && described.stdout.is_empty() && !out.exists(),
        "{}",
        described.printed()
    );
    let one = dir.path().join("one");
    run(&some(&one, &["--shard=2/3"])).exits(0);
    let described = merge(&out, std::slice::from_ref(&one)).exits(1);
    let commands: Vec<&str> = described.stderr.lines().filter_map(|line| line.strip_prefix("  cargo xtask ")).collect();
    assert_eq!(commands.len(), 2, "{}", described.printed());
    let mut shards = vec![one];
    for command in commands {
        // The sources have a test's name, and the default output is in the directory of the run.
        let (command, place) = command.split_once(" --out ").expect("a place");
        let place = dir.path().join(place);
        let place = place.to_str().expect("UTF-8").to_owned();
        let words = command.split(' ').chain(["--commit=test", "--out", &place]);
        tiebreak(&words.collect::<Vec<_>>()).exits(0);
        shards.push(place.into());
    }
    merge(&out, &shards).exits(0);
    assert!(bytes(&out) == bytes(&reference));
}

/// A shift in place of the multiplication has no pieces; nothing is written.
#[test]
fn a_scheme_without_closed_form_is_refused() {
    const STEPS: &[(&str, Step)] = &[("shift", Step::PowerOfTwoShift)];
    static OTHER: Definition = Definition { name: "other", summary: "", source: "", steps: STEPS, fast: |_, _| None };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let left = Scheme::parse("ties-up").expect("a scheme");
    let request = Request {
        plan: plan(),
        left,
        right: Scheme { definition: &OTHER, ..left },
        out: dir.path().join("out"),
        resume: false,
        jobs: Some(1),
        verify_all: false,
    };
    let described = space::run(&request).expect_err("it has no closed form").to_string();
    assert!(described.starts_with("other has no closed form at multiplier 1073741824, shift -9"), "{described}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn bad_calls() {
    let with = |more: &[&str]| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let fixed = ["census", "--left=ties-up", "--right=ties-even"];
        let output = program().args(fixed).args(more).current_dir(dir.path()).output().expect("tiebreak starts");
        assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0, "{more:?}");
        ended(output, dir)
    };
    let space = |more: &[&str]| with(&[&["--space=q31"], more].concat());
    refused(with(&["--space=q32"]), 2, &["q32", "--space", "q31"]);
    refused(with(&["--multiplier=1", "--shift=0", "--resume"]), 2, &["--space"]);
    refused(with(&["--multiplier=1", "--shift=0..1"]), 2, &["--shift A..B needs --space"]);
    refused(space(&["--multiplier=1"]), 2, &["--multiplier", "cannot be used with"]);
    refused(space(&["--list=3"]), 2, &["--list", "cannot be used with"]);
    refused(space(&["--shard=0/3"]), 2, &["--shard", "there is no shard 0 of 3"]);
    refused(space(&["--shard=4/3"]), 2, &["there is no shard 4 of 3: I/N goes from 1/N to N/N"]);
    refused(space(&["--shard=1"]), 2, &["--shard", "I/N"]);
    refused(space(&["--shift=1"]), 2, &["--shift 1..1: the space q31 has -31..0"]);
    refused(space(&["--shift=-40..0"]), 2, &["--shift", "-40 is not in -31..=31"]);
    refused(space(&["--shift=0..-3"]), 2, &["0 is above -3"]);
    refused(space(&["--shift=a..b"]), 2, &["`a` is no int32"]);
    refused(
        space(&["--multipliers=5..1073741830"]),
        2,
        &["--multipliers 5..1073741830: the space q31 has 1073741824..2147483647"],
    );
    refused(space(&["--chunk=0"]), 2, &["--chunk 0"]);
    refused(space(&["--chunk=1"]), 2, &["--chunk 1 makes 34359738368 chunks"]);
    refused(space(&["--jobs=0"]), 2, &["--jobs"]);
    refused(tiebreak(&["merge"]), 2, &["<FILE>"]);
}

/// Only a plan in the first line was once checked. A second plan with empty chunks caused a panic.
#[test]
fn a_plan_that_is_not_the_first_line_is_checked_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let text = String::from_utf8(bytes(&reference(dir.path()))).expect("UTF-8");
    let (plan, chunks) = text.split_once('\n').expect("lines");
    let size = CHUNK.trim_start_matches("--chunk=");
    let empty = plan.replace(&format!("\"chunk\":{size}"), "\"chunk\":0");
    assert_ne!(empty, plan, "{plan}");
    let file = dir.path().join("last.jsonl");
    std::fs::write(&file, format!("{chunks}{empty}\n")).expect("it can be written");
    refused(merge(&dir.path().join("out"), &[file]), 2, &["last.jsonl"]);
}

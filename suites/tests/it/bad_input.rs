//! Errors of a caller are reported at once, with a correction and exit code 2.

use crate::common::{GUARD, Run, program, tiebreak, verify};
use std::path::PathBuf;
use std::time::Instant;

/// Checks for exit code 2, empty standard output, and an error with all of `words`.
#[track_caller]
pub(crate) fn refused(run: &Run, words: &[&str]) {
    assert_eq!(run.code, 2, "{}", run.printed());
    assert_eq!(run.stdout, "", "{}", run.printed());
    for word in words {
        assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed());
    }
    // Results of an earlier run must not be mistaken for those of this run.
    let ledger = run.out().join("ledger.json");
    if ledger.exists() {
        assert_eq!(run.ledger()["verdict"], "unfinished", "{}", run.printed());
    }
}

#[test]
fn unknown_names_suggest_the_nearest() {
    refused(&verify(&["--kernel=tvm-neon-rcf"]), &["unknown kernel", "tvm-neon-rcf", "`tvm-neon-rfc`"]);
    refused(&verify(&["--kernel=mutant-dead-fixpu"]), &["unknown kernel", "`mutant-dead-fixup`"]);
    refused(&verify(&["--lane=aarch64-qmeu"]), &["unknown lane", "aarch64-qmeu", "`aarch64-qemu`"]);
    refused(&verify(&["--lane=hots"]), &["unknown lane", "`host`"]);
    refused(&verify(&["--allow-not-run=aarch64-quemu"]), &["unknown lane", "`aarch64-qemu`"]);
    refused(&verify(&["--reference=tie-up"]), &["unknown scheme", "`ties-up`"]);
    refused(&verify(&["--op=fpmm"]), &["unknown operation", "`fpm`"]);
    refused(&verify(&["--op=fmp"]), &["unknown operation", "`fpm`"]);
    // A kernel of another operation than the requested one is unknown.
    refused(&verify(&["--op=instruction", "--kernel=tvm-relay"]), &["tvm-relay is a kernel of fpm", "--op fpm"]);
    refused(&verify(&["--kernel="]), &["unknown kernel"]);
    refused(&tiebreak(&["case", "--x=1", "--multiplier=1", "--shift=0", "--scheme=gemmlow"]), &["`gemmlowp-double`"]);
    let described = verify(&["--kernel=zzz"]);
    refused(&described, &["unknown kernel `zzz`"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    refused(&verify(&["--multiplier=1", "--shift=32"]), &["'32'", "--shift", "-31..=31", "positive = left"]);
    refused(&verify(&["--multiplier=1", "--shift=-32"]), &["'-32'", "-31..=31"]);
    refused(&verify(&["--multiplier=1", "--shift", "-32"]), &["'-32'", "-31..=31"]);
    let int32 = "-2147483648..=2147483647";
    refused(&verify(&["--multiplier=2147483648", "--shift=0"]), &["'2147483648'", "--multiplier", int32]);
    refused(&verify(&["--multiplier=0x40000000", "--shift=0"]), &["'0x40000000'", int32]);
    refused(&verify(&["--multiplier=1", "--shift=0", "--x=2147483648"]), &["'2147483648'", "--x", int32]);
    refused(&verify(&["--multiplier=1", "--shift=0", "--q=32"]), &["'32'", "--q", "0..=31"]);
    refused(&verify(&["--jobs=0"]), &["--jobs", "1..=1024"]);
    refused(&verify(&["--seed=-1"]), &["--seed"]);
    refused(&verify(&["--effort=fast"]), &["--effort", "quick", "standard", "exhaustive"]);
    refused(&verify(&["--format=xml"]), &["--format", "table", "json"]);
    refused(&tiebreak(&["case", "--x=1", "--multiplier=1", "--shift=32"]), &["-31..=31"]);
    refused(&tiebreak(&["case", "--x=1", "--multiplier=2147483648", "--shift=0"]), &["2147483648"]);
}

#[test]
fn options_that_need_or_exclude_others() {
    refused(&verify(&["--x=1"]), &["--multiplier"]);
    refused(&verify(&["--multiplier=1"]), &["--shift"]);
    refused(&verify(&["--shift=1"]), &["--multiplier"]);
    refused(&verify(&["--q=15"]), &["--q", "without them a run covers every format"]);
    refused(&verify(&["--params=a.csv", "--multiplier=1", "--shift=0"]), &["--params", "cannot be used with"]);
    refused(&verify(&["--op=fpm", "quick"]), &["quick"]);
    refused(&tiebreak(&["verfy"]), &["verify"]);
    refused(&tiebreak(&["verify", "--kernal=tvm-relay"]), &["--kernel"]);
}

/// A kernel that was requested by name is not skipped if its contract excludes the given parameters.
#[test]
fn parameters_outside_the_domain_of_the_kernel_asked_for() {
    let given = ["--kernel=tflite-single", "--multiplier=-1", "--shift=0"];
    refused(&verify(&given), &["tflite-single does not take this: m 0..=2147483647, s -31..=30", "0..=2147483647"]);
    let run = verify(&["--multiplier=-1", "--shift=0", "--x=5", "--lane=host", "--op=fpm"]).exits(0);
    assert!(run.stdout.contains("tflite-single"), "listed as outside the domain\n{}", run.printed());
}

/// Runs `verify --params` on a CSV file with these bytes.
fn with_csv(bytes: &[u8]) -> (Run, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("scales.csv");
    std::fs::write(&path, bytes).expect("the temporary directory can be written");
    let params = path.to_string_lossy().into_owned();
    let run = verify(&["--op=fpm", "--kernel=tvm-relay", "--lane=host", "--effort=quick", "--params", &params]);
    (run, path)
}

/// Checks that the error names the file and has all of `words`.
#[track_caller]
fn bad_csv(text: impl AsRef<[u8]>, words: &[&str]) {
    let (run, path) = with_csv(text.as_ref());
    refused(&run, &[&[path.to_string_lossy().as_ref()], words].concat());
}

#[test]
fn csv_files_that_cannot_be_used() {
    bad_csv("a,b\n1,2\n", &["no column `multiplier`", "a, b"]);
    bad_csv("multiplier,b\n1,2\n", &["no column `shift`", "multiplier, b"]);
    bad_csv("", &["is empty", "`multiplier` and `shift`"]);
    bad_csv("multiplier,shift\n", &["no parameters"]);
    bad_csv("multiplier,shift\n1,0\nx,0\n", &[":3: column `multiplier`: `x` is not an int32"]);
    bad_csv("multiplier,shift\n1,0\n\n\n1.5,0\n", &[":5: column `multiplier`: `1.5`"]);
    bad_csv("multiplier,shift\n2147483648,0\n", &[":2: column `multiplier`: `2147483648`", "2147483647"]);
    bad_csv("multiplier,shift\n1,32\n", &[":2: column `shift`: `32` is not a shift in -31..=31"]);
    bad_csv("multiplier,shift\n1,-32\n", &[":2: column `shift`: `-32`"]);
    bad_csv("multiplier,shift\n1,\n", &[":2: column `shift`: `` is not"]);
    bad_csv("multiplier,shift\r\n1,0\r\n2,zero\r\n", &[":3: column `shift`: `zero`"]);
    bad_csv("multiplier,shift\n1,0\n2\n", &[":3", "2 fields", "1 field"]);
    bad_csv("multiplier,shift\n1,0\n1,0,0\n", &[":3", "3 fields"]);
    bad_csv(b"multiplier,shift\n1,0\n\xff,0\n", &[":3", "UTF-8"]);
    bad_csv("name,multiplier,shift\n\"two\nlines\",1,0\nlast,1,x\n", &[":4: column `shift`: `x`"]);
}

#[test]
fn csv_files_that_are_not_there() {
    refused(&verify(&["--params=/nowhere/scales.csv"]), &["cannot read /nowhere/scales.csv", "No such file"]);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let directory = dir.path().to_string_lossy().into_owned();
    refused(&verify(&["--params", &directory]), &[&directory]);
}

/// Returns the number of parameters judged against the contract of the kernel.
fn parameters(text: &str) -> u64 {
    let (run, _) = with_csv(text.as_bytes());
    let ledger = run.exits(0).ledger();
    let rows = crate::common::items(&ledger, "rows");
    assert!(rows.iter().all(|r| r["inputs"].as_u64() > Some(100)));
    rows[0]["parameters"].as_u64().expect("a count")
}

#[test]
fn csv_files_of_every_shape() {
    assert_eq!(parameters("multiplier,shift\n1073741824,-1\n1395864371,-8\n"), 2);
    assert_eq!(parameters("multiplier,shift\r\n1073741824,-1\r\n1395864371,-8\r\n"), 2, "CRLF");
    assert_eq!(parameters("name,shift,scale,multiplier\nconv,-1,0.25,1073741824\n"), 1, "another order, more columns");
    assert_eq!(parameters("\"name\",\"multiplier\",\"shift\"\n\"a, b\",\"1073741824\",\"-1\"\n"), 1, "quoted");
    assert_eq!(parameters(" multiplier , shift \n 1073741824 , -1 \n"), 1, "blanks");
    assert_eq!(parameters("multiplier,shift\n1073741824,-1"), 1, "no newline at the end");
    assert_eq!(parameters("\u{feff}multiplier,shift\n1073741824,-1\n"), 1, "a byte order mark, as spreadsheets write");
    assert_eq!(parameters("multiplier,shift\n1,0\n1,0\n"), 2, "repetitions are channels of their own");
}

/// An impossible output directory is rejected before any work.
#[test]
fn an_output_directory_below_a_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("file");
    std::fs::write(&file, "kept").expect("the temporary directory can be written");
    let begun = Instant::now();
    for out in [file.join("out"), file.clone()] {
        let mut command = program();
        command.args(["verify", "--lane=host", "--effort=exhaustive", "--kernel=tvm-relay", "--out"]).arg(&out);
        let output = command.output().expect("tiebreak starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(&*out.to_string_lossy()) && stderr.contains("--out DIR"), "{stderr}");
        assert!(output.stdout.is_empty());
    }
    assert!(begun.elapsed() < GUARD, "{:?}", begun.elapsed());
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "kept");
}

#[test]
fn lanes_files_that_cannot_be_used() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("lanes.json");
    let refused_with = |words: &[&str]| {
        let run = crate::common::verify_in(&file, &["--lane=host"]);
        refused(&run, &[&[file.to_string_lossy().as_ref()], words].concat());
    };
    refused_with(&["cannot read the lanes file", "No such file"]);
    for text in ["", "{}", "[]", "{\"lanes\":[{\"command\":[]}]}", "{\"lanes\":[{\"name\":\"a\",\"comand\":[]}]}"] {
        std::fs::write(&file, text).expect("the temporary directory can be written");
        refused_with(&["is not a lanes file"]);
    }
}

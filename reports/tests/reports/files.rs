use crate::sample;
use expect_test::expect;
use std::fs;
use std::path::Path;
use tiebreak_reports::files::*;
use tiebreak_reports::html::Earlier;
use tiebreak_reports::ledger::Mismatch;

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the text of an error without the path of the temporary directory.
fn message(error: impl std::fmt::Display, dir: &Path) -> String {
    error.to_string().replace(dir.to_str().unwrap(), "DIR")
}

#[test]
fn the_files_and_nothing_else_in_a_new_directory() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    write_all(&out, &sample::broken(), &sample::mismatches(), Earlier::default()).unwrap();
    assert_eq!(names(&out), [DETAILS, SARIF, JUNIT, LEDGER, MISMATCHES, REPORT, SUMMARY]);
}

#[test]
fn a_ledger_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    for mut ledger in [sample::holding(), sample::broken()] {
        ledger.seconds = 0.1 + 0.2;
        ledger.seed = u64::MAX;
        write_all(dir.path(), &ledger, &[], Earlier::default()).unwrap();
        assert_eq!(read_ledger(&dir.path().join(LEDGER)).unwrap(), ledger);
    }
}

#[test]
fn mismatches_come_back_by_kernel_and_simplest_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut mismatches = sample::mismatches();
    write_all(dir.path(), &sample::holding(), &mismatches, Earlier::default()).unwrap();
    let mut reader = csv::Reader::from_path(dir.path().join(MISMATCHES)).unwrap();
    assert_eq!(reader.headers().unwrap(), &MISMATCH_COLUMNS[..]);
    let back: Vec<Mismatch> = reader.deserialize().map(Result::unwrap).collect();
    mismatches.sort_by_key(|m| (m.op.clone(), m.kernel.clone(), m.lane.clone(), m.against));
    // A line end in a name becomes a space in the file, for any reader.
    mismatches.iter_mut().for_each(|m| m.kernel = m.kernel.replace('\n', " "));
    assert_eq!(back, mismatches);
    let cases: Vec<_> = back.iter().filter(|m| m.kernel == "tvm-neon-rfc").map(|m| m.case.as_str()).collect();
    expect!["x=-3 m=1395864371 s=-8, x=-20 m=1395864371 s=-8, x=46 m=1395864371 s=-8"].assert_eq(&cases.join(", "));
}

#[test]
fn no_mismatches_are_a_header() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path(), &sample::holding(), &[], Earlier::default()).unwrap();
    expect![[r#"
        op,kernel,lane,against,scheme,case,got,expected,class,command
    "#]]
    .assert_eq(&fs::read_to_string(dir.path().join(MISMATCHES)).unwrap());
}

#[test]
fn the_same_ledger_gives_the_same_bytes() {
    let [one, two] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let mut mismatches = sample::mismatches();
    write_all(one.path(), &sample::broken(), &mismatches, Earlier::default()).unwrap();
    mismatches.rotate_left(3);
    write_all(two.path(), &sample::broken(), &mismatches, Earlier::default()).unwrap();
    for name in names(one.path()) {
        let [a, b] = [&one, &two].map(|dir| fs::read(dir.path().join(&name)).unwrap());
        assert_eq!(a, b, "{name}");
    }
}

#[test]
fn a_directory_below_a_file_is_refused_before_and_after_the_run() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let out = dir.path().join("file/out");
    let early = check_writable(&out).unwrap_err();
    expect![
        "cannot create the output directory DIR/file/out: Not a directory (os error 20); name another with --out DIR"
    ]
    .assert_eq(&message(&early, dir.path()));
    let late = write_all(&out, &sample::holding(), &[], Earlier::default()).unwrap_err();
    assert_eq!(late.to_string(), early.to_string());
}

#[test]
fn a_directory_in_the_place_of_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(SUMMARY)).unwrap();
    let early = check_writable(dir.path()).unwrap_err();
    expect![
        "cannot write DIR/summary.md: a directory has that name; move it away, or name another directory with --out DIR"
    ]
    .assert_eq(&message(early, dir.path()));
}

#[test]
fn checking_leaves_nothing_and_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(LEDGER), "of the run before").unwrap();
    check_writable(dir.path()).unwrap();
    assert_eq!(names(dir.path()), [LEDGER]);
    assert_eq!(fs::read_to_string(dir.path().join(LEDGER)).unwrap(), "of the run before");
}

/// Sums of these counts exceed 64 bits. Reports of such a ledger once panicked.
#[test]
fn counts_that_no_run_has_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = sample::holding();
    ledger.rows.iter_mut().for_each(|row| row.inputs = u64::MAX);
    assert!(!ledger.adds_up() && sample::broken().adds_up());
    let path = dir.path().join(LEDGER);
    fs::write(&path, serde_json::to_string(&ledger).unwrap()).unwrap();
    expect!["DIR/ledger.json has counts that add up to more than 2^63, as those of no run do; write it again with `verify --out DIR`"]
        .assert_eq(&message(read_ledger(&path).unwrap_err(), dir.path()));
}

/// A failed write keeps the files of the earlier run, and leaves no other file.
#[test]
fn all_or_none() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(LEDGER), "of the run before").unwrap();
    let blocked = format!(".{JUNIT}.{}.tmp", std::process::id());
    fs::create_dir(dir.path().join(&blocked)).unwrap();
    write_all(dir.path(), &sample::holding(), &[], Earlier::default()).unwrap_err();
    assert_eq!(names(dir.path()), [blocked.as_str(), LEDGER]);
    assert_eq!(fs::read_to_string(dir.path().join(LEDGER)).unwrap(), "of the run before");
}

#[test]
fn what_is_no_ledger_is_said_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(LEDGER);
    let mut said = vec![message(read_ledger(&path).unwrap_err(), dir.path())];
    let texts = ["{\"format\": 4,", "{}", "{\"format\": 1, \"new\": []}", "{\"format\": 3, \"version\": 3}"];
    for text in texts {
        fs::write(&path, text).unwrap();
        said.push(message(read_ledger(&path).unwrap_err(), dir.path()));
    }
    expect![[r#"
        cannot read DIR/ledger.json: No such file or directory (os error 2)
        DIR/ledger.json is not a ledger of format 4: EOF while parsing a value at line 1 column 13; write it again with `verify --out DIR`
        DIR/ledger.json is not a ledger of format 4: missing field `format` at line 1 column 2; write it again with `verify --out DIR`
        DIR/ledger.json has ledger format 1, and this program reads formats 3 to 4; use the version of tiebreak that wrote it
        DIR/ledger.json is not a ledger of format 4: invalid type: integer `3`, expected a string at line 1 column 26; write it again with `verify --out DIR`"#]].assert_eq(&said.join("\n"));
}

//! `show` and `diff`: what is worse in a second run is named, and exit codes say it.

use crate::common::*;
use serde_json::json;
use std::path::Path;

fn diff(old: &Run, new: &Run, more: &[&str]) -> Run {
    let paths = [old.out(), new.out()].map(|path| path.display().to_string());
    tiebreak(&[&["diff", &paths[0], &paths[1]], more].concat())
}

fn run(lane: &Path) -> Run {
    verify_in(lane, &["--lane=mine", "--op=fpm", "--kernel=tvm-relay", "--kernel=gemmlowp-scalar", "--effort=quick"])
}

#[test]
fn a_run_with_a_planted_bug_is_worse_than_one_without() {
    let (honest_dir, lying_dir) = (tempfile::tempdir(), tempfile::tempdir());
    let (honest_dir, lying_dir) = (honest_dir.expect("a directory"), lying_dir.expect("a directory"));
    let worker = worker("host-worker");
    let lie = json!([{"kernel": "tvm-relay", "ties": true}]);
    let honest = run(&lanes_with(honest_dir.path(), "mine", &worker)).exits(0);
    let lying = run(&lanes_with(lying_dir.path(), "mine", &corruptor(lying_dir.path(), &worker, &lie))).exits(1);

    let worse = diff(&honest, &lying, &[]).exits(1);
    let line = worse.stdout.lines().find(|line| line.contains("worse") && line.contains("tvm-relay"));
    let line = line.unwrap_or_else(|| panic!("{}", worse.printed()));
    assert!(line.contains("mine") && line.contains("fpm"), "{line}");
    assert!(worse.stdout.contains("cargo xtask verify ") && !worse.stdout.contains("gemmlowp"), "{}", worse.printed());

    let better = diff(&lying, &honest, &["--format=json"]).exits(0);
    let better: serde_json::Value = serde_json::from_str(&better.stdout).expect("JSON");
    assert_eq!([&better["old"], &better["new"]], ["broken", "holds"]);
    let changes = items(&better, "differences");
    assert!(!changes.is_empty() && changes.iter().all(|d| d["change"] == "better" && d["kernel"] == "tvm-relay"));

    let comment = diff(&honest, &lying, &["--format=markdown"]).exits(1).stdout;
    assert!(comment.starts_with("**") && comment.contains("| worse | fpm | tvm-relay | mine |"), "{comment}");
    assert!(comment.len() < 65_536, "{} bytes", comment.len());

    let equal = diff(&honest, &honest, &[]).exits(0);
    assert!(
        equal.stdout.starts_with("equal: ")
            && equal.stdout.contains(" in 4 comparisons of ")
            && equal.stdout.lines().count() == 1,
        "{}",
        equal.printed()
    );
    let again = tiebreak(&["show", &honest.out().display().to_string()]).exits(0);
    let printed: Vec<&str> = honest.stdout.lines().filter(|line| !line.starts_with("files: ")).collect();
    assert_eq!(again.stdout.lines().collect::<Vec<_>>(), printed);
}

#[test]
fn a_run_that_did_not_end_is_not_compared() {
    let run = verify(&["--op=transform", "--lane=host", "--effort=quick"]).exits(0);
    let dir = tempfile::tempdir().expect("a directory");
    let mut ledger = run.ledger();
    ledger["verdict"] = "unfinished".into();
    let file = dir.path().join("ledger.json");
    std::fs::write(&file, ledger.to_string()).expect("it can be written");
    let file = file.display().to_string();
    let refused = tiebreak(&["diff", &file, &run.out().display().to_string()]).exits(2);
    assert!(refused.stderr.contains("the run did not end"), "{}", refused.printed());
    let missing = tiebreak(&["show", "no-such-ledger.json"]).exits(2);
    assert!(missing.stderr.contains("no-such-ledger.json"), "{}", missing.printed());
}

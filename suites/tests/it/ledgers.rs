//! `show` and `diff`: worse results of a second run are named, and the exit code reports them.

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

/// `--base`: changes are on the screen, in the summary and on the page, before everything but the findings. A base in the run's own directory is read
/// before it is overwritten.
#[test]
fn a_run_states_what_changed_since_its_base() {
    let (honest_dir, lying_dir) = (tempfile::tempdir(), tempfile::tempdir());
    let (honest_dir, lying_dir) = (honest_dir.expect("a directory"), lying_dir.expect("a directory"));
    let worker = worker("host-worker");
    let lie = json!([{"kernel": "tvm-relay", "ties": true}]);
    let lanes = lanes_with(honest_dir.path(), "mine", &worker);
    let honest = run(&lanes).exits(0);
    assert!(!honest.stdout.contains("\nChanged\n") && honest.file("summary.md").contains("**Changed:** not known"));
    let lying = lanes_with(lying_dir.path(), "mine", &corruptor(lying_dir.path(), &worker, &lie));
    let base = honest.out().display().to_string();
    let asked = ["--lane=mine", "--op=fpm", "--kernel=tvm-relay", "--kernel=gemmlowp-scalar", "--effort=quick"];
    let broken = verify_in(&lying, &[&asked[..], &["--base", &base]].concat()).exits(1);
    let (summary, page) = (broken.file("summary.md"), broken.file("report.html"));
    assert!(broken.stdout.contains("\nChanged\n  1 worse, 0 gone"), "{}", broken.printed());
    assert!(broken.stdout.contains("  worse: fpm tvm-relay (mine): finding "), "{}", broken.printed());
    assert!(
        summary.contains("**Changed:** 1 worse") && summary.contains("\n- worse: fpm tvm-relay (mine): "),
        "{summary}"
    );
    assert!(page.contains("<p class=\"bad\">1 worse") && page.find("id=\"new\"") < page.find("id=\"findings\""));
    // The same run again, over its own files.
    let mut again = program();
    again.arg("verify").arg("--lanes").arg(&lanes).args(asked).args(["--base", &base, "--out", &base]);
    let same = again.output().expect("tiebreak starts");
    let printed = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(same.status.success() && printed.contains("  Equal: the same share"), "{printed}");
    let missing = verify_in(&lanes, &[&asked[..], &["--base", "no-such-ledger.json"]].concat()).exits(2);
    assert!(missing.stderr.contains("no-such-ledger.json"), "{}", missing.printed());
}

/// Without `--base`, a run is compared with the latest published run of the same command, whatever the program's name and the output directory.
#[test]
fn the_base_of_a_published_command_is_its_published_run() {
    let asked = ["verify", "--op=transform", "--lane=host", "--effort=quick"];
    let dir = tempfile::tempdir().expect("a directory");
    let verify = |more: &[&str]| {
        let output = program().args(asked).args(more).current_dir(dir.path()).output().expect("tiebreak starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let first = verify(&["--out=reports/published/first"]);
    assert!(!first.contains("\nChanged\n"), "{first}");
    let path = dir.path().join("reports/published/first/ledger.json");
    let mut ledger: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("it is there")).expect("JSON");
    ledger["command"] = "cargo xtask verify --op=transform --lane=host --effort=quick --jobs 2".into();
    ledger["environment"]["date"] = "2000-01-01T00:00:00Z".into();
    std::fs::write(&path, ledger.to_string()).expect("it can be written");
    let second = verify(&[]);
    assert!(second.contains("Changed\n  Equal: ") && second.contains("Against the run of 2000-01-01"), "{second}");
    assert!(!verify(&["--seed=2"]).contains("Against the run of"));
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

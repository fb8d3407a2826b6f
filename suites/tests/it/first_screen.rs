//! Output of a run of everything: one screen if it holds, otherwise the failures in its first lines.

use crate::common::*;
use crate::coverage::{offering, offering_script};
use clap::Parser;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tiebreak_reports::table::Detail;
use tiebreak_suites::cli::Cli;

/// Returns the lines beneath a heading.
fn beneath<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.is_empty()).collect()
}

fn operations(ledger: &Value) -> BTreeSet<&str> {
    items(ledger, "rows").iter().map(|row| row["op"].as_str().expect("a name")).collect()
}

/// The output once had 1,205 lines.
#[test]
fn a_run_of_everything_that_holds_is_one_screen() {
    let Shared { stdout, ledger, details, .. } = whole();
    let lines: Vec<_> = stdout.lines().collect();
    // A line for each operation, and the lines of every run.
    assert!(lines.len() <= 37 + tiebreak_suites::verify::OPS.len(), "{} lines\n{}", lines.len(), stdout);
    // The caller chooses the command and the directory of the files.
    let own = |line: &&&str| !line.starts_with("  cargo xtask verify ") && !line.starts_with("files: ");
    assert!(lines.iter().filter(own).all(|line| line.chars().count() <= 100), "{}", stdout);
    let ops = operations(ledger);
    assert_eq!(ops.len(), tiebreak_suites::verify::OPS.len());
    let shown = beneath(stdout, "Operations");
    for op in ops {
        let of = |line: &&&str| line.split_whitespace().next() == Some(op) && line.contains("exact");
        assert_eq!(shown.iter().filter(of).count(), 1, "{op}\n{}", stdout);
    }
    let checks = items(ledger, "self_checks").iter().filter(|check| check["kind"] == "mutant").count();
    let killed = format!("mutants {checks}/{checks} killed");
    assert!(checks > 50 && beneath(stdout, "Checks")[0].contains(&killed), "{killed}\n{}", stdout);
    assert!(!beneath(stdout, "Not covered").is_empty(), "{}", stdout);
    assert!(stdout.contains("\nholds: every contract held on "), "{}", stdout);
    let files = lines.last().expect("several lines");
    assert!(files.starts_with("files: ") && files.contains("details.md"), "{files}");
    assert!(details.lines().count() > 500);
}

/// Run of everything in a lane with two kernels, one of them wrong only at ties.
#[test]
fn a_kernel_that_fails_in_a_run_of_everything_comes_first() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let lie = json!([{"kernel": "tvm-relay", "ties": true}]);
    let honest = ["/bin/sh".to_owned(), offering_script(dir.path(), &["tvm-relay", "gemmlowp-scalar"])];
    let file = lanes_with(dir.path(), "mine", &corruptor(dir.path(), &honest, &lie));
    let run = verify_in(&file, &["--lane=mine", "--effort=quick"]).exits(1);
    in_the_first_ten_lines(&run, "tvm-relay");
    let shown = beneath(&run.stdout, "Operations");
    assert!(shown.iter().any(|line| line.contains("fpm") && line.contains("1 fails")), "{}", run.printed());
    assert!(run.stdout.contains("\nbroken: ") && run.stdout.lines().count() <= 80, "{}", run.printed());
}

/// A narrowed run prints the tables, with the failures first.
#[test]
fn tables_begin_with_what_fails_too() {
    let run = verify(&["--kernel=mutant-dead-fixup", "--lane=host", "--effort=quick"]).exits(1);
    in_the_first_ten_lines(&run, "mutant-dead-fixup");
    assert!(run.stdout.contains("Differences from the reference (information, no failures)"), "{}", run.printed());
}

/// Run of everything in a lane with one kernel: missing kernels are counted, and `--verbose` prints the tables.
#[test]
fn what_a_lane_does_not_offer_is_on_the_screen_and_verbose_prints_tables() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = offering(dir.path(), "mine", &["tvm-relay"]);
    let call = ["--lane=mine", "--effort=quick"];
    let screen = verify_in(&file, &call).exits(0);
    let gaps = beneath(&screen.stdout, "Not covered");
    assert!(gaps.iter().any(|line| line.contains("mine: the worker offers 1 of ")), "{}", screen.printed());
    assert!(screen.stdout.lines().count() <= 54, "{}", screen.printed());
    let tables = verify_in(&file, &[&call[..], &["--verbose"]].concat()).exits(0);
    let headings = ["Left out", "Catalogue", "Self-check"];
    assert!(headings.iter().all(|heading| !beneath(&tables.stdout, heading).is_empty()), "{}", tables.printed());
    assert!(headings.iter().all(|heading| beneath(&screen.stdout, heading).is_empty()), "{}", screen.printed());
}

fn detail_of(line: &str) -> Detail {
    let words = ["tiebreak", "verify"].into_iter().chain(line.split_whitespace());
    let call = Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
    call.detail().expect("it is verify").unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn a_run_of_everything_is_one_screen_and_a_narrowed_one_is_tables() {
    for line in ["", "--op all", "--effort quick --lane host --seed 3", "--reference ties-away", "--format json"] {
        assert_eq!(detail_of(line), Detail::Screen, "{line}");
    }
    for line in [
        "--verbose",
        "-v --lane host",
        "--op fpm",
        "--op fpm --op dot",
        "--kernel tvm-relay",
        "--multiplier 1 --shift 0",
        "--params channels.csv",
        "--op matmul --case m=1",
        "--model model.tflite",
        "--type !quant.uniform<i8:f32,0.5>",
        "--rounding ties-away",
        "--op all --params channels.csv",
    ] {
        assert_eq!(detail_of(line), Detail::Tables, "{line}");
    }
}

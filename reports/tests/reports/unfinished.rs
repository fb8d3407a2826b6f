//! Run that did not end. No reader of any file may take an old `holds` for its verdict.

use crate::sample;
use quick_junit::Report;
use tiebreak_reports::html::Earlier;
use tiebreak_reports::ledger::{Ledger, Verdict};
use tiebreak_reports::table::{Detail, Style};
use tiebreak_reports::{files, json, junit, markdown, table};

/// Ledger of a run at the time of its interruption.
fn interrupted() -> Ledger {
    Ledger { verdict: Verdict::Unfinished, unfinished: Some("SIGINT interrupted <it>".into()), ..sample::holding() }
}

#[test]
fn a_build_server_takes_it_for_an_error() {
    let report = Report::deserialize_from_str(&junit::render(&interrupted())).unwrap();
    assert_eq!((report.failures, report.errors), (0, 1));
    assert_eq!(report.test_suites[0].test_cases[0].name.as_str(), "the run ends");
}

#[test]
fn a_reviewer_reads_why_and_that_there_is_no_verdict() {
    let page = markdown::render(&interrupted());
    let start = "# Tiebreak: unfinished\n\nNo verdict, because the run did not end: SIGINT interrupted \\<it\\>; until then 0 findings on";
    assert!(page.starts_with(start), "{page}");
    assert!(!page.contains("every contract held"), "{page}");
    let screen = table::render(&interrupted(), Detail::Tables, Style { colour: false, width: None });
    assert!(screen.contains("unfinished: no verdict, because the run did not end"), "{screen}");
}

#[test]
fn a_program_reads_neither_holds_nor_broken() {
    let dir = tempfile::tempdir().unwrap();
    files::write_all(dir.path(), &interrupted(), &[], Earlier::default()).unwrap();
    let written = dir.path().join(files::LEDGER);
    assert_eq!(files::read_ledger(&written).unwrap(), interrupted());
    for text in [std::fs::read_to_string(&written).unwrap(), json::render(&interrupted())] {
        assert!(
            text.contains("\"verdict\": \"unfinished\",\n  \"unfinished\": \"SIGINT interrupted <it>\","),
            "{text}"
        );
    }
    assert_eq!(Ledger::default().verdict, Verdict::Unfinished);
}

use crate::sample;
use expect_test::expect_file;
use quick_junit::{Report, TestCaseStatus};
use tiebreak_reports::junit::render;

#[test]
fn a_holding_run() {
    expect_file!["snapshots/holding.xml"].assert_eq(&render(&sample::holding()));
}

#[test]
fn a_broken_run() {
    expect_file!["snapshots/broken.xml"].assert_eq(&render(&sample::broken()));
}

#[test]
fn a_build_server_fails_exactly_the_broken_run() {
    let read = |xml: &str| Report::deserialize_from_str(xml).unwrap();
    let report = read(&render(&sample::holding()));
    assert_eq!((report.failures, report.errors, report.test_suites[2].skipped), (0, 0, 1));
    let ledger = sample::broken();
    let report = read(&render(&ledger));
    assert_eq!(report.failures + report.errors, ledger.findings.len());
}

/// A finding about a lane that nobody asked for, or about nothing at all, is not lost.
#[test]
fn every_finding_is_told_once() {
    let mut ledger = sample::broken();
    ledger.findings[0].lane = "elsewhere".into();
    ledger.findings[2].lane = String::new();
    let report = Report::deserialize_from_str(&render(&ledger)).unwrap();
    let cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let failed = cases.filter(|case| matches!(case.status, TestCaseStatus::NonSuccess { .. }));
    assert_eq!(failed.count(), ledger.findings.len());
}

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

/// O.5: a run broken by a kept case had no JUnit case for the catalogue. Bounds had no case either.
#[test]
fn everything_that_fails_a_run_has_a_case() {
    let named = |ledger: &tiebreak_reports::ledger::Ledger, class: &str| {
        let report = Report::deserialize_from_str(&render(ledger)).unwrap();
        let cases = report.test_suites.into_iter().flat_map(|suite| suite.test_cases);
        cases.filter(|case| case.classname.as_deref() == Some(class)).collect::<Vec<_>>()
    };
    let failed = |case: &quick_junit::TestCase| matches!(case.status, TestCaseStatus::NonSuccess { .. });
    for class in ["fpm.catalogue", "matmul.bounds", "fpm.self-check", "lane", "fpm"] {
        let cases = named(&sample::holding(), class);
        assert!(!cases.is_empty() && !cases.iter().any(failed), "{class}");
    }
    let mut ledger = sample::broken();
    ledger.catalogue[0].broken = 3;
    ledger.bounds[0].shown = false;
    let mut bound = ledger.findings[0].clone();
    let of = &ledger.bounds[0];
    (bound.op, bound.kernel, bound.lane) = (of.op.clone(), of.kernel.clone(), of.lane.clone());
    (bound.class, bound.message) = ("bound".into(), format!("{} is not 33,025: got 1, exact 2", of.quantity));
    let mut unfound = ledger.clone();
    ledger.findings.push(bound);
    for ledger in [&ledger, &unfound] {
        for class in ["fpm.catalogue", "matmul.bounds"] {
            let cases = named(ledger, class);
            assert!(cases.len() == 1 && failed(&cases[0]), "{class}");
        }
        assert!(named(ledger, "matmul").is_empty(), "the finding is told twice");
    }
    // A lane with nothing else has a suite, too.
    unfound.bounds[0].lane = "elsewhere".into();
    assert!(failed(&named(&unfound, "matmul.bounds")[0]));
}

/// Findings about an unrequested lane, or about no lane at all, are kept.
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

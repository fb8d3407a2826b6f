//! Two runs compared by what their ledgers count.

use crate::sample::{broken, holding};
use tiebreak_reports::diff::{Change, diff};
use tiebreak_reports::ledger::Ledger;
use tiebreak_reports::table::{Style, render_diff};

/// The first row of a run that holds with differences in a class.
fn classed(ledger: &mut Ledger) -> &mut tiebreak_reports::ledger::Row {
    ledger.rows.iter_mut().find(|row| !row.classes.is_empty()).expect("a row with a class")
}

#[test]
fn equal_runs_are_one_line() {
    let same = diff(&holding(), &holding());
    assert!(!same.is_worse() && same.differences.is_empty());
    assert_eq!(render_diff(&same, Style::default()).lines().count(), 1);
    assert_eq!(same.markdown().lines().count(), 1);
}

#[test]
fn shares_are_compared_and_not_counts() {
    let mut twice = holding();
    for row in &mut twice.rows {
        row.inputs *= 2;
        row.classes.values_mut().for_each(|n| *n *= 2);
    }
    assert!(diff(&holding(), &twice).differences.is_empty());
    *classed(&mut twice).classes.values_mut().next().expect("a class") += 1;
    let worse = diff(&holding(), &twice);
    assert!(worse.is_worse() && worse.differences.len() == 1);
    assert_eq!(diff(&twice, &holding()).differences[0].change, Change::Better);
}

#[test]
fn a_new_finding_is_worse_and_a_lost_kernel_is_gone() {
    let mut found = holding();
    found.findings = broken().findings;
    let worse = diff(&holding(), &found);
    assert!(worse.is_worse() && worse.count(Change::Worse) == worse.differences.len());
    let better = diff(&found, &holding());
    assert!(!better.is_worse() && better.count(Change::Better) == worse.differences.len());
    let mut fewer = holding();
    let kernel = fewer.rows[0].kernel.clone();
    fewer.rows.retain(|row| row.kernel != kernel);
    let gone = diff(&holding(), &fewer);
    assert!(gone.count(Change::Gone) > 0 && gone.count(Change::Worse) == 0);
    assert!(gone.differences.iter().all(|d| d.kernel == kernel));
    assert_eq!(diff(&fewer, &holding()).count(Change::New), gone.count(Change::Gone));
}

//! Comparison of two runs by the counts of their ledgers.

use crate::sample::{broken, holding, planned};
use tiebreak_reports::diff::{Change, diff};
use tiebreak_reports::ledger::{Coverage, DropReason, Ledger};
use tiebreak_reports::table::{Style, render_diff};

/// Returns the first row with a class of a run that holds.
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

/// Run that holds, with every row sampled.
fn sampled() -> Ledger {
    let mut ledger = holding();
    ledger.rows.iter_mut().for_each(|row| row.coverage = Coverage::Sampled);
    ledger
}

#[test]
fn one_difference_more_is_worse() {
    let mut more = holding();
    *classed(&mut more).classes.values_mut().next().expect("a class") += 1;
    let worse = diff(&holding(), &more);
    assert!(worse.is_worse() && worse.differences.len() == 1);
    assert_eq!(diff(&more, &holding()).differences[0].change, Change::Better);
}

/// T.7: the sampled and the exhaustive row of a kernel had one key, so the sampled row was compared with nothing.
#[test]
fn each_row_of_a_kernel_is_compared() {
    let both = || {
        let mut ledger = holding();
        ledger.rows.extend(sampled().rows);
        ledger
    };
    let rows = both().rows.len();
    let same = diff(&both(), &both());
    assert!(same.differences.is_empty() && same.compared == rows, "{}", same.line());
    for at in 0..rows {
        let mut worse = both();
        worse.rows[at].classes.insert("planted".to_owned(), 5_632);
        let compared = diff(&both(), &worse);
        assert!(compared.is_worse() && compared.count(Change::Worse) == 1, "row {at}: {}", compared.line());
    }
    // The same is true of rows that are equal in everything, as for several types.
    let mut twice = holding();
    twice.rows.extend(holding().rows);
    let mut worse = twice.clone();
    worse.rows[0].classes.insert("planted".to_owned(), 1);
    assert_eq!(diff(&twice, &worse).count(Change::Worse), 1);
}

/// Change of a run, with the expected description.
type Changed = (&'static str, fn(&mut Ledger));

/// O.5: two runs with different plans were compared, and 160 rows were called worse.
#[test]
fn rows_of_different_plans_are_not_compared() {
    let plans: [Changed; 8] = [
        ("seed: 1 in the first run, 2 in the second", |l| l.seed = 2),
        ("effort: exhaustive in the first run, quick in the second", |l| l.effort = "quick".into()),
        ("--multiplier 1395864371 --shift -8", |l| l.command = l.command.replace("=-8", "=-7")),
        ("judged against: gemmlowp-double:wrap in the first run", |l| {
            l.rows.iter_mut().for_each(|row| row.scheme += ":saturate")
        }),
        ("parameters: 1 in the first run, 2", |l| l.rows.iter_mut().for_each(|row| row.parameters = 2)),
        ("inputs: 4,294,967,296 in the first run, 8,589,934,592", |l| {
            l.rows.iter_mut().for_each(|row| row.inputs *= 2);
        }),
        ("given pairs planned: 9 in the first run, 10 in the second", |l| of_pairs(l, 10, &[])),
        ("given pairs to run: 9 in the first run, 8 in the second", |l| {
            of_pairs(l, 9, &[(DropReason::OutsideDomain, 1)]);
        }),
    ];
    for (says, change) in plans {
        let (mut old, mut new) = (holding(), holding());
        of_pairs(&mut old, 9, &[]);
        of_pairs(&mut new, 9, &[]);
        change(&mut new);
        new.rows.iter_mut().for_each(|row| row.classes.extend([("planted".to_owned(), 7)]));
        let compared = diff(&old, &new);
        let rows = compared.count(Change::PlanChanged);
        assert!(rows == old.rows.len() && rows == compared.differences.len(), "{says}: {}", compared.line());
        assert!(!compared.is_worse() && compared.nothing_compared().is_some_and(|why| why.contains(says)), "{says}");
        assert_eq!(compared.reasons().iter().map(|(_, n)| n).sum::<usize>(), rows);
        assert!(compared.markdown().contains(" rows: ") && compared.line().contains("plan changed"));
    }
    let mut part = holding();
    part.rows[0].parameters = 2;
    let compared = diff(&holding(), &part);
    assert!(compared.nothing_compared().is_none() && compared.compared == part.rows.len() - 1);
}

/// Plans the same number of pairs for every kernel.
fn of_pairs(ledger: &mut Ledger, pairs: u64, dropped: &[(DropReason, u64)]) {
    ledger.planned = ledger.rows.iter().map(|row| planned(&row.kernel, &row.lane, pairs, dropped)).collect();
}

/// A kernel that stopped answering has fewer inputs of the same plan. The plan did not change.
#[test]
fn a_kernel_that_gave_up_is_still_compared() {
    let (mut old, mut new) = (holding(), holding());
    of_pairs(&mut old, 9, &[]);
    of_pairs(&mut new, 9, &[(DropReason::GivenUp, 4)]);
    new.rows.iter_mut().for_each(|row| row.inputs /= 2);
    assert!(diff(&old, &new).is_worse() && diff(&old, &new).count(Change::PlanChanged) == 0);
}

/// A finding that is gone may still exist if the second run planned other cases.
#[test]
fn a_finding_that_was_not_looked_for_is_not_better() {
    let mut found = holding();
    found.findings = broken().findings;
    let other = Ledger { seed: 2, ..holding() };
    let compared = diff(&found, &other);
    assert_eq!(compared.count(Change::Better), 0);
    assert!(!compared.is_worse());
    // A new finding counts for any plan.
    assert!(diff(&other, &found).is_worse());
}

/// T.7: vanished kernels were `gone`, but the exit code was 0.
#[test]
fn what_vanished_is_a_failure_unless_nobody_asked_for_it() {
    let without = |command: &str| {
        let mut ledger = holding();
        ledger.rows.retain(|row| row.kernel != "tvm-relay" || row.lane != "host");
        ledger.command += command;
        ledger
    };
    let gone = diff(&holding(), &without(""));
    assert!(gone.is_worse() && gone.count(Change::Gone) == 1, "{}", gone.line());
    for command in [" --kernel gemmlowp-neon --kernel=tvm-neon-rfc", " --lane aarch64-qemu", " --allow-not-run host"] {
        let compared = diff(&holding(), &without(command));
        assert!(!compared.is_worse() && compared.count(Change::NotAsked) == 1, "{command}: {}", compared.line());
        assert!(compared.markdown().contains("\n1 row: "), "{}", compared.markdown());
    }
    for command in
        [" --kernel tvm-relay", " --lane host --lane aarch64-qemu", " --allow-not-run aarch64-native", " --jobs 2"]
    {
        assert!(diff(&holding(), &without(command)).is_worse(), "{command}");
    }
    let mut no_operation = holding();
    no_operation.rows.clear();
    assert!(diff(&holding(), &no_operation).count(Change::Gone) > 1);
    no_operation.command = "cargo xtask verify --op add".into();
    assert!(!diff(&holding(), &no_operation).is_worse());
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

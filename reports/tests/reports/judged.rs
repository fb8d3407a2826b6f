//! Verdicts count only inputs of contracts. The first page of a default run claimed 323,602,458 inputs, but contracts had judged only 319,530,006.
//! The page had used the larger count of a kernel's two rows, and a reference has values for which a contract promises none.

use crate::sample;
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use tiebreak_reports::ledger::{Against, Ledger};
use tiebreak_reports::table::{Detail, Style, render};
use tiebreak_reports::{html, json, junit, left_out, markdown, summary};

/// Run of three kernels in two lanes. Only the reference has values for one kernel; for another, it has more values than the contract.
fn of_references() -> Ledger {
    let mut ledger = sample::holding();
    for row in ledger.rows.iter_mut().filter(|row| row.against == Against::Contract) {
        let without = match row.kernel.as_str() {
            "tvm-relay" => row.inputs,
            "tvm-neon-rfc" => 1_000,
            _ => 0,
        };
        (row.inputs, row.out_of_domain) = (row.inputs - without, without);
    }
    ledger
}

/// Inputs judged in two lanes: all of gemmlowp-neon, all but a thousand of tvm-neon-rfc, none of tvm-relay.
const JUDGED: &str = "17,179,867,184";

#[test]
fn totals_are_of_what_contracts_judged() {
    let ledger = of_references();
    let said =
        format!("{JUDGED} inputs, 3 kernels (2 differ from their references, 1 not judged), 2 lanes (1 not run)");
    let page = html::render(&ledger, html::Earlier::default());
    for (name, text) in [
        ("screen", render(&ledger, Detail::Screen, Style::default())),
        ("tables", render(&ledger, Detail::Tables, Style::default())),
        ("summary", summary::render(&ledger, html::Earlier::default())),
        ("page", page.clone()),
    ] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&said), "{name}: {text}");
    }
    // Totals of the operation and of each lane.
    assert!(
        summary::render(&ledger, html::Earlier::default())
            .contains(&format!("\n| fpm | 3 | 2 | {JUDGED} exhaustive | exact, 1 not judged | "))
    );
    assert!(render(&ledger, Detail::Screen, Style::default()).contains("2 kernels  8,589,933,592 inputs"));
    assert!(page.contains("8,589,933,592"));
    assert_eq!(ledger.rows.iter().map(|row| row.judged()).sum::<u64>().to_string(), JUDGED.replace(',', ""));
    // The rows themselves are unchanged.
    assert!(json::render(&ledger).contains("\"inputs\": 4294967296"));
}

#[test]
fn a_kernel_that_only_its_reference_judged_is_named_in_each_lane() {
    let ledger = of_references();
    assert_eq!(left_out::unjudged(&ledger), [["fpm", "tvm-relay", "host"], ["fpm", "tvm-relay", "aarch64-qemu"]]);
    let tables = render(&ledger, Detail::Tables, Style::default());
    assert!(tables.contains("tvm-relay (host): kept cases apart, no input was judged by a contract"), "{tables}");
    assert!(tables.contains("tvm-relay (aarch64-qemu): no input was judged by a contract"), "{tables}");
    assert!(tables.lines().any(|line| line.contains("tvm-relay") && line.contains("not judged")), "{tables}");
    let screen = render(&ledger, Detail::Screen, Style::default());
    let unjudged = "kept cases apart, no contract judged an input of 1 kernel: fpm tvm-relay (host, aarch64-qemu)";
    assert!(screen.split_whitespace().collect::<Vec<_>>().join(" ").contains(unjudged), "{screen}");
    assert!(markdown::render(&ledger).contains("`ties-up:wrap` nothing compared"));
}

/// A lane with values of references only judged nothing.
#[test]
fn a_lane_of_references_is_idle() {
    let mut ledger = of_references();
    ledger.rows.retain(|row| row.lane == "host" || row.kernel == "tvm-relay");
    assert_eq!(left_out::idle_lanes(&ledger), ["aarch64-qemu"]);
}

/// A build server must not count an unjudged kernel as passed.
#[test]
fn a_kernel_that_was_not_judged_has_not_passed() {
    let report = Report::deserialize_from_str(&junit::render(&of_references())).expect("JUnit");
    let cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let cases: Vec<_> = cases.filter(|case| case.name.starts_with("tvm-relay ")).collect();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let TestCaseStatus::Skipped { message, .. } = &case.status else { panic!("{:?}", case.status) };
        assert_eq!(message.as_ref().map(|m| m.as_str()), Some(left_out::NOTHING_JUDGED));
    }
    let broken = Report::deserialize_from_str(&junit::render(&sample::broken())).expect("JUnit");
    let failed = |case: &&quick_junit::TestCase| {
        matches!(case.status, TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. })
    };
    assert!(broken.test_suites.iter().flat_map(|suite| &suite.test_cases).any(|case| failed(&case)));
}

/// `nothing-new` was counted on the screen of a full run, but not on that of a narrowed run.
#[test]
fn what_quick_effort_spares_is_said_on_each_screen() {
    use tiebreak_reports::ledger::DropReason;
    let mut planned = sample::planned("tvm-relay", "aarch64-qemu", 400, &[(DropReason::NothingNew, 350)]);
    planned.unit = tiebreak_reports::ledger::Unit::Case;
    let ledger = Ledger { planned: vec![planned], effort: "quick".into(), ..sample::holding() };
    for (name, text) in [
        ("screen", render(&ledger, Detail::Screen, Style::default())),
        ("tables", render(&ledger, Detail::Tables, Style::default())),
        ("details", markdown::render(&ledger)),
        ("summary", summary::render(&ledger, html::Earlier::default())),
    ] {
        assert!(text.contains("aarch64-qemu: quick effort left out 350 of 400 cases of 1 kernel ("), "{name}: {text}");
    }
}

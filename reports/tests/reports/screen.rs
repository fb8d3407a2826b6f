//! One screen for a run of everything, whatever its results.

use crate::{everything, sample};
use expect_test::expect_file;
use tiebreak_reports::ledger::*;
use tiebreak_reports::markdown;
use tiebreak_reports::table::{Detail, Style, format_files, render};

fn screen(ledger: &Ledger) -> String {
    render(ledger, Detail::Screen, Style { colour: false, width: Some(100) })
}

/// Returns the lines beneath a heading.
fn beneath<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = page.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// The output had 1,205 lines before this screen.
#[test]
fn a_run_of_everything_fits_one_screen() {
    let ledger = everything::holding();
    let kernels: std::collections::BTreeSet<_> = ledger.rows.iter().map(|row| (&row.op, &row.kernel)).collect();
    assert_eq!((kernels.len(), ledger.lanes.len()), (180, 5));
    let page = screen(&ledger);
    expect_file!["snapshots/screen-everything.txt"].assert_eq(&page);
    for width in [Some(100), Some(120), Some(250), None] {
        let style = Style { colour: false, width };
        let page = render(&ledger, Detail::Screen, style) + &format_files("tiebreak-out".as_ref(), style);
        assert!(page.lines().count() <= 54, "{} lines\n{page}", page.lines().count());
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    }
    assert!(render(&ledger, Detail::Tables, Style::default()).lines().count() > 200);
}

/// Each operation has one line, with the sum of its rows' inputs.
#[test]
fn each_operation_has_its_line() {
    let ledger = everything::holding();
    let page = screen(&ledger);
    let lines = beneath(&page, "Operations");
    assert_eq!(lines.len(), 3 + 10 + 1, "heading, ten operations, the deviations: {page}");
    for line in &lines[3..13] {
        let words: Vec<_> = line.split_whitespace().collect();
        let of = |row: &&Row| row.op == words[0] && row.against == Against::Contract;
        let inputs: u64 = ledger.rows.iter().filter(of).map(|row| row.inputs).sum();
        assert_eq!(words[2].replace(',', ""), inputs.to_string(), "{line}");
    }
    assert!(lines[13].contains("* 2 kernels deviate on 95,504,616 inputs, as their contracts declare"), "{page}");
}

#[test]
fn a_small_run_that_holds() {
    expect_file!["snapshots/screen-holding.txt"].assert_eq(&screen(&sample::holding()));
}

/// The first ten lines have kernel, class, witness and command; the summary of every run follows.
#[test]
fn what_fails_comes_first() {
    let page = screen(&sample::broken());
    expect_file!["snapshots/screen-broken.txt"].assert_eq(&page);
    let first: Vec<_> = page.lines().take(10).collect();
    let first = first.join("\n");
    for said in [
        "gemmlowp-neon aarch64-qemu",
        "x=-1 m=1073741825 s=-1: got 0, gemmlowp-double -1",
        "class tie-direction",
        "cargo xtask verify --op fpm --kernel gemmlowp-neon --multiplier=1073741825 --shift=-1",
    ] {
        assert!(first.contains(said), "no `{said}` in\n{page}");
    }
    for heading in ["Lanes", "Operations", "Checks", "Not covered"] {
        assert!(!beneath(&page, heading).is_empty(), "{heading}");
    }
    // The tables also begin with the findings.
    let tables = render(&sample::broken(), Detail::Tables, Style::default());
    assert!(tables.starts_with("Findings\n  fpm gemmlowp-neon aarch64-qemu x=-1"), "{tables}");
}

/// The command is near, however long the explanation is.
#[test]
fn the_command_is_in_the_first_ten_lines() {
    let mut ledger = sample::broken();
    let finding = &mut ledger.findings[0];
    finding.message = "differs from its contract on many inputs of many kinds ".repeat(40);
    let witness = finding.witness.as_mut().expect("a witness");
    witness.because = "one rounding more than the contract has reproduces every output ".repeat(40);
    let command = witness.command.clone();
    for width in [80, 100, 200] {
        let page = render(&ledger, Detail::Screen, Style { colour: false, width: Some(width) });
        let first: Vec<_> = page.lines().take(10).map(str::trim).collect();
        assert!(first.contains(&command.as_str()) && page.contains("..."), "{page}");
    }
    // A cut text ends with a whole word, for any position of the cut.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for moved in 0..20 {
        ledger.findings[0].message.insert(0, 'x');
        let whole = words(&markdown::render(&ledger));
        let page = words(&render(&ledger, Detail::Screen, Style { colour: false, width: Some(100) }));
        let before: Vec<_> = page.windows(2).filter(|pair| pair[1] == "...").map(|pair| &pair[0]).collect();
        assert!(!before.is_empty() && before.iter().all(|word| whole.contains(word)), "moved by {moved}: {before:?}");
    }
    let tables = render(&ledger, Detail::Tables, Style::default());
    assert!(!tables.contains("...") && !markdown::render(&ledger).contains("..."), "{tables}");
}

/// Six of 77 findings are listed, each of another kernel, wrong results before their possible consequences. The rest are counted.
#[test]
fn many_findings_are_bounded() {
    let ledger = everything::broken();
    let page = screen(&ledger);
    // 36 kernels differ in two lanes each, and both lanes share a finding.
    assert_eq!(ledger.findings.len(), 77);
    let findings = beneath(&page, "Findings, 6 of 41");
    let kernels: std::collections::BTreeSet<_> = findings.iter().filter(|line| line.contains("class ")).collect();
    assert_eq!(kernels.len(), 6, "{page}");
    assert!(findings[0].contains("class crash") && findings[2].contains("class tie-direction"), "{page}");
    assert_eq!(findings.last(), Some(&"  and 35 more findings, see details.md"));
    assert!(!page.contains("class self-check") && !page.contains("class not-run"), "{page}");
    let failing = |op: &str| beneath(&page, "Operations").into_iter().find(|line| line.contains(op)).map(str::to_owned);
    assert!(failing("matmul").is_some_and(|line| line.contains("18 fail")), "{page}");
    assert!(failing("conv2d").is_some_and(|line| line.contains("exact")), "{page}");
    let tables = render(&ledger, Detail::Tables, Style::default());
    let listed = beneath(&tables, "Findings").iter().filter(|line| line.contains(", class ")).count();
    assert_eq!(listed, 41, "tables bound nothing");
    assert!(page.lines().count() <= 80, "{page}");
}

/// Run with lanes, kernels, parameters and cases that were not covered, each with its number.
fn with_gaps() -> Ledger {
    let mut ledger = everything::holding();
    for lane in &mut ledger.lanes[2..] {
        let reason = "mlir-opt and llc are not installed; `cargo xtask setup --with mlir` installs them".to_owned();
        lane.status = LaneStatus::NotRun { reason, allowed: true };
    }
    let idle = Lane { name: "mine".into(), ..ledger.lanes[0].clone() };
    ledger.lanes.push(idle);
    ledger.rows.retain(|row| !row.lane.starts_with("mlir"));
    (ledger.agreements, ledger.unchecked, ledger.proofs) = (Vec::new(), Vec::new(), None);
    ledger.rows.iter_mut().filter(|row| row.op == "dot").for_each(|row| {
        (row.inputs, row.differ, row.classes) = (0, 0, Default::default());
    });
    let given = [(DropReason::OutsideDomain, 999)];
    ledger.planned.extend((0..17).map(|nth| sample::planned(&format!("relay-{nth}"), "host", 1000, &given)));
    let not_offered = [(DropReason::NotOffered, 4)];
    ledger.planned.extend((0..12).map(|nth| sample::planned(&format!("relay-{nth}"), "mine", 4, &not_offered)));
    let outside =
        |nth| OutsideDomain { op: "fpm".into(), kernel: format!("left-{nth}"), domain: "shifts 1..=31".into() };
    ledger.outside_domain = (0..9).map(outside).collect();
    ledger
}

#[test]
fn what_was_not_covered_is_counted() {
    let ledger = with_gaps();
    let page = screen(&ledger);
    expect_file!["snapshots/screen-gaps.txt"].assert_eq(&page);
    let text = beneath(&page, "Not covered").join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "no contract judged an input in 1 lane: mine",
        "no contract judged an input of 17 kernels: dot dot-kernel-0 (host, aarch64-qemu), ",
        "and 14 more",
        "999 of 1,000 pairs given not run, the first m=5 s=31: outside its domain",
        "mine: the worker offers 0 of 12 kernels",
        "mlir-x86, mlir-aarch64, mlir-aarch64-bf16 not run: mlir-opt and llc are not installed",
        "9 kernels did not run, with no parameter or lane of this run (shifts 1..=31): fpm left-0, ",
    ] {
        assert!(text.contains(said), "no `{said}` in\n{page}");
    }
    assert!(page.lines().count() <= 54 && page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let dot = beneath(&page, "Operations").into_iter().find(|line| line.contains("dot ")).map(str::to_owned);
    assert!(dot.is_some_and(|line| line.contains("not judged") && !line.contains("exact")), "{page}");
}

/// Gaps that do not fit the screen are counted, and the details have them.
#[test]
fn reasons_beyond_the_screen_are_counted_and_in_the_details() {
    let ledger = with_gaps();
    let page = screen(&ledger);
    let last = beneath(&page, "Not covered").pop().map(str::to_owned);
    assert_eq!(last.as_deref(), Some("  and 2 more reasons, see details.md"), "{page}");
    let details = markdown::render(&ledger);
    assert!(details.contains("- inputs: 292 of 310 pairs of kernel and lane ran on samples"), "{details}");
    assert!(details.contains("- models: vector code ran as a portable model"), "{details}");
    let mut many = everything::holding();
    let host = many.lanes[0].clone();
    many.lanes.extend((0..30).map(|nth| Lane { name: format!("mine-{nth}"), ..host.clone() }));
    assert!(screen(&many).lines().count() < 54, "{}", screen(&many));
    assert_eq!(beneath(&screen(&many), "Lanes").last(), Some(&"  and 28 more lanes, see details.md"));
}

/// A kernel that only some lanes judged is not called exact.
#[test]
fn an_operation_with_an_unjudged_kernel_is_not_exact() {
    let mut ledger = everything::holding();
    let of = |row: &&mut Row| row.kernel == "matmul-kernel-3" && row.lane == "aarch64-qemu";
    ledger.rows.iter_mut().filter(of).for_each(|row| row.inputs = 0);
    let page = screen(&ledger);
    let line = beneath(&page, "Operations").into_iter().find(|line| line.contains("matmul")).map(str::to_owned);
    assert!(line.is_some_and(|line| line.contains("exact, 1 not judged")), "{page}");
}

#[test]
fn a_failed_check_is_described() {
    let mut ledger = everything::holding();
    ledger.self_checks.iter_mut().take(7).for_each(|check| check.passed = false);
    ledger.self_checks[0].seen = "equal on 4,194,304 inputs".into();
    let page = screen(&ledger);
    let checks = beneath(&page, "Checks");
    assert!(checks.iter().any(|line| line.contains("equal on 4,194,304 inputs (must be class")), "{page}");
    assert!(checks.contains(&"  and 2 more failed checks, see details.md"), "{page}");
}

#[test]
fn colour_changes_no_character_of_the_screen() {
    for ledger in [sample::holding(), sample::broken(), everything::broken(), with_gaps()] {
        let coloured = render(&ledger, Detail::Screen, Style { colour: true, width: Some(100) });
        assert!(coloured.contains("\x1b["));
        assert_eq!(crate::table::stripped(&coloured), screen(&ledger));
    }
}

#[test]
fn a_run_of_nothing_says_so_on_one_screen() {
    let mut ledger = sample::holding();
    (ledger.rows, ledger.self_checks) = (Vec::new(), Vec::new());
    let page = screen(&ledger);
    assert_eq!(beneath(&page, "Operations"), ["  none ran"], "{page}");
    assert!(beneath(&page, "Not covered")[0].contains("no contract judged an input in 2 lanes"), "{page}");
}

/// Origin: issue 30, item 17: a dozen kernels were listed one by one, although the driver that they share was at fault.
#[test]
fn kernels_that_fail_alike_are_one_finding() {
    let mut ledger = sample::broken();
    let first = ledger.findings.iter().find(|f| f.witness.as_ref().is_some_and(|w| w.expected.is_some()));
    let first = first.expect("one with a witness").clone();
    let because = "no known cause reproduces all 4,096 results examined; \
        only where k >= 2 (all 4,096 cases kept that differ, none of 30 that do not), only elements i >= 256";
    let kernels = ["one", "two", "three", "four", "five"];
    let of = |(i, kernel): (usize, &&str)| {
        let because = because.replace("4,096", &(4096 + i).to_string());
        let witness = first.witness.clone().map(|witness| Witness { because, ..witness });
        Finding { op: "matmul".into(), kernel: (*kernel).into(), class: "unexplained".into(), witness, ..first.clone() }
    };
    ledger.findings = kernels.iter().enumerate().map(of).collect();
    let page = screen(&ledger);
    let lines = beneath(&page, "Findings").len();
    assert!(page.contains("the same in 5 kernels of matmul"), "{page}");
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("examine the shared code first; one, two, three and 2 more"), "{page}");
    assert!(!page.contains("matmul two "), "{page}");
    assert!(lines < 10, "{page}");
    // Three kernels may fail alike by chance.
    ledger.findings.truncate(3);
    assert!(!screen(&ledger).contains("the same in"), "{page}");
}

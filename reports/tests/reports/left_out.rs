//! The screen and the summary name the uncovered inputs of a run with the same text.

use crate::sample;
use tiebreak_reports::ledger::{DropReason, Ledger, Range, Unchecked};
use tiebreak_reports::table::{Detail, Style, render};
use tiebreak_reports::{left_out, markdown};

/// Returns the lines beneath a heading.
fn beneath(ledger: &Ledger, heading: &str) -> Vec<String> {
    let page = render(ledger, Detail::Tables, Style::default());
    let lines = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.is_empty());
    lines.map(|line| line.trim().to_owned()).collect()
}

fn holding_with(planned: Vec<tiebreak_reports::ledger::Planned>) -> Ledger {
    Ledger { planned, ..sample::holding() }
}

#[test]
fn nothing_is_said_where_nothing_is_left_out() {
    let ledger = holding_with(vec![sample::planned("tvm-relay", "host", 4, &[])]);
    assert_eq!(beneath(&ledger, "Left out"), [""; 0]);
    // Parameters of a plan outside a kernel's domain were never meant to run.
    let mut plan = sample::planned("tvm-relay", "host", 4, &[(DropReason::OutsideDomain, 1)]);
    plan.given = false;
    assert_eq!(beneath(&holding_with(vec![plan]), "Left out"), [""; 0]);
}

#[test]
fn parameters_given_are_counted_kernels_and_lanes_together() {
    let some = [(DropReason::OutsideDomain, 999)];
    let planned = ["tvm-relay", "gemmlowp-neon"]
        .iter()
        .flat_map(|kernel| ["host", "aarch64-qemu"].map(|lane| sample::planned(kernel, lane, 1000, &some)));
    let ledger = holding_with(planned.collect());
    let expected = "fpm tvm-relay, fpm gemmlowp-neon (host, aarch64-qemu): 999 of 1,000 pairs given not run, the first m=5 s=31: \
                outside its domain, shifts -31..=0";
    assert_eq!(beneath(&ledger, "Left out"), [expected]);
    assert!(
        markdown::render(&ledger).contains("- left out: fpm tvm-relay, fpm gemmlowp-neon (host, aarch64-qemu): 999")
    );
    let given_up = sample::planned("tvm-relay", "host", 4, &[(DropReason::GivenUp, 3)]);
    assert_eq!(beneath(&holding_with(vec![given_up]), "Left out").len(), 1);
}

#[test]
fn what_a_lane_does_not_offer_is_one_line() {
    let not = [(DropReason::NotOffered, 4)];
    let planned = vec![
        sample::planned("tvm-relay", "mine", 4, &[]),
        sample::planned("tvm-neon-rfc", "mine", 4, &not),
        sample::planned("gemmlowp-neon", "mine", 4, &not),
    ];
    let expected = "mine: the worker offers 1 of 3 kernels of fpm; other kernels do not run there";
    assert_eq!(beneath(&holding_with(planned), "Left out"), [expected]);
}

/// Rows without an input, and a lane that ran without a row.
#[test]
fn kernels_and_lanes_that_judged_nothing() {
    let mut ledger = sample::holding();
    ledger.rows.retain(|row| row.lane == "host");
    ledger.rows.iter_mut().filter(|row| row.kernel == "tvm-relay").for_each(|row| row.inputs = 0);
    assert_eq!(left_out::unjudged(&ledger), [["fpm", "tvm-relay", "host"]]);
    assert_eq!(left_out::idle_lanes(&ledger), ["aarch64-qemu"]);
    let expected = ["tvm-relay (host): kept cases apart, no input was judged", "aarch64-qemu: no input was judged"];
    let lines = beneath(&ledger, "Left out");
    assert!(
        lines.len() == 2 && lines.iter().zip(expected).all(|(line, expected)| line.starts_with(expected)),
        "{lines:?}"
    );
}

/// Issue 30, item 6: `no input was judged` was printed next to `23 outputs, all as promised` for a lane whose worker had stopped answering.
#[test]
fn kept_cases_without_an_answer_are_counted() {
    let mut ledger = sample::holding();
    ledger.rows.retain(|row| row.lane == "host");
    ledger.rows.iter_mut().for_each(|row| row.inputs = 0);
    (ledger.catalogue[0].judged, ledger.catalogue[0].unanswered) = (23, 17);
    assert_eq!(
        beneath(&ledger, "Catalogue"),
        ["fpm host: 40 cases, 23 outputs, as promised, 17 cases without an answer"]
    );
    let screen = render(&ledger, Detail::Screen, Style::default());
    assert!(screen.contains("40 kept cases, 23 outputs, as promised, 17 cases without an answer"), "{screen}");
    assert!(screen.contains("kept cases apart, no contract judged an input of "), "{screen}");
    assert!(!screen.contains("all as promised"), "{screen}");
}

/// Issue 31, item 1: cases that quick effort omits in a further lane are counted by lane, and their kernels named.
#[test]
fn what_a_lane_is_spared_is_named() {
    let spared = |kernel: &str, lane: &str| {
        let mut planned = sample::planned(kernel, lane, 8, &[(DropReason::NothingNew, 7)]);
        planned.unit = tiebreak_reports::ledger::Unit::Case;
        planned
    };
    let ledger = holding_with(vec![
        spared("tvm-relay", "mine"),
        spared("gemmlowp-scalar", "mine"),
        spared("tvm-relay", "other"),
    ]);
    let ledger = Ledger { effort: "quick".into(), ..ledger };
    let why = "their code also runs in another lane or operation, and equals the first lane in the cases that ran";
    let expected = [
        format!("mine: quick effort left out 14 of 16 cases of 2 kernels (fpm tvm-relay, fpm gemmlowp-scalar): {why}"),
        format!("other: quick effort left out 7 of 8 cases of 1 kernel (fpm tvm-relay): {why}"),
    ];
    assert_eq!(beneath(&ledger, "Left out"), expected);
}

#[test]
fn a_lane_without_self_checks_and_a_position() {
    let unchecked = ["fpm", "dot"].map(|op| Unchecked { op: op.into(), lane: "mine".into() }).to_vec();
    let ledger = Ledger { unchecked, positions: vec![sample::position()], ..sample::holding() };
    let expected = "self-checks did not run in lane mine (fpm, dot): its worker offers no mutant and no control";
    assert_eq!(beneath(&ledger, "Self-check")[1], expected);
    let without = Ledger { self_checks: Vec::new(), ..ledger.clone() };
    assert_eq!(beneath(&without, "Self-check"), [expected]);
    let position = "matmul arm-uadalp host, at=3: got 5, exact:wrap 5, exact has no value";
    assert_eq!(beneath(&ledger, "Requested position"), [position]);
}

/// Returns the uncovered inputs of the first screen, on one line.
fn not_covered(ledger: &Ledger) -> String {
    let page = render(ledger, Detail::Screen, Style::default());
    let lines: Vec<&str> = page.lines().skip_while(|line| *line != "Not covered").map(str::trim).collect();
    lines.join(" ")
}

/// Runs once did not report the range of their inputs: 16 % of a kernel's results were inside its clamp, and no scale was subnormal.
#[test]
fn what_the_inputs_did_not_reach() {
    let mut plan = sample::planned("tvm-relay", "host", 4, &[]);
    plan.given = false;
    let mut ledger = holding_with(vec![plan.clone()]);
    let row = &mut ledger.rows[0];
    assert_eq!((&*row.kernel, &*row.lane), ("tvm-relay", "host"));
    row.sizes = [("channels.len", 64), ("results", 1), ("misalign", 16)].map(sample::size).into();
    row.ranges = [("channels.shift".to_owned(), Range { least: -31.0, greatest: 30.0 })].into();
    row.kinds = [("of a left shift".to_owned(), 0), ("of a right shift".to_owned(), 1 << 31)].into();
    let page = not_covered(&ledger);
    assert!(page.contains("no case is larger than fpm channels 4,099"), "{page}");
    assert!(page.contains("no result was fpm of a left shift (1 kernel)"), "{page}");
    let details = markdown::render(&ledger);
    for line in [
        "- fpm `tvm-relay` (host)",
        "sizes run: channels.len 1 to 4,099, every remainder of 64; misalign 1 to 4,099; results 1 to 4,099, 1 of 64 remainders",
        "kinds of results: of a left shift 0.0 %; of a right shift 50.0 %",
        "parameters run: channels.shift -31 to 30",
    ] {
        assert!(details.contains(line), "{line}: {details}");
    }
    // Inputs of the caller are not a plan.
    ledger.planned = vec![sample::planned("tvm-relay", "host", 4, &[])];
    assert!(!not_covered(&ledger).contains("larger"));
}

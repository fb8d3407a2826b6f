//! `mismatches.csv`: more than half of its rows once lacked operands, and could not be reproduced. Every row must reproduce its own difference.

use crate::common::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use tiebreak_suites::stream::{below, stream};
use tiebreak_suites::verify::OPS;

/// Number of replayed rows of each operation and side.
const SAMPLE: usize = 8;
/// Columns of a row except class and command.
const STATED: [&str; 8] = ["op", "kernel", "lane", "against", "scheme", "case", "got", "expected"];

type Row = BTreeMap<String, String>;

fn rows(text: &str) -> Vec<Row> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.expect("a row")).collect()
}

/// Checks that the row's own command reproduces its difference, in its class. A class is the cause of all observed differences. A single case may
/// have another cause, too, if this cause explains every result of the case to which it gives a value.
#[track_caller]
fn replays(row: &Row) {
    let run = again(&row["command"]);
    let same = |other: &&Row| STATED.iter().all(|column| other[*column] == row[*column]);
    let text = run.file("mismatches.csv");
    let shown = rows(&text).into_iter().find(|other| same(&other));
    let shown = shown.unwrap_or_else(|| panic!("{row:?}\n{}{text}", run.printed()));
    let accounted = || {
        cause(&run.ledger(), row).is_some_and(|(class, because)| class == shown["class"] && reproduces_all(&because))
    };
    assert!(shown["class"] == row["class"] || accounted(), "{row:?}\n{}{text}", run.printed());
}

/// Returns the class that the ledger gives to the differences of the row's kernel on this side, with the explanation.
fn cause(ledger: &Value, row: &Row) -> Option<(String, String)> {
    let is =
        |of: &&Value| ["op", "kernel", "lane", "against", "scheme"].iter().all(|column| of[*column] == row[*column]);
    let witness = &items(ledger, "rows").iter().find(is)?["witness"];
    Some((witness["class"].as_str()?.to_owned(), witness["because"].as_str()?.to_owned()))
}

/// True if the cause contradicts no result of the kernel.
fn reproduces_all(because: &str) -> bool {
    ["(reproduces all ", "(reproduces the one result examined)", ", and leaves the others undefined)"]
        .iter()
        .any(|accounted| because.contains(accounted))
}

/// Returns some rows of each side, with each form of a case.
fn sample(op: &str, rows: &[Row]) -> Vec<Row> {
    let mut rng = stream(1, &format!("mismatches/{op}"));
    let mut out = Vec::new();
    for against in ["contract", "reference"] {
        let (large, small): (Vec<&Row>, Vec<&Row>) =
            rows.iter().filter(|row| row["against"] == against).partition(|row| {
                ["=[", "@", ".. ", "=alternating", "=counting"].iter().any(|mark| row["case"].contains(mark))
            });
        for some in [large, small] {
            let some_of = |_| some.get(below(&mut rng, some.len() as u32) as usize).map(|row| (*row).clone());
            out.extend((0..SAMPLE / 2).filter_map(some_of));
        }
    }
    out
}

#[track_caller]
fn sampled_rows_replay(op: &str, sides: usize) {
    let all = rows(&everything(op).mismatches);
    let some = sample(op, &all);
    let of = |against: &str| some.iter().filter(|row| row["against"] == against).count();
    assert_eq!([of("contract"), of("reference")].into_iter().filter(|n| *n > 0).count(), sides, "{op}");
    some.iter().for_each(replays);
    println!("{op}: {} of {} rows replayed", some.len(), all.len());
}

#[test]
fn rows_of_every_operation_replay() {
    // A transform and an instruction have no reference in addition to their contract.
    let sides = |op: &str| if ["transform", "instruction"].contains(&op) { 1 } else { 2 };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(op) = OPS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    sampled_rows_replay(op, sides(op));
                }
            });
        }
    });
}

#[test]
fn a_case_of_an_instruction_that_is_none_is_refused() {
    let given = |case: &str| {
        let run = verify(&["--op=instruction", "--kernel=sqadd.s8", "--lane=host", "--case", case]).exits(2);
        run.stderr
    };
    for (case, reason) in [
        ("a=128", "a: must be in -128..=127"),
        ("b", "`b` is not NAME=VALUE"),
        ("c=1", "unknown argument `c`"),
        ("a=1 a=2", "a: given twice"),
        ("vectors=0", "vectors: must be at least 1, not 0"),
    ] {
        let described = given(case);
        assert!(described.contains(reason), "{case}: {described}");
    }
    verify(&["--op=instruction", "--kernel=sqadd.s8", "--lane=host", "--case=a=127 b=1"]).exits(0);
}

//! Lanes with equal results are judged once. A lane that begins to differ still has the same rows and differences as in a separate run.

use crate::common::*;
use serde_json::{Value, json};

const KERNEL: &str = "tosa-add-double-i8";

/// Returns the rows of a lane, without their seconds, and its differences.
fn seen(run: &Run, lane: &str) -> (Vec<Value>, Vec<String>) {
    let ledger = run.ledger();
    let of_lane = items(&ledger, "rows").iter().filter(|row| row["lane"] == lane).cloned();
    let timeless = of_lane.map(|mut row| {
        row.as_object_mut().expect("a row").remove("seconds").expect("seconds");
        row
    });
    let text = run.file("mismatches.csv");
    let differences = text.lines().filter(|line| line.contains(&format!(",{lane},"))).map(str::to_owned);
    (timeless.collect(), differences.collect())
}

#[test]
fn a_lane_that_is_another_at_first_is_judged_as_by_itself() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    // Long operands come late in the plan; after them, some cases have equal results again.
    let fault = json!([{"kernel": KERNEL, "where": {"place": {"index": [3000, 3001]}}}]);
    let command = corruptor(dir.path(), &worker("host-worker"), &fault);
    let file = lanes_with(dir.path(), "host-worker", &command);
    let of = |lanes: &[&str]| {
        let lanes: Vec<String> = lanes.iter().map(|lane| format!("--lane={lane}")).collect();
        let arguments = ["--op=add", "--kernel", KERNEL, "--effort=quick"].into_iter();
        verify_in(&file, &arguments.chain(lanes.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    let (both, alone) = (of(&["host", "host-worker"]).exits(1), of(&["host-worker"]).exits(1));
    let (rows, differences) = seen(&both, "host-worker");
    assert!(rows.len() == 2 && !differences.is_empty(), "{rows:#?}");
    assert_eq!((rows, differences), seen(&alone, "host-worker"));
    let sound = of(&["host"]).exits(0);
    assert_eq!(seen(&both, "host"), seen(&sound, "host"));
}

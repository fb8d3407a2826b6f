//! Almost correct lanes are detected: wrong only at ties, wrong from some result on, without one channel, crashing late. `installed_lanes.rs` has a
//! stale compiler, and `mlir_faults.rs` has known faults with other values.

use crate::common::*;
use serde_json::{Value, json};

/// Runs one kernel with quick effort in the lane `host-worker`, with the worker's fault `lie`.
fn run(op: &str, kernel: &str, lie: &Value) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut row = json!({ "kernel": kernel });
    row.as_object_mut().expect("an object").extend(lie.as_object().expect("an object").clone());
    let command = corruptor(dir.path(), &worker("host-worker"), &json!([row]));
    let file = lanes_with(dir.path(), "host-worker", &command);
    verify_in(&file, &["--lane=host-worker", "--jobs=1", "--effort=quick", "--op", op, "--kernel", kernel])
}

/// Checks that the fault is detected, only in this kernel and lane, and only with these classes, if given.
#[track_caller]
fn detected(op: &str, kernel: &str, lie: &Value, classes: &[&str]) {
    let run = run(op, kernel, lie).exits(1);
    let ledger = run.ledger();
    let findings = items(&ledger, "findings");
    assert!(findings.iter().all(|f| f["kernel"] == kernel && f["lane"] == "host-worker"), "{}", run.printed());
    let seen = finding_classes(&ledger);
    assert!(!seen.is_empty() && (classes.is_empty() || seen.iter().all(|c| classes.contains(c))), "{seen:?}");
}

/// A corruptor that changes nothing is not detected, so the tests below detect only the injected fault.
#[test]
fn a_lane_that_says_the_truth_holds() {
    for (op, kernel) in [("fpm", "tvm-relay"), ("matmul", "arm-uadalp"), ("requantize", "tflite-requantize-i8")] {
        run(op, kernel, &json!({"results": {}})).exits(0);
    }
}

#[test]
fn wrong_at_ties_only() {
    detected("fpm", "tvm-relay", &json!({"ties": true}), &["tie-direction", "unexplained"]);
    detected("fpm", "tflite-double", &json!({"ties": true}), &[]);
    detected("fpm", "xnnpack-rndnu-scalar", &json!({"ties": true}), &["tie-direction", "unexplained"]);
}

#[test]
fn wrong_from_some_result_on() {
    for first in [100, 10_000, 100_000] {
        detected("fpm", "tvm-relay", &json!({"from_result": first}), &[]);
    }
    for (op, kernel) in [("requantize", "tflite-requantize-i8"), ("matmul", "arm-uadalp"), ("add", "tflite-add-i8")] {
        detected(op, kernel, &json!({"from_result": 5_000}), &[]);
    }
    // The corruptor counts the results of its process, so the case alone is right in a new process.
    detected("instruction", "sqadd.s8", &json!({"from_result": 1_000_000}), &["depends-on-history"]);
    // The longest batch has 1,030 vectors, whose flags follow their 4,120 results.
    detected("instruction", "sqadd.s32", &json!({"from_index": 4120}), &["saturation-flag"]);
    detected("instruction", "sqadd.s32", &json!({"from_index": 4119}), &["value"]);
    detected("matmul", "arm-uadalp", &json!({"from_index": 16}), &[]);
    detected("conv2d", "arm-uadalp", &json!({"from_index": 16}), &[]);
}

#[test]
fn without_one_channel() {
    // A run once tried at most five channels in a batch.
    for channel in [3, 16, 40] {
        detected("fpm", "tvm-relay-per-channel", &json!({"channel": channel}), &[]);
    }
    detected("requantize", "tvm-requantize-i8", &json!({"channel": 3}), &[]);
    // Channels beyond the earlier limit of a batch, up to the last.
    for channel in [8, 33, 69] {
        detected("requantize", "tvm-requantize-i8", &json!({"channel": channel}), &[]);
    }
    detected("conv2d", "arm-uadalp", &json!({"channel": 2}), &[]);
    detected("matmul", "arm-uadalp", &json!({"channel": 7}), &[]);
}

#[test]
fn dying_late() {
    for (op, kernel, last) in [("fpm", "tvm-relay", 200), ("matmul", "arm-uadalp", 30), ("dot", "arm-uadalp", 5)] {
        detected(op, kernel, &json!({"dies_after": last}), &["crash"]);
    }
}

//! Workers of compiled modules are started only if needed. Shrinking, comparing lanes and shortening rows once proposed types outside every module.
//! Each rejection ended a worker, and a quick run of the casts started 605.

use crate::common::*;
use serde_json::{Value, json};
use std::fs;

/// Script that adds a line to a file, and becomes the worker.
const COUNTED: &str = r#"echo started >> "$0"; exec "$@""#;

#[test]
fn what_no_module_holds_is_not_asked_of_a_worker() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let starts = dir.path().join("starts");
    let text = fs::read_to_string(lanes_file()).expect("the lanes file");
    let lanes: Value = serde_json::from_str(&text).expect("it is JSON");
    let counted = |name: &str, known: &str| {
        let mut lane = items(&lanes, "lanes").iter().find(|lane| lane["name"] == known).expect("a known lane").clone();
        lane["name"] = json!(name);
        let front = ["/bin/sh", "-c", COUNTED, starts.to_str().expect("UTF-8")].map(Value::from);
        lane["command"] = front.into_iter().chain(items(&lane, "command").iter().cloned()).collect();
        lane
    };
    let file = dir.path().join("lanes.json");
    fs::write(&file, json!({ "lanes": [counted("mine", "mlir-x86"), counted("other", "mlir-aarch64")] }).to_string())
        .expect("a file");
    let call = ["--op=dequantize", "--kernel=mlir-opt-dcast-o2", "--effort=quick", "--jobs=2"];
    let run = verify_in(&file, &[&call[..], &["--lane=mine", "--lane=other"]].concat());
    let differing = items(&run.ledger(), "rows").iter().filter(|row| !row["witness"].is_null()).count();
    assert!(differing > 0, "nothing is shrunk: {}", run.printed());
    let started = fs::read_to_string(&starts).expect("workers started").lines().count();
    // In each lane, one worker for the greeting and one for a second thread, and two more to run a witness again.
    assert!((2..=8).contains(&started), "{started} workers were started");
}

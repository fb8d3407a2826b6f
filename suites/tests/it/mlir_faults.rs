//! Known faults of the shipped compiler: counted where they are, and nothing else let pass. `cargo xtask test` installs the tools.

use crate::common::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

const I16: &str = "!quant.uniform<i16:bf16, 0.3:1>";

/// What a kernel is told of in a lane against its contract: inputs, differences, deviations.
fn told<'a>(ledger: &'a Value, kernel: &str, lane: &str, coverage: &str) -> (u64, u64, &'a Value) {
    let row = items(ledger, "rows").iter().find(|row| {
        [("kernel", kernel), ("lane", lane), ("coverage", coverage), ("against", "contract")]
            .iter()
            .all(|(key, value)| row[key] == *value)
    });
    let row = row.unwrap_or_else(|| panic!("no {coverage} row of {kernel} in {lane}"));
    let count = |key: &str| row[key].as_u64().expect("a count");
    (count("inputs"), count("differ"), &row["deviations"])
}

/// Of all bf16 patterns and all stored values, exact ties alone go either way, in vectors without the instructions of bf16 (finding 12).
#[test]
fn sweeps_count_the_ties_that_go_either_way() {
    let kernels = ["--kernel=mlir-opt-qcast-o2", "--kernel=mlir-opt-qcast-o0"];
    let kernels = [&kernels[..], &["--kernel=mlir-opt-dcast-o2"]].concat();
    let ops = ["--op=quantize", "--op=dequantize", "--lane=mlir-aarch64", "--effort=exhaustive", "--type", I16];
    let ledger = verify(&[&ops[..], &kernels].concat()).exits(0).ledger();
    let told = |kernel: &str| told(&ledger, kernel, "mlir-aarch64", "exhaustive");
    assert_eq!(told("mlir-opt-qcast-o2"), (35_893, 0, &json!({"tie-direction": 129})));
    assert_eq!(told("mlir-opt-qcast-o0"), (35_893, 0, &json!({})));
    assert_eq!(told("mlir-opt-dcast-o2"), (65_536, 0, &json!({"tie-direction": 247})));
}

/// Zero points are int32, too (finding 11): in vectors on aarch64, and everywhere but in scalars on x86-64.
#[test]
fn a_zero_point_is_rounded_twice() {
    let ty = "!quant.uniform<i32:bf16, 1.0:16842753>";
    for lane in ["mlir-x86", "mlir-aarch64"].into_iter().skip(usize::from(cfg!(target_arch = "aarch64"))) {
        let kernels = ["--kernel=mlir-opt-qcast-o0", "--kernel=mlir-opt-qcast-o2"];
        let arguments = ["--op=quantize", "--lane", lane, "--effort=quick", "--type", ty];
        let ledger = verify(&[&arguments[..], &kernels].concat()).exits(0).ledger();
        for (kernel, faulty) in [("mlir-opt-qcast-o0", lane == "mlir-x86"), ("mlir-opt-qcast-o2", true)] {
            let (_, differ, deviations) = told(&ledger, kernel, lane, "sampled");
            let seen = deviations["double-rounding"].as_u64().unwrap_or(0);
            assert_eq!((differ, seen > 0), (0, faulty), "{kernel} {lane}: {deviations}");
        }
    }
}

/// f16 holds no integer from 65520 on: an instruction that divides by 2^4 as it converts makes no infinity of it (finding 14).
#[test]
fn a_fixed_point_conversion_does_not_overflow() {
    let lane = "mlir-aarch64-bf16";
    let runs = LANES.lanes.iter().any(|known| known.name == lane && known.command.is_some());
    if cfg!(target_arch = "aarch64") && !runs {
        return eprintln!("not run: this CPU has no instructions of f16");
    }
    for (case, deviates) in [
        ("type=!quant.uniform<u16:f16,0.0625> container=scalar q=65520", true),
        ("type=!quant.uniform<u16:f16,0.0625> container=scalar q=65519", false),
        ("type=!quant.uniform<i32:f16,0.0625> container=scalar q=-1000000", true),
        ("type=!quant.uniform<u16:f16,0.0625> q=65520", false),
        ("type=!quant.uniform<u16:f16,0.0625:1> container=scalar q=65535", false),
        ("type=!quant.uniform<u16:f16,0.0626> container=scalar q=65535", false),
    ] {
        let arguments = ["--op=dequantize", "--kernel=mlir-opt-dcast-o2", "--lane", lane, "--case", case];
        let ledger = verify(&arguments).exits(0).ledger();
        let (_, differ, deviations) = told(&ledger, "mlir-opt-dcast-o2", lane, "sampled");
        let expected = if deviates { json!({"f16-step": 1}) } else { json!({}) };
        assert_eq!((differ, deviations), (0, &expected), "{case}");
    }
}

/// A lane of that name alone, with the tools of `mlir-aarch64` and these features.
fn made_with(features: &str, name: &str) -> (TempDir, PathBuf) {
    let text = std::fs::read_to_string(lanes_file()).expect("the lanes file");
    let lanes: Value = serde_json::from_str(&text).expect("it is JSON");
    let lane = items(&lanes, "lanes").iter().find(|lane| lane["name"] == "mlir-aarch64").expect("a known lane");
    let mut lane = lane.clone();
    lane["name"] = json!(name);
    lane["modules"]["features"] = json!(features);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("lanes.json");
    std::fs::write(&file, json!({"lanes": [lane]}).to_string()).expect("a file");
    (dir, file)
}

/// The same code under a name that declares nothing is broken, on as many inputs.
#[test]
fn a_fault_that_is_not_declared_is_a_finding() {
    let (_dir, lanes) = made_with("", "mlir-aarch64-bf16");
    let arguments = [
        "--op=quantize",
        "--kernel=mlir-opt-qcast-o2",
        "--lane=mlir-aarch64-bf16",
        "--effort=exhaustive",
        "--type",
        I16,
    ];
    let ledger = verify_in(&lanes, &arguments).exits(1).ledger();
    let (inputs, differ, deviations) = told(&ledger, "mlir-opt-qcast-o2", "mlir-aarch64-bf16", "exhaustive");
    assert_eq!((inputs, differ, deviations), (35_893, 129, &json!({})));
    let messages: Vec<&str> = items(&ledger, "findings").iter().filter_map(|f| f["message"].as_str()).collect();
    assert!(messages.contains(&"differs from its contract on 129 of all patterns"), "{messages:?}");
}

/// Code without a fault that its lane declares: the declaration is stale, and fails.
#[test]
#[cfg(not(target_arch = "aarch64"))]
fn a_declared_fault_that_is_not_seen_is_a_finding() {
    let (_dir, lanes) = made_with("+bf16", "mlir-aarch64");
    let arguments = ["--op=dequantize", "--kernel=mlir-opt-dcast-o2", "--lane=mlir-aarch64", "--effort=quick"];
    let ledger = verify_in(&lanes, &arguments).exits(1).ledger();
    assert_eq!(finding_classes(&ledger), ["stale-deviation"]);
    let message = ledger["findings"][0]["message"].as_str().expect("a message");
    assert!(message.contains("`tie-direction`"), "{message}");
}

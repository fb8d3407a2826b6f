//! `add` from plan to ledger: differences from the exact sum with their causes, reproducible cases, invalid parameters.

use crate::common::*;
use serde_json::Value;

fn quick(kernel: &str, more: &[&str]) -> Run {
    verify(&[&["--op=add", "--kernel", kernel, "--lane=host", "--effort=quick"][..], more].concat())
}

fn row<'a>(ledger: &'a Value, against: &str) -> &'a Value {
    let rows = items(ledger, "rows");
    rows.iter().find(|row| row["against"] == against).unwrap_or_else(|| panic!("no row against the {against}"))
}

fn classes(ledger: &Value) -> Vec<&str> {
    row(ledger, "reference")["classes"].as_object().expect("classes").keys().map(String::as_str).collect()
}

/// Every difference from the exact sum has the class of its cause, and the classes add up to the count.
#[test]
fn differences_from_the_exact_sum_are_told_apart() {
    let rescaled = ["double-rounding", "tie-direction"];
    for (kernel, described) in [
        ("tflite-add-i8", &rescaled[..]),
        // At scales with sums near a half, a multiplier of 31 bits acts as another scale.
        ("tosa-add-single-i8", &["double-rounding", "multiplier-narrowed", "tie-direction"]),
        ("xnnpack-qs8-vadd", &["multiplier-narrowed", "tie-direction"]),
        ("onnx-qlinearadd-i8", &["f32-step", "zero-point-placement"]),
    ] {
        let ledger = quick(kernel, &[]).exits(0).ledger();
        assert_eq!(row(&ledger, "contract")["differ"], 0, "{kernel}");
        assert_eq!(classes(&ledger), described, "{kernel}");
        let reference = row(&ledger, "reference");
        let apart: u64 = reference["classes"].as_object().expect("classes").values().filter_map(Value::as_u64).sum();
        assert_eq!(Some(apart), reference["differ"].as_u64(), "{kernel}");
        assert!(reference["inputs"].as_u64() > Some(65_536), "{kernel}");
    }
}

/// With the kernel's own tie rule in the reference, no tie differs.
#[test]
fn the_reference_rounds_as_it_is_asked_to() {
    let ledger = quick("xnnpack-qs8-vadd", &["--rounding=ties-up"]).exits(0).ledger();
    assert_eq!(row(&ledger, "reference")["scheme"], "nearest-up");
    assert_eq!(classes(&ledger), ["multiplier-narrowed"]);
}

#[test]
fn a_case_can_be_run_again() {
    let case = "lhs_scale=0.5 rhs_scale=0.5 out_scale=1 lhs=1";
    let described = |kernel: &str, words: &str| {
        let run = quick(kernel, &["--case", case]).exits(0);
        assert!(run.stdout.contains(words), "{words}\n{}", run.printed());
    };
    described("tflite-add-i8", "at=0: got 1, nearest-even 0, class tie-direction");
    described("pytorch-qadd-i8", "equal");
}

#[test]
fn what_cannot_be_is_told_with_exit_code_2() {
    let refused = |case: &str, words: &str| {
        let run = quick("tflite-add-i8", &["--case", case]).exits(2);
        assert!(run.stderr.contains(words), "{words}\n{}", run.printed());
    };
    refused("lhs_scale=0,1", "lhs_scale: `0,1` is no f32");
    refused("lhs_scale=0", "lhs_scale: 0 is no f32 in 2^-100 to 2^100");
    refused("out_scale=0.000001", "twice the larger scale");
    refused("type=i4", "unknown type `i4`");
    refused("type=u8", "takes i8, not u8");
    refused("lhs_zero_point=200", "lhs_zero_point: 200 is no i8");
    refused("lhs=128", "lhs");
    refused("output_scale=1", "out_scale");
}

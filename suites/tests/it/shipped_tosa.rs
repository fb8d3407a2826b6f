//! TOSA, lowered by MLIR and compiled by LLVM, as lanes.

use crate::common::*;
use crate::shipped::{installed, judged_in_lanes};
use serde_json::{Value, json};
use std::path::Path;

/// Lanes of TOSA as lowered by MLIR: both levels on this machine, and on aarch64 under an emulator.
#[cfg(target_arch = "x86_64")]
const COMPILED_TOSA: &[&str] = &["tosa-mlir", "tosa-mlir-o0", "tosa-mlir-aarch64", "tosa-mlir-aarch64-o0"];
#[cfg(not(target_arch = "x86_64"))]
const COMPILED_TOSA: &[&str] = &["tosa-mlir", "tosa-mlir-o0"];

/// Runs `verify` in the lanes of compiled TOSA.
fn verify_compiled_tosa(file: &Path, arguments: &[&str]) -> Run {
    let named: Vec<String> = COMPILED_TOSA.iter().map(|lane| format!("--lane={lane}")).collect();
    let lanes: Vec<&str> = named.iter().map(String::as_str).collect();
    verify_in(file, &[&lanes, arguments].concat())
}

/// TOSA as lowered by MLIR, at both levels and for both machines. Each kernel whose parameters are operands is exact on the quick plan, except the
/// rescaling to unsigned bytes, whose zero point is read as signed (finding 34).
#[test]
fn compiled_tosa_is_exact_but_for_unsigned_zero_points() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), COMPILED_TOSA) else { return };
    let scalings = ["single", "double", "single-32", "double-32"].map(|name| format!("apply-scale-{name}"));
    let rescalings = ["single-i8", "double-i8", "double-u8", "single-i16"].map(|name| format!("rescale-{name}"));
    let sums = ["add-double-i8", "add-single-i8"].map(str::to_owned);
    let kernels = scalings.iter().chain(&rescalings).chain(&sums).map(|name| format!("--kernel=shipped-tosa-{name}"));
    let arguments: Vec<String> = kernels.chain(["--effort=quick".to_owned()]).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ledger = verify_compiled_tosa(&file, &arguments).exits(1).ledger();
    let wrong = "shipped-tosa-rescale-double-u8";
    let judged = judged_in_lanes(&ledger);
    assert_eq!(judged.len(), COMPILED_TOSA.len() * 10, "kernels in lanes");
    for (&(lane, kernel), [inputs, differ]) in &judged {
        assert!(
            *inputs > 100_000 && (*differ > 0) == (kernel == wrong),
            "{lane} {kernel}: {differ} of {inputs} differ"
        );
    }
    let findings = items(&ledger, "findings");
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!((&finding["kernel"], &finding["class"]), (&json!(wrong), &json!("signedness")), "{finding}");
    }
}

/// Operators with compiled-in windows, sizes or zero points, with a few values of each: strides, dilations, paddings of every side, remainders that
/// no window reaches, zero points at both ends of the type, several images. No case differs from the operation's reference (ties go to even results),
/// because evidence for a difference would take the whole quick plan, with a compilation for each window.
const TOSA_CASES: [(&str, &str, &[&str]); 6] = [
    (
        "conv2d",
        "conv2d",
        &[
            "height=3 width=3 kernel_h=2 kernel_w=2 input=uniform@1/1 weights=uniform@1/2",
            "batches=2 height=5 width=6 channels=3 kernel_h=3 kernel_w=2 out_channels=5 stride_h=2 top=1 left=1 input_zero_point=-128 input=uniform@1/3 weights=uniform@1/4",
            "height=8 width=9 channels=2 kernel_h=3 kernel_w=3 out_channels=4 stride_h=2 stride_w=3 dilation_w=2 bottom=2 right=1 input_zero_point=127 weight_zero_point=-128 input=uniform@1/5 weights=uniform@1/6",
            "height=7 width=4 channels=17 kernel_h=2 out_channels=9 dilation_h=3 top=2 bottom=1 input_zero_point=-5 weight_zero_point=7 input=-128 weights=-128",
            "height=6 width=6 channels=16 out_channels=8 stride_h=4 stride_w=5 weight_zero_point=127 input=127 weights=uniform@1/7",
        ],
    ),
    (
        "pool",
        "avg-pool2d-i8",
        &[
            "width=8 kernel_w=2 stride_w=2 input=1..",
            "batches=2 height=6 width=7 channels=5 kernel_h=3 kernel_w=5 stride_h=3 stride_w=2 input_zero_point=-128 out_zero_point=-128 input=uniform@1/2",
            "height=9 width=8 channels=3 kernel_h=5 kernel_w=3 stride_h=2 stride_w=4 top=2 bottom=2 input_zero_point=127 out_zero_point=127 input=uniform@1/3",
            "height=7 width=7 channels=16 kernel_h=7 kernel_w=7 input_zero_point=-1 out_zero_point=-1 input=-128",
        ],
    ),
    (
        "pool",
        "avg-pool2d-i16",
        &[
            "type=i16 height=5 width=6 channels=3 kernel_h=3 kernel_w=3 stride_h=2 stride_w=2 input=uniform@1/1",
            "type=i16 height=5 width=7 channels=9 kernel_h=5 kernel_w=3 stride_w=2 left=2 right=2 input=-32768",
        ],
    ),
    (
        "pool",
        "max-pool2d-i8",
        &[
            "height=5 width=6 channels=3 kernel_h=3 kernel_w=2 stride_h=2 top=1 right=1 input=uniform@1/1",
            "batches=2 height=4 width=4 channels=17 kernel_h=2 kernel_w=2 stride_h=2 stride_w=2 left=1 bottom=1 input=-128",
        ],
    ),
    (
        "matmul",
        "matmul",
        &[
            "m=5 n=9 k=17 lhs=uniform@1/1 rhs=uniform@1/2",
            "m=3 n=4 k=33 lhs_offset=128 rhs_offset=-127 lhs=uniform@1/3 rhs=-128",
            "m=2 n=17 k=64 lhs_offset=-5 rhs_offset=128 lhs=127 rhs=uniform@1/4",
        ],
    ),
    (
        "transform",
        "pad",
        &[
            "zero_point=-128 batches=2 height=3 width=4 channels=3 input=-70..",
            "zero_point=7 batches=2 height=3 width=4 channels=3 top=1 bottom=2 left=3 right=1 input=1..",
            "zero_point=255 height=3 width=2 channels=9 left=1 bottom=2 input=200..",
            "zero_point=127 height=2 width=5 channels=2 batches_before=1 batches_after=2 channels_before=3 channels_after=1 input=-20..",
        ],
    ),
];

/// MLIR's code for one window, size or zero point is exact, at both levels and for both machines.
#[test]
fn compiled_tosa_is_exact_for_windows_and_zero_points() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), COMPILED_TOSA) else { return };
    for (op, kernel, cases) in TOSA_CASES {
        let kernel = format!("shipped-tosa-{kernel}");
        let (named, each) = (format!("--kernel={kernel}"), cases.iter().flat_map(|case| ["--case", case]));
        let arguments: Vec<&str> = ["--op", op, &named].into_iter().chain(each).collect();
        let ledger = verify_compiled_tosa(&file, &arguments).exits(0).ledger();
        let judged = judged_in_lanes(&ledger);
        assert_eq!(judged.len(), COMPILED_TOSA.len(), "{kernel}: kernels in lanes");
        for (&(lane, _), counts) in &judged {
            assert!(counts[0] >= 16 && counts[1] == 0, "{lane} {kernel}: {counts:?}");
        }
        assert_eq!(items(&ledger, "outside_domain"), &[] as &[Value], "{kernel}");
    }
}

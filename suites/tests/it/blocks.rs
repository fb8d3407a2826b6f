//! Quantized types with blocks (sub-channel), from a caller's text to the shipped compiler.

use crate::bad_input::refused;
use crate::common::*;
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::self_check::mutants as self_check;
use tiebreak_suites::lane::Lane;
use tiebreak_suites::{dequantize::Dequantize, quantize::Quantize};

/// Two by two blocks of two by three elements: scales 0.5 and 2.0 above, 0.25 and 1.0 below.
const TYPE: &str = "!quant.uniform<i8:f32:{0:2,1:3},{{0.5,2.0:1},{0.25:-1,1.0}}>";

fn case(op: &str, kernel: &str, case: &str) -> Run {
    verify(&["--op", op, "--kernel", kernel, "--lane=host", "--case", case])
}

/// First and last element of each block, in a tensor of four by six.
#[test]
fn cases_of_blocks_are_text() {
    let places = "x[0,0]=4.0 x[1,2]=4.0 x[0,3]=4.0 x[1,5]=4.0 x[2,0]=4.0 x[3,2]=4.0 x[2,3]=4.0 x[3,5]=4.0";
    let run = case("quantize", "mlir-qcast", &format!("type={TYPE} {places} shape=4x6")).exits(0);
    assert!(run.stdout.contains("equal"), "{}", run.printed());
    let run = case("quantize", "mlir-qcast", &format!("type={TYPE} x[3,5]=1.75")).exits(0);
    assert!(run.stdout.contains("x[3,5]=1.75") && run.stdout.contains("got 1, nearest-even 2"), "{}", run.printed());
    let run = case("dequantize", "mlir-dcast", &format!("type={TYPE} q[2,2]=7")).exits(0);
    assert!(run.stdout.contains("equal"), "{}", run.printed());
}

#[test]
fn a_type_of_blocks_can_be_asked_for() {
    for (op, kernel, ty) in [
        ("quantize", "mlir-qcast", TYPE),
        ("quantize", "onnx-quantizelinear", "!quant.uniform<i8:f32:{0:1, 1:4}, {{0.5}, {0.3:3}}>"),
        ("dequantize", "mlir-dcast", TYPE),
        ("dequantize", "onnx-dequantizelinear", "!quant.uniform<u8:f32:{0:2, 1:1}, {{0.5, 0.3:3}}>"),
    ] {
        let run = verify(&["--op", op, "--kernel", kernel, "--lane=host", "--effort=quick", "--type", ty]);
        let ledger = run.exits(0).ledger();
        let rows = items(&ledger, "rows");
        assert!(rows.iter().all(|row| row["against"] != "contract" || row["differ"] == 0), "{kernel}");
        assert!(rows.iter().any(|row| row["inputs"].as_u64().is_some_and(|n| n >= 64)), "{kernel}");
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    for (more, described) in [
        ("shape=4x7", "axis 1 of size 7 is not 2 blocks of 3"),
        ("shape=4", "is no axis of 1 dimensions"),
        ("shape=4x6x1", "3 dimensions where the scales have 2"),
        ("shape=0x6", "axis 0 of size 0"),
        ("container=unranked", "a tensor with blocks must be ranked"),
        ("container=scalar", "scalars may not use per-axis quantization"),
    ] {
        refused(
            &case("quantize", "mlir-qcast", &format!("type={TYPE} {more}")),
            &["mlir-qcast does not take this: ", described],
        );
    }
    let run = case("quantize", "tflite-quantize", &format!("type={TYPE}"));
    refused(&run, &["tflite-quantize does not take this"]);
    let huge = "type=!quant.uniform<i8:f32:{0:4294967295,1:4294967295},{{1.0,2.0}}>";
    refused(&case("quantize", "mlir-qcast", huge), &["are more than 16777216"]);
}

/// Mutants that only blocks can show are detected with their class.
#[test]
fn scales_of_another_block_are_told() {
    let host = Lane::host();
    let mutants = op::<Quantize>().mutants().iter().chain(op::<Dequantize>().mutants());
    let mutants = mutants.filter(|mutant| mutant.class == "block");
    let checks: Vec<_> = mutants.map(|mutant| self_check::check(mutant, &host, 1)).collect();
    assert_eq!(checks.len(), 5);
    for check in checks {
        let check = check.expect("a scheme");
        assert!(check.passed, "{} {}: {}", check.op, check.name, check.seen);
        assert!(check.seen.contains("class block"), "{}", check.seen);
    }
}

#[test]
fn a_type_of_blocks_is_explained() {
    let described = |text: &str| tiebreak(&["check-type", text]).exits(0).stdout;
    let out = described(TYPE);
    assert!(out.contains("one scale for each block of 2 along axis 0, 3 along axis 1"), "{out}");
    assert!(out.contains("must be ranked, of 2 dimensions, with 4 at axis 0, 6 at axis 1"), "{out}");
    let out = described("tensor<4x?x!quant.uniform<i8:f32:{0:2,1:3},{{0.5,2.0:1},{0.25:-1,1.0}}>>");
    assert!(out.contains("the tensor must have 6 at axis 1"), "{out}");
    let run = tiebreak(&[
        "explain",
        "quantize",
        "--type",
        TYPE,
        "--channel",
        "3",
        "--x",
        "1.75",
        "--scheme",
        "nearest-even",
        "--kernel",
        "mlir-qcast",
    ]);
    assert!(run.exits(0).stdout.contains("class directed-rounding"), "the last block's");
    let run = tiebreak(&["explain", "quantize", "--type", TYPE, "--x", "1", "--scheme", "nearest-even"]).exits(2);
    assert!(run.stderr.contains("the type has 4 scales"), "{}", run.printed());
}

//! `quantize` and `dequantize` from plan to ledger: contracts kept, classes told apart, counts in closed form, cases that can be run again.

use crate::common::*;
use serde_json::Value;
use tiebreak_impls::mutants::tensor as mutants;
use tiebreak_suites::lane::Lane;
use tiebreak_suites::tensor::self_check;
use tiebreak_suites::{dequantize::Dequantize, quantize::Quantize};

/// Lines 12 to 14 of the corpus of known bugs, and those of our own.
#[test]
fn every_mutant_of_the_casts_dies_with_its_class() {
    let host = Lane::host();
    let checks = mutants::quantize().iter().map(|m| self_check::check::<Quantize>(m, &host, 1));
    let checks = checks.chain(mutants::dequantize().iter().map(|m| self_check::check::<Dequantize>(m, &host, 1)));
    for check in checks {
        let check = check.expect("a scheme");
        assert!(check.passed, "{} {}: {} is not {}", check.op, check.name, check.seen, check.expected_class);
    }
}

fn quick(op: &str, kernel: &str, more: &[&str]) -> Run {
    verify(&[&["--op", op, "--kernel", kernel, "--lane=host", "--effort=quick"][..], more].concat())
}

fn row<'a>(ledger: &'a Value, against: &str, coverage: &str) -> &'a Value {
    let rows = items(ledger, "rows");
    let found = rows.iter().find(|row| row["against"] == against && row["coverage"] == coverage);
    found.unwrap_or_else(|| panic!("no {coverage} row against the {against}"))
}

#[test]
fn kernels_keep_their_contracts() {
    for (op, kernel) in [
        ("quantize", "mlir-qcast"),
        ("quantize", "onnx-quantizelinear"),
        ("dequantize", "mlir-dcast"),
        ("dequantize", "onnx-dequantizelinear"),
    ] {
        let ledger = quick(op, kernel, &[]).exits(0).ledger();
        assert!(row(&ledger, "contract", "sampled")["inputs"].as_u64().expect("a count") > 1000, "{kernel}");
    }
}

/// The lowering truncates, rounds its steps, and converts what it cannot: each difference has the class of its own cause.
#[test]
fn differences_of_the_lowering_are_told_apart() {
    let ledger = quick("quantize", "mlir-qcast", &[]).exits(0).ledger();
    let reference = row(&ledger, "reference", "sampled");
    for class in ["truncation", "poison", "f32-step"] {
        assert!(reference["classes"][class].as_u64().is_some_and(|n| n > 0), "{class}: {}", reference["classes"]);
    }
}

/// All 65,536 patterns of f16 through one quantization, with the path from the reference to the kernel.
#[test]
fn every_pattern_of_16_bits_is_swept() {
    let ty = "!quant.uniform<i8<-8:7>:f16, 0.3:1>";
    let run =
        verify(&["--op=quantize", "--kernel=mlir-qcast", "--lane=host", "--effort=exhaustive", "--type", ty]).exits(0);
    let ledger = run.ledger();
    let contract = row(&ledger, "contract", "exhaustive");
    let count = |key: &str| contract[key].as_u64().expect("a count");
    assert_eq!(count("inputs") + count("out_of_domain"), 1 << 16);
    assert_eq!(count("differ"), 0);
    let reference = row(&ledger, "reference", "exhaustive");
    let path: Vec<&str> =
        items(reference, "path").iter().map(|link| link["class"].as_str().expect("a class")).collect();
    assert_eq!(path, ["truncation", "f16-step", "f16-step", "poison"]);
}

/// A witness is a case by itself: its command gives the same values again.
#[test]
fn a_witness_of_floats_can_be_run_again() {
    for (op, kernel, case, told) in [
        (
            "quantize",
            "mlir-qcast",
            "type=!quant.uniform<i8<-8:7>:f32,0.3:1> x=-8.940698e-9",
            "x=-8.940698e-9 at=0: got 0, nearest-even 1, class truncation",
        ),
        (
            "dequantize",
            "mlir-dcast",
            "type=!quant.uniform<i32:f32,0.001:16777217> q=16777216",
            "got 0, ideal -0.001, class f32-step",
        ),
        ("dequantize", "mlir-dcast", "type=!quant.uniform<i16:f16,1.0:3000> q=2999", "got 0, ideal -1, class f16-step"),
        ("dequantize", "mlir-dcast", "type=!quant.uniform<i32:f64,0.1> shape=3 q=5", "equal"),
    ] {
        let run = quick(op, kernel, &["--case", case]).exits(0);
        assert!(run.stdout.contains(told), "{told}\n{}", run.told());
    }
}

#[test]
fn what_cannot_be_is_told_with_exit_code_2() {
    let told = |more: &[&str], words: &str| {
        let run = verify(&[&["--op=quantize", "--lane=host"][..], more].concat()).exits(2);
        assert!(run.stderr.contains(words), "{words}\n{}", run.told());
    };
    told(&["--type", "!quant.uniform<i8:f32, 0.0>"], "--type");
    told(&["--type", "f32"], "not a quantized type");
    told(&["--rounding", "ties-evn"], "ties-even");
    let case = |case: &str, words: &str| told(&["--kernel=mlir-qcast", "--case", case], words);
    case("type=!quant.uniform<i8:f32,0.1> x=1,5", "is no f32");
    case("x=1", "type: missing");
    case("type=!quant.uniform<i8:f32,0.1> container=tensor", "unknown container");
    case("type=!quant.uniform<i8:f32,0.1> shape=2y3", "is not sizes");
    let run = verify(&["--op=matmul", "--lane=host", "--type", "!quant.uniform<i8:f32, 0.1>"]).exits(2);
    assert!(run.stderr.contains("--type is of quantize and dequantize"), "{}", run.told());
}

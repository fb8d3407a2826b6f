//! `quantize` and `dequantize` from plan to ledger: contracts kept, classes distinguished, counts in closed form, reproducible cases.

use crate::common::*;
use serde_json::Value;
use tiebreak_oracle::dequantize;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{Quantization, Storage};
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::self_check::mutants as self_check;
use tiebreak_suites::lane::Lane;
use tiebreak_suites::{dequantize::Dequantize, quantize::Quantize};

/// Lines 12 to 14 of the corpus of known bugs, and bugs of this project.
#[test]
fn every_mutant_of_the_casts_dies_with_its_class() {
    let host = Lane::host();
    for mutant in op::<Quantize>().mutants().iter().chain(op::<Dequantize>().mutants()) {
        let check = self_check::check(mutant, &host, 1).expect("a scheme");
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

/// The lowering truncates, rounds its steps, and converts values out of range. Each difference has the class of its cause.
#[test]
fn differences_of_the_lowering_are_told_apart() {
    let ledger = quick("quantize", "mlir-qcast", &[]).exits(0).ledger();
    let reference = row(&ledger, "reference", "sampled");
    for class in ["directed-rounding", "poison", "f32-step"] {
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
    assert_eq!(path, ["directed-rounding", "f16-step", "f16-step", "poison"]);
}

/// If schemes differ on few inputs, big rationals judge each of them again.
#[test]
fn differences_of_a_sweep_are_judged_again() {
    let ty = "!quant.uniform<i8<-8:7>:f16, 0.3:1>";
    let more = ["--op=quantize", "--kernel=mlir-qcast", "--lane=host", "--effort=exhaustive", "--type", ty];
    let ledger = verify(&more).exits(0).ledger();
    let count = |link: &Value, key: &str| link[key].as_u64().expect("a count");
    for link in items(row(&ledger, "reference", "exhaustive"), "path").iter().filter(|link| link["class"] != "poison") {
        assert!(count(link, "differ") > 0, "{link}");
        let all = count(link, "differ") <= 4096;
        assert!(
            if all { count(link, "rejudged") == count(link, "differ") } else { count(link, "rejudged") > 0 },
            "{link}"
        );
    }
}

/// A sweep of all stored values has the same counts as judging them one by one, and finds the witness nearest to zero.
#[test]
fn every_stored_value_is_swept() {
    let (ideal, steps) =
        (dequantize::Scheme::parse("ideal").unwrap(), dequantize::Scheme::parse("mlir-dcast").unwrap());
    for (storage, format, scale, zero_point) in
        [("i16", Format::F16, "1.0", 3000), ("i8", Format::F32, "0.3", 1), ("u16", Format::Bf16, "0.7", 999)]
    {
        let scale_bits = format.from_decimal(scale).unwrap();
        let q = Quantization::whole(format, scale_bits, zero_point, Storage::parse(storage).unwrap());
        let differs = |v: &i64| ideal.expected(&q, *v) != steps.expected(&q, *v);
        let differing: Vec<i64> = (q.min..=q.max).filter(differs).collect();
        let ty = format!("!quant.uniform<{storage}:{}, {scale}:{zero_point}>", format.name());
        let ledger = quick("dequantize", "mlir-dcast", &["--type", &ty]).exits(0).ledger();
        for against in ["contract", "reference"] {
            let row = row(&ledger, against, "exhaustive");
            let count = |key: &str| row[key].as_u64().expect("a count");
            assert_eq!(count("inputs") + count("out_of_domain"), (q.max - q.min + 1) as u64, "{ty}");
            let expected = if against == "contract" { 0 } else { differing.len() };
            assert_eq!(count("differ"), expected as u64, "{ty} {row}");
        }
        let reference = row(&ledger, "reference", "exhaustive");
        let smallest = differing.iter().min_by_key(|v| (v.unsigned_abs(), **v < 0));
        // The default stored value of a case is 0.
        assert_eq!(reference["witness"].is_null(), differing.is_empty(), "{ty}");
        let witness = reference["witness"]["case"]["q"].as_i64().unwrap_or(0);
        assert_eq!(witness, smallest.copied().unwrap_or(0), "{ty}");
        assert_eq!(differing.is_empty(), format == Format::F32);
    }
}

/// Every run sweeps all stored values of 8 and 16 bits to f32, correctly rounded. A kernel that breaks its contract is detected.
#[test]
fn stored_values_of_16_bits_are_swept_in_every_run() {
    let ledger = quick("dequantize", "mlir-dcast", &[]).exits(0).ledger();
    let swept = items(&ledger, "rows").iter().filter(|row| row["coverage"] == "exhaustive");
    let inputs: Vec<u64> =
        swept.map(|row| row["inputs"].as_u64().filter(|_| row["differ"] == 0).expect("no difference")).collect();
    assert_eq!(inputs, [256, 256, 256, 256, 65536, 65536, 65536, 65536]);
    let ledger = quick("dequantize", "mutant-no-zero-point", &[]).exits(1).ledger();
    assert!(row(&ledger, "contract", "exhaustive")["differ"].as_u64().expect("a count") > 0);
    let described = |finding: &&Value| finding["message"].as_str().is_some_and(|m| m.contains("of all stored values"));
    assert!(items(&ledger, "findings").iter().any(|finding| described(&finding)));
}

/// A witness is a complete case: its command gives the same values again.
#[test]
fn a_witness_of_floats_can_be_run_again() {
    for (op, kernel, case, described) in [
        (
            "quantize",
            "mlir-qcast",
            "type=!quant.uniform<i8<-8:7>:f32,0.3:1> x=-8.940698e-9",
            "x=-8.940698e-9 at=0: got 0, nearest-even 1, class directed-rounding",
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
        assert!(run.stdout.contains(described), "{described}\n{}", run.printed());
    }
}

#[test]
fn what_cannot_be_is_told_with_exit_code_2() {
    let described = |more: &[&str], words: &str| {
        let run = verify(&[&["--op=quantize", "--lane=host"][..], more].concat()).exits(2);
        assert!(run.stderr.contains(words), "{words}\n{}", run.printed());
    };
    described(&["--type", "!quant.uniform<i8:f32, 0.0>"], "--type");
    described(&["--type", "f32"], "not a quantized type");
    described(&["--rounding", "ties-evn"], "ties-even");
    let case = |case: &str, words: &str| described(&["--kernel=mlir-qcast", "--case", case], words);
    case("type=!quant.uniform<i8:f32,0.1> x=1,5", "is no f32");
    case("x=1", "type: missing");
    case("type=!quant.uniform<i8:f32,0.1> container=tensor", "unknown container");
    case("type=!quant.uniform<i8:f32,0.1> shape=2y3", "is not sizes");
    let run = verify(&["--op=matmul", "--lane=host", "--type", "!quant.uniform<i8:f32, 0.1>"]).exits(2);
    assert!(run.stderr.contains("--type applies only to --op quantize or dequantize"), "{}", run.printed());
}

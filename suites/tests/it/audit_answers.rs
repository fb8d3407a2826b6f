//! First answer of `audit`, and its exit code (issue 30, items 3 and 4).

use crate::audit::{audit, file, items, json, onnx};
use crate::bad_input::refused;
use crate::common::Run;
use crate::models::build::{Operator, Options, Tensor, model};
use crate::models::{quantized, small_layer};
use serde_json::Value;

/// Returns the answer of a table, on one line.
fn answer(run: &Run) -> String {
    let end = run.stdout.find("\nRuntimes: ").expect("the versions follow the answer");
    run.stdout[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a model with a convolution, then operators with these codes on its result.
fn with(codes: &[i32]) -> Vec<u8> {
    let x = quantized(&[1, 4, 3, 8], 0.4);
    let other =
        |code: &i32| Operator { code: *code, tensors: [x.clone(), x.clone(), x.clone()], ..Operator::default() };
    model(&[small_layer()].into_iter().chain(codes.iter().map(other)).collect::<Vec<_>>())
}

const ADD: i32 = 0;
const RESHAPE: i32 = 22;
const SOFTMAX: i32 = 25;
const LOGISTIC: i32 = 14;

/// `by at most 1` was read as a bound of the network, whose outputs moved by up to 90 steps. Changes are counted for each layer alone.
#[test]
fn a_change_is_said_of_each_layer_alone_and_of_what_is_not_clamped() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(&dir, "m.tflite", &with(&[]));
    let answer = answer(&audit(&path, &["--to=xnnpack"]).exits(0));
    for part in [
        "results change",
        "Each layer alone, given equal inputs:",
        "of those not clamped",
        "no bound for the outputs of the whole network",
    ] {
        assert!(answer.contains(part), "no `{part}` in {answer}");
    }
    assert!(!answer.contains("Not examined"), "{answer}");
    let totals = &json(&audit(&path, &["--to=xnnpack", "--format=json"]).exits(0))["comparisons"][0]["totals"];
    let [differ, differ_inside, inside, inputs] =
        ["differ", "differ_inside", "inside", "inputs"].map(|key| totals[key].as_u64().expect("a number"));
    assert!(0 < differ_inside && differ_inside <= differ && inside < inputs, "{totals}");
    let percent = 100.0 * differ_inside as f64 / inside as f64;
    let places = (2 - percent.log10().floor() as i32).clamp(0, 6) as usize;
    assert!(answer.contains(&format!("; {percent:.places$}% of those not clamped")), "{answer}");
}

#[test]
fn no_change_is_not_said_of_operators_that_were_not_examined() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(&dir, "all.tflite", &with(&[RESHAPE]));
    let whole = answer(&audit(&path, &["--to=tflite-micro"]).exits(0));
    assert!(whole.contains("no change in any layer.") && !whole.contains("Not examined"), "{whole}");
    let path = file(&dir, "part.tflite", &with(&[SOFTMAX, LOGISTIC, SOFTMAX]));
    let part = answer(&audit(&path, &["--to=tflite-micro"]).exits(0));
    assert!(part.contains("no change in the 1 layer examined."), "{part}");
    assert!(part.contains("Not examined, and possibly changed: 3 operators (2 SOFTMAX, 1 LOGISTIC)."), "{part}");
}

/// RESHAPE computes nothing, so it is not a gap of the audit.
#[test]
fn what_has_no_arithmetic_is_listed_apart() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(&dir, "m.tflite", &with(&[RESHAPE, SOFTMAX]));
    let all = json(&audit(&path, &["--format=json"]).exits(0));
    let ops =
        |list: &Value| items(list).iter().map(|n| n["op"].as_str().expect("a name").to_owned()).collect::<Vec<_>>();
    assert_eq!(
        (ops(&all["not_audited"]), ops(&all["without_arithmetic"])),
        (vec!["SOFTMAX".into()], vec!["RESHAPE".into()])
    );
    let table = audit(&path, &[]).exits(0).stdout;
    let extent = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(extent.contains("1 operator not; 1 operator without arithmetic."), "{extent}");
    assert!(!table.contains("RESHAPE"), "{table}");
}

/// The sentence on the layers had fewer channels than the next sentence, because an ADD has no list of channels.
#[test]
fn both_sentences_count_the_same_channels() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let x = quantized(&[1, 4, 3, 8], 0.4);
    let options = Some(Options { kind: 11, bytes: vec![(0, 0)], ints: vec![] });
    let add = Operator { code: ADD, tensors: [x.clone(), x.clone(), x], options, ..Operator::default() };
    let path = file(&dir, "m.tflite", &model(&[small_layer(), add]));
    let answer = answer(&audit(&path, &["--to=xnnpack"]).exits(0));
    assert!(answer.contains("2 layers with 9 channels audited"), "{answer}");
    assert!(answer.contains(" of 9 channels"), "{answer}");
}

#[test]
fn an_audit_of_nothing_is_bad_input() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let x = Tensor { shape: vec![1], ..Tensor::default() };
    let float = Operator { code: 0, tensors: [x.clone(), x.clone(), x.clone()], ..Operator::default() };
    let path = file(&dir, "float.tflite", &model(&[float]));
    for more in [&[][..], &["--format=json"], &["--fail-if-changed"]] {
        refused(&audit(&path, more), &["float.tflite", "no layer could be compared", "ADD: "]);
    }
    let moving = Operator { code: RESHAPE, tensors: [x.clone(), x.clone(), x], ..Operator::default() };
    refused(&audit(&file(&dir, "move.tflite", &model(&[moving])), &[]), &["no operator of the model has arithmetic"]);
}

#[test]
fn a_change_fails_only_when_asked() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(&dir, "m.tflite", &with(&[SOFTMAX]));
    audit(&path, &["--to=xnnpack"]).exits(0);
    audit(&path, &["--to=xnnpack", "--fail-if-changed"]).exits(1);
    audit(&path, &["--to=tflite-micro,xnnpack", "--fail-if-changed"]).exits(1);
    audit(&path, &["--to=tflite-micro", "--fail-if-changed"]).exits(0);
    // One of two comparisons has no counterpart: unsigned bytes on CMSIS-NN.
    let mut b = onnx::Builder::default();
    b.floats("s", &[], &[0.5]).uint8("z", &[], &[3]).uint8("w", &[2, 1], &[9, 4]);
    b.node("QLinearMatMul", &["x", "s", "z", "w", "s", "z", "s", "z"], "y", &[]);
    let path = file(&dir, "m.onnx", &b.model());
    audit(&path, &["--to=tvm,cmsis-nn"]).exits(0);
    refused(
        &audit(&path, &["--to=tvm,cmsis-nn", "--fail-if-changed"]),
        &["onnxruntime to cmsis-nn: no layer", "QLinearMatMul: the product of u8 of cmsis-nn is not defined here"],
    );
}

/// Weights in another file: counts of a part were stated for the whole model.
#[test]
fn values_in_another_file_are_said_first() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut b = onnx::every();
    b.apart("far", &[2, 1, 1, 2]);
    b.node("QLinearConv", &["x", "xs", "xz", "far", "ws", "wz", "ys", "yz"], "k", &[]);
    let answer = answer(&audit(&file(&dir, "m.onnx", &b.model()), &["--to=onnxruntime"]).exits(0));
    assert!(answer.contains("no change in the ") && answer.contains(" QLinearConv"), "{answer}");
    assert!(answer.contains("Values in another file were not read: save the model as one file."), "{answer}");
}

/// The version is next to each runtime, in the table, in JSON and in the help.
#[test]
fn versions_are_said() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(&dir, "m.tflite", &with(&[]));
    let table = audit(&path, &["--to=xnnpack,tvm"]).exits(0).stdout;
    assert!(
        table.contains("Runtimes: tflite-reference, xnnpack (LiteRT 2.3.0, x86-64, measured); tvm (read from"),
        "{table}"
    );
    let c = &json(&audit(&path, &["--to=tvm", "--format=json"]).exits(0))["comparisons"][0];
    assert_eq!(
        (&c["left_version"], &c["right_version"]),
        (&"LiteRT 2.3.0, x86-64, measured".into(), &"read from sources; no release is measured".into())
    );
}

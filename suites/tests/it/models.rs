//! Layers of a model as convolutions: each kernel runs each layer, with only the data of the file.

// The flatbuffers crate writes the models, as in the tests of the reader.
#[path = "../../analysis/src/model/tests/build.rs"]
pub(crate) mod build;

use crate::bad_input::refused;
use crate::common::*;
use build::{Operator, Options, Tensor, model};
use tiebreak_impls::conv2d;

const UINT8: i8 = 3;
const INT8: i8 = 9;

fn tensor(shape: &[i32], kind: i8, zero_point: i64) -> Tensor {
    Tensor { shape: shape.to_vec(), kind, zero_points: vec![zero_point], name: "layer", ..Tensor::default() }
}

/// Returns a model of one convolution, with its scales and weights.
pub(crate) fn small() -> Vec<u8> {
    model(&[small_layer()])
}

/// Returns a tensor of int8 with a scale.
pub(crate) fn quantized(shape: &[i32], scale: f32) -> Tensor {
    Tensor { scales: vec![scale], ..tensor(shape, INT8, 0) }
}

/// Returns the convolution of [`small`].
pub(crate) fn small_layer() -> Operator {
    let Operator { tensors: [x, w, y], .. } = conv(INT8, 0, 0);
    let scaled = |tensor: Tensor, scale: f32| Tensor { scales: vec![scale], ..tensor };
    let data = (0..8 * 3 * 3 * 4u32).map(|at| (at * 37 % 251) as u8).collect();
    let tensors = [scaled(x, 0.1), Tensor { data, ..scaled(w, 0.003) }, scaled(y, 0.4)];
    Operator { tensors, ..conv(INT8, 0, 0) }
}

/// Returns a depthwise layer of nine channels, so that one of them is after the last whole vector of eight.
pub(crate) fn nine_channels() -> Operator {
    let of = |shape: &[i32], scale: f32| Tensor { scales: vec![scale], ..tensor(shape, INT8, 0) };
    let data = (0..2 * 2 * 9u32).map(|at| (at * 37 % 251) as u8).collect();
    let tensors = [of(&[1, 4, 4, 9], 0.1), Tensor { data, ..of(&[1, 2, 2, 9], 0.003) }, of(&[1, 3, 3, 9], 0.05)];
    Operator { tensors, ..depthwise() }
}

/// 3x3 filter over 6x5 pixels of 4 channels, VALID: 4*3*8 results.
fn conv(kind: i8, input: i64, weights: i64) -> Operator {
    Operator {
        code: 3,
        tensors: [
            tensor(&[1, 6, 5, 4], kind, input),
            tensor(&[8, 3, 3, 4], kind, weights),
            tensor(&[1, 4, 3, 8], kind, 0),
        ],
        options: Some(Options { kind: 1, bytes: vec![(0, 1)], ints: vec![(1, 1), (2, 1)] }),
        ..Operator::default()
    }
}

/// 2x2 filter over each of 3 channels, VALID: 3*3*3 results.
fn depthwise() -> Operator {
    Operator {
        code: 4,
        tensors: [tensor(&[1, 4, 4, 3], INT8, 127), tensor(&[1, 2, 2, 3], INT8, 0), tensor(&[1, 3, 3, 3], INT8, 0)],
        options: Some(Options { kind: 2, bytes: vec![(0, 1)], ints: vec![(1, 1), (2, 1), (3, 1)] }),
        ..Operator::default()
    }
}

/// Two rows of 20 by 10 outputs: 2*10 results.
fn fully_connected() -> Operator {
    Operator {
        code: 9,
        tensors: [tensor(&[2, 20], INT8, -128), tensor(&[10, 20], INT8, 0), tensor(&[2, 10], INT8, 0)],
        options: Some(Options { kind: 8, bytes: vec![], ints: vec![] }),
        ..Operator::default()
    }
}

/// Verifies the convolutions of a model file.
fn layers(bytes: &[u8], more: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("small.tflite");
    std::fs::write(&file, bytes).expect("the temporary directory can be written");
    let file = file.to_str().expect("UTF-8");
    verify(&[&["--model", file, "--effort=quick", "--lane=host"][..], more].concat())
}

/// Checks the number of results of all kernels against their contracts: every layer with every fill, and nothing else.
fn covered(operators: &[Operator], results: u64) {
    let run = layers(&model(operators), &[]).exits(0);
    let ledger = run.ledger();
    // Kernels of transposed convolutions accept no layer of these models.
    for kernel in conv2d::kernels().iter().filter(|kernel| kernel.contract.domain.transposed.is_none()) {
        let of =
            |r: &&serde_json::Value| r["op"] == "conv2d" && r["kernel"] == kernel.name && r["against"] == "contract";
        let row = items(&ledger, "rows").iter().find(of).unwrap_or_else(|| panic!("no row of {}", kernel.name));
        // Four fills of the input by three of the weights.
        assert_eq!((&row["inputs"], &row["differ"]), (&(12 * results).into(), &0.into()), "{row}");
    }
    assert!(items(&ledger, "rows").iter().all(|r| r["op"] == "conv2d" || r["op"] == "matmul"));
    assert!(items(&ledger, "self_checks").is_empty() && items(&ledger, "catalogue").is_empty());
}

#[test]
fn each_kind_of_layer_is_run_by_every_kernel() {
    covered(&[conv(INT8, -128, 0), depthwise(), fully_connected()], 96 + 27 + 20);
}

/// The same layer quantized to unsigned bytes, with zero points of 0..=255, which a kernel of int8 takes 128 lower.
#[test]
fn layers_of_unsigned_bytes_are_run_by_every_kernel() {
    for input in [0, 128, 255] {
        covered(&[conv(UINT8, input, 131)], 96);
    }
}

/// Model with constants: four fills of the input by three random fills of the weights and the layer's own weights, as a convolution and as the
/// product of its patches and filters; and its multipliers and biases.
#[test]
fn the_constants_of_a_model_are_run() {
    let kernels = ["tflite-reference", "arm-umlal-fast", "tflite-requantize-i8", "gemmlowp-quantize-down-fixedpoint"];
    let ledger = layers(&small(), &kernels.map(|name| ["--kernel", name]).concat()).exits(0).ledger();
    let of = |r: &&serde_json::Value| r["against"] == "contract";
    let rows: Vec<_> = items(&ledger, "rows").iter().filter(of).collect();
    let named: Vec<_> = rows.iter().map(|row| row["kernel"].as_str().expect("a name")).collect();
    // `arm-umlal-fast` has both a convolution and a product.
    assert!(kernels.iter().all(|kernel| named.contains(kernel)) && rows.len() == kernels.len() + 1, "{named:?}");
    for row in rows {
        let inputs = row["inputs"].as_u64().expect("a number");
        assert!(if row["op"] == "requantize" { inputs > 8 * 400 } else { inputs == 16 * 96 }, "{row}");
    }
    refused(
        &layers(&model(&[conv(INT8, 0, 0)]), &["--op=requantize"]),
        &["--op requantize", "this model has no such layer"],
    );
}

#[test]
fn a_mutant_is_caught_on_a_model() {
    // Borders of a filter of 3x3, SAME: 6*5 results of 8 channels.
    let mut same = conv(INT8, -100, 0);
    same.tensors[2] = tensor(&[1, 6, 5, 8], INT8, 0);
    same.options = Some(Options { kind: 1, bytes: vec![(0, 0)], ints: vec![(1, 1), (2, 1)] });
    let ledger = layers(&model(&[same]), &["--kernel=mutant-pad-zero"]).exits(1).ledger();
    assert_eq!(finding_classes(&ledger), ["padding"]);
}

#[test]
fn models_that_cannot_be_used() {
    refused(&verify(&["--model=/nowhere/a.tflite"]), &["/nowhere/a.tflite", "cannot read", "No such file"]);
    refused(
        &verify(&["--model", env!("CARGO_MANIFEST_DIR")]),
        &[env!("CARGO_MANIFEST_DIR"), "cannot read", "Is a directory"],
    );
    refused(&layers(b"", &[]), &["small.tflite", "is no TFLite model", "TFL3"]);
    refused(&layers(b"\x7fELF....", &[]), &["small.tflite", "is no TFLite model"]);
    let whole = model(&[conv(INT8, 0, 0)]);
    refused(&layers(&whole[..40], &[]), &["small.tflite", "at byte", "damaged or cut off"]);
    refused(&layers(&whole, &["--op=add"]), &["--model", "matmul or conv2d"]);
    refused(&layers(&model(&[depthwise()]), &["--op=matmul"]), &["--op matmul", "a layer of one group"]);
    refused(&layers(&whole, &["--case=m=1", "--op=conv2d"]), &["--case", "cannot be used with", "--model"]);
    refused(&layers(&whole, &["--kernel=arm-uadal"]), &["unknown kernel `arm-uadal`", "`arm-uadalp`"]);
}

/// A valid file without any layer is rejected with this reason.
#[test]
fn a_model_without_layers_is_refused() {
    let x = tensor(&[1], 0, 0);
    let add = Operator { code: 0, tensors: [x.clone(), x.clone(), x], ..Operator::default() };
    refused(&layers(&model(&[add]), &[]), &["small.tflite", "no convolution"]);
}

/// Only the first rows of a layer that is too large for one call run here; the network runs all rows.
#[test]
fn a_layer_that_is_too_large_for_one_call_runs_in_parts() {
    let mut large = conv(INT8, 0, 0);
    large.tensors[0] = tensor(&[1, 4098, 4097, 4], INT8, 0);
    large.tensors[2] = tensor(&[1, 4096, 4095, 8], INT8, 0);
    let run = layers(&model(&[conv(INT8, 0, 0), large]), &["--op=conv2d", "--kernel=gemmlowp-reference"]).exits(0);
    let ledger = run.ledger();
    let width = &items(&ledger, "rows")[0]["sizes"]["width"];
    assert_eq!((&width["least"], &width["greatest"]), (&5.into(), &4097.into()));
}

/// O.4: a layer in floats, or with a shape that is open until the model runs, rejected the whole file.
#[test]
fn a_layer_in_floats_is_left_out_with_the_reason() {
    let mut float = small_layer();
    float.tensors.iter_mut().for_each(|tensor| tensor.kind = 0);
    let mut open = small_layer();
    open.tensors[0].signature = vec![-1, 6, 5, 4];
    open.tensors[2].shape = vec![1, 1, 1, 8];
    let run = layers(&model(&[small_layer(), float.clone(), open]), &["--op=conv2d"]).exits(0);
    let ledger = run.ledger();
    let left_out = items(&ledger, "left_out");
    let of = |at: usize, key: &str| left_out[at][key].as_str().expect("a text").to_owned();
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(of(0, "item").contains("tensors[4]") && of(0, "reason").contains("FLOAT32"), "{left_out:?}");
    assert!(of(1, "item").contains("tensors[8]") && of(1, "reason").contains("shape_signature is -1"), "{left_out:?}");
    let page = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("2 parts that no kernel takes"), "{page}");
    // The remaining layer has the same results as alone.
    let alone = layers(&model(&[small_layer()]), &["--op=conv2d"]).exits(0).ledger();
    let inputs = |ledger: &serde_json::Value| -> Vec<u64> {
        items(ledger, "rows").iter().map(|row| row["inputs"].as_u64().expect("a count")).collect()
    };
    assert_eq!(inputs(&ledger), inputs(&alone));
    refused(&layers(&model(&[float]), &[]), &["small.tflite", "no kernel takes a layer", "FLOAT32"]);
}

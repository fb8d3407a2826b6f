//! `verify --model`: the network layer after layer.

use crate::common::*;
use crate::models::build::{Operator, Options, TRANSPOSE_CONV, Tensor, network};
use serde_json::{Value, json};
use tiebreak_suites::model::network as reader;
use tiebreak_suites::network::plan;

const INT8: i8 = 9;

fn quantized(shape: &[i32], scale: f32, zero_point: i64) -> Tensor {
    let zero_points = vec![zero_point];
    Tensor { shape: shape.to_vec(), kind: INT8, zero_points, scales: vec![scale], name: "tensor", ..Tensor::default() }
}

fn constant(shape: &[i32], values: &[i8]) -> Tensor {
    Tensor { data: values.iter().map(|v| *v as u8).collect(), ..quantized(shape, 1.0, 0) }
}

/// Returns a model with a 1x1 convolution of two input channels to one, then a matrix product: `(x0 + 2*x1 + 4) / 8 + 10`, then
/// `3 * (x - 10) / 2 - 1`.
fn two_layers() -> Vec<u8> {
    let bias = Tensor { shape: vec![1], kind: 2, data: vec![4, 0, 0, 0], ..quantized(&[1], 1.0, 0) };
    let first = Operator {
        code: 3,
        tensors: [
            quantized(&[1, 1, 1, 2], 1.0, 0),
            constant(&[1, 1, 1, 2], &[1, 2]),
            quantized(&[1, 1, 1, 1], 8.0, 10),
        ],
        bias: Some(bias),
        options: Some(Options { kind: 1, bytes: vec![(0, 1)], ints: vec![(1, 1), (2, 1)] }),
    };
    let second = Operator {
        code: 9,
        tensors: [quantized(&[1, 1], 8.0, 10), constant(&[1, 1], &[3]), quantized(&[1, 1], 16.0, -1)],
        options: Some(Options { kind: 8, bytes: vec![], ints: vec![] }),
        ..Operator::default()
    };
    network(&[first, second])
}

#[test]
fn the_input_of_a_layer_is_the_exact_result_of_the_layer_before() {
    let bytes = two_layers();
    let net = reader::network(&bytes).expect("a model");
    let planned = |x: [i32; 2]| plan(&bytes, &net, (&vec![vec![x.to_vec()]], 1), &[], |_| true).expect("a network");
    // 3 / 8 is rounded twice, 1.5 to 2 and 2 / 4 to 1; -4 / 8 to -1, away from zero.
    for (x, result) in [([5, -3], 11), ([0, -4], 9), ([127, 127], 58), ([0, -2], 10)] {
        let stages = planned(x).stages;
        let inputs: Vec<&[i32]> = stages.iter().map(|stage| &stage.tensors[0][..]).collect();
        assert_eq!(inputs, [&x[..], &[result]], "{x:?}");
    }
    let network = planned([5, -3]).network;
    let operators: Vec<&str> = network.layers.iter().map(|layer| layer.operator.as_str()).collect();
    assert_eq!(operators, ["CONV_2D", "FULLY_CONNECTED"]);
    let changed = |x: [i32; 2], family: &str| {
        let network = planned(x).network;
        let family = network.families.into_iter().find(|one| one.name == family).expect("a family");
        (family.layers, family.differ, family.first_layer)
    };
    assert_eq!(changed([0, -4], "tflite"), (2, 0, None));
    assert_eq!(changed([0, -2], "tvm"), (2, 0, None));
    // One rounding, halves up: both 3 / 8 and -4 / 8 give 0. The second layer gives -1 for 10, 2 - 1 for 11, and -1 - 1 for 9.
    assert_eq!(changed([5, -3], "tvm"), (2, 1, Some(0)));
    assert_eq!(changed([0, -4], "tvm"), (2, 1, Some(0)));
}

/// Verifies a network in the lane `host`.
fn verified(bytes: &[u8], more: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("network.tflite");
    std::fs::write(&file, bytes).expect("the temporary directory can be written");
    let file = file.to_str().expect("UTF-8");
    verify(&[&["--model", file, "--effort=quick", "--lane=host"][..], more].concat())
}

/// Transposed convolution: the windows of two elements overlap by one column.
#[test]
fn a_transposed_convolution_is_a_layer() {
    let layer = |out: &[i32], filter: &[i8], padding: i8| {
        let columns = filter.len() as i32;
        network(&[Operator {
            code: TRANSPOSE_CONV,
            tensors: [quantized(&[1, 1, 2, 1], 1.0, 1), constant(&[1, 1, columns, 1], filter), quantized(out, 1.0, 10)],
            bias: Some(Tensor { shape: vec![1], kind: 2, data: vec![100, 0, 0, 0], ..quantized(&[1], 1.0, 0) }),
            options: Some(Options { kind: 49, bytes: vec![(0, padding)], ints: vec![(1, 2), (2, 1)] }),
        }])
    };
    for (out, padding, expected) in [
        // VALID: windows [4, 8, 12] from column 0 on and [5, 10, 15] from column 2 on; the bias and the zero point add 110.
        (&[1, 1, 5, 1][..], 1, &[114, 118, 127, 120, 125][..]),
        // SAME: padding of one column, all of it at the end.
        (&[1, 1, 4, 1], 0, &[114, 118, 127, 120]),
        // Output padding: no window reaches the last column.
        (&[1, 1, 6, 1], 1, &[114, 118, 127, 120, 125, 110]),
    ] {
        let bytes = layer(out, &[1, 2, 3], padding);
        let net = reader::network(&bytes).expect("a model");
        let planned = plan(&bytes, &net, (&vec![vec![vec![5, 6]]], 1), &[], |_| true).expect("a network");
        let layers = &planned.network.layers;
        assert_eq!((layers[0].operator.as_str(), &layers[0].not_judged), ("TRANSPOSE_CONV", &None), "{out:?}");
        let [stage] = &planned.stages[..] else { panic!("{}", planned.stages.len()) };
        assert_eq!((stage.op, stage.params["shape"]["transposed"].as_bool()), ("qconv2d", Some(true)));
        assert_eq!(stage.tensors[0], [5, 6]);
        let case = json!({
            "op": "qconv2d", "scheme": "gemmlowp-double:wrap", "expected": expected,
            "case": {
                "width": 2, "kernel_w": 3, "stride_w": 2, "transposed": 1, "input_zero_point": 1,
                "right": stage.params["shape"]["right"], "left": stage.params["shape"]["left"],
                "output_padding_w": stage.params["shape"]["output_padding_w"].as_u64().unwrap_or(0),
                "m": 1 << 30, "s": 1, "bias": 100, "zero_point": 10, "input": [5, 6], "weights": [1, 2, 3],
            },
        });
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("case.jsonl");
        std::fs::write(&file, case.to_string()).expect("written");
        tiebreak(&["judge", "--cases", file.to_str().expect("UTF-8")]).exits(0);
        let run = verified(&bytes, &[]).exits(0);
        let family = |name: &str| items(&run.ledger()["network"], "families").iter().any(|one| one["name"] == name);
        // CMSIS-NN accepts only outputs that windows cover.
        assert!(family("tflite") && family("cmsis-nn") == (out[2] < 6), "{}", run.printed());
    }
}

/// Returns two convolutions with filters of 3x3, of which only the second has borders, on images far from zero.
fn borders_behind() -> Vec<u8> {
    let filter = |by: i32| constant(&[4, 3, 3, 4], &(0..144).map(|at| (at * by % 23 - 11) as i8).collect::<Vec<_>>());
    let layer = |sizes: [i32; 2], padding: i8, by: i32| Operator {
        code: 3,
        tensors: [
            quantized(&[1, sizes[0], sizes[0], 4], 0.5, -100),
            Tensor { scales: vec![0.01], ..filter(by) },
            quantized(&[1, sizes[1], sizes[1], 4], 0.5, -100),
        ],
        options: Some(Options { kind: 1, bytes: vec![(0, padding)], ints: vec![(1, 1), (2, 1)] }),
        ..Operator::default()
    };
    network(&[layer([8, 6], 1, 7), layer([6, 6], 0, 5)])
}

fn rows(ledger: &Value) -> &Vec<Value> {
    ledger["network"]["layers"].as_array().expect("layers")
}

#[test]
fn a_wrong_kernel_is_named_with_its_layer() {
    let model = borders_behind();
    let run = verified(&model, &["--op=qconv2d", "--kernel=mutant-qconv-pad-zero", "--inputs=3"]).exits(1);
    let ledger = run.ledger();
    let rows = rows(&ledger);
    let counts = |at: usize| (rows[at]["outputs"].as_u64(), rows[at]["differ"].as_u64().expect("a count") > 0);
    assert_eq!((counts(0), counts(1)), ((Some(3 * 144), false), (Some(3 * 144), true)), "{rows:?}");
    let first = &rows[1]["first"];
    assert_eq!(
        (&first["kernel"], &first["lane"], &first["input"]),
        (&"mutant-qconv-pad-zero".into(), &"host".into(), &0.into())
    );
    assert!(first["got"] != first["expected"] && rows[0]["first"].is_null(), "{rows:?}");
    let family = &ledger["network"]["families"][0];
    assert_eq!((&family["name"], &family["first_layer"]), (&"mutant-qconv-pad-zero".into(), &1.into()), "{family}");
    let page = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("mutant-qconv-pad-zero in host: input 0, result"), "{page}");
}

#[test]
fn every_kernel_keeps_its_contract_in_a_network() {
    let run = verified(&borders_behind(), &["--op=qconv2d"]).exits(0);
    let ledger = run.ledger();
    let network = &ledger["network"];
    assert_eq!((&network["inputs"], &network["source"]), (&2.into(), &"random".into()));
    for layer in rows(&ledger) {
        assert!(layer["kernels"].as_u64() > Some(8) && layer["differ"] == 0 && layer["op"] == "qconv2d", "{layer}");
    }
    let none = verified(&borders_behind(), &["--op=qconv2d", "--inputs=0"]).exits(0).ledger();
    assert!(none.get("network").is_none());
}

#[test]
fn inputs_that_are_none() {
    let model = two_layers();
    let refused = |given: &str, said: &str| {
        let run = verified(&model, &[given]).exits(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    };
    refused("--inputs=/nowhere/a.npy", "a number of random inputs, or a file of numpy");
    refused("--inputs=5000", "at most 4096");
}

/// Real models: every layer is judged except the function without an exact definition here, and nothing is rejected.
#[test]
fn real_networks_layer_after_layer() {
    for name in ["alexa.tflite", "hey_jarvis.tflite"] {
        let file = target().join("tiebreak/models").join(name);
        if !file.is_file() {
            return not_run(&format!("{} is not there; `cargo xtask setup --with models` fetches it", file.display()));
        }
        let file = file.to_str().expect("UTF-8");
        let arguments = ["--model", file, "--effort=quick", "--lane=host", "--op=qconv2d", "--op=requantize"];
        let ledger = verify(&arguments).exits(0).ledger();
        let of = |operator: &str| rows(&ledger).iter().filter(|row| row["operator"] == operator).collect::<Vec<_>>();
        let judged = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "QUANTIZE"].map(|operator| {
            let rows = of(operator);
            assert!(rows.iter().all(|row| row["outputs"].as_u64() > Some(0) && row["differ"] == 0), "{rows:?}");
            rows.len()
        });
        assert_eq!(judged, [5, 4, 1, 1], "{name}");
        let [logistic] = of("LOGISTIC")[..] else { panic!("one") };
        assert!(logistic["not_judged"].as_str().expect("a reason").contains("drawn at random"), "{logistic}");
        assert_eq!(of("QUANTIZE")[0]["drawn_from"], serde_json::json!([43]));
        assert!(rows(&ledger).iter().all(|row| row["op"].is_string() || row["not_judged"].is_string()));
    }
}

//! `judge` on node tests of ONNX.

use crate::common::tiebreak;
use crate::offline_files::{dir, objects, put};
use prost::Message;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<Named>,
}

#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    domain: String,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(bytes = "vec", tag = "4")]
    s: Vec<u8>,
    #[prost(int64, repeated, tag = "8")]
    ints: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(float, repeated, tag = "4")]
    float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    int32_data: Vec<i32>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

/// Values of `TensorProto.DataType`.
const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT8: i32 = 3;
const INT32: i32 = 6;
const INT64: i32 = 7;

fn integers(data_type: i32, dims: &[i64], values: &[i32]) -> Tensor {
    Tensor { dims: dims.to_vec(), data_type, int32_data: values.to_vec(), ..Tensor::default() }
}

fn floats(dims: &[i64], values: &[f32]) -> Tensor {
    let raw_data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tensor { dims: dims.to_vec(), data_type: FLOAT, raw_data, ..Tensor::default() }
}

fn list(name: &str, ints: &[i64]) -> Attribute {
    Attribute { name: name.to_owned(), ints: ints.to_vec(), ..Attribute::default() }
}

/// Writes a node test of one data set; inputs are named by letters.
fn node_test(dir: &Path, op: &str, attribute: Vec<Attribute>, inputs: &[Tensor], output: &Tensor) {
    let set = dir.join("test_data_set_0");
    fs::create_dir_all(&set).expect("a directory");
    let names: Vec<String> = (0..inputs.len()).map(|at| char::from(b'a' + at as u8).to_string()).collect();
    let (domain, op) = op.rsplit_once('.').unwrap_or(("", op));
    let [domain, op_type] = [domain, op].map(str::to_owned);
    let node = Node { input: names.clone(), output: vec!["y".to_owned()], op_type, attribute, domain };
    let input = names.into_iter().map(|name| Named { name }).collect();
    let graph = Graph { node: vec![node], initializer: Vec::new(), input };
    put(dir, "model.onnx", &Model { ir_version: 8, graph: Some(graph) }.encode_to_vec());
    for (at, tensor) in inputs.iter().enumerate() {
        put(&set, &format!("input_{at}.pb"), &tensor.encode_to_vec());
    }
    put(&set, "output_0.pb", &output.encode_to_vec());
}

/// Writes five node tests of four operators. The expected results follow the definitions of the operators.
fn node_tests(dir: &Path) {
    let scale = floats(&[], &[2.0]);
    let x = floats(&[6], &[0.0, 2.0, 3.0, 1000.0, -254.0, -1000.0]);
    let quantized = integers(UINT8, &[6], &[128, 129, 130, 255, 1, 0]);
    let point = integers(UINT8, &[], &[128]);
    node_test(&dir.join("test_quantizelinear"), "QuantizeLinear", Vec::new(), &[x, scale, point], &quantized);
    let scales = floats(&[3], &[2.0, 4.0, 5.0]);
    let points = integers(UINT8, &[3], &[84, 24, 196]);
    let stored = integers(UINT8, &[1, 3, 1, 2], &[3, 89, 34, 200, 74, 59]);
    let real = floats(&[1, 3, 1, 2], &[-162.0, 10.0, 40.0, 704.0, -610.0, -685.0]);
    node_test(
        &dir.join("test_dequantizelinear_axis"),
        "DequantizeLinear",
        Vec::new(),
        &[stored, scales, points],
        &real,
    );
    let a = integers(UINT8, &[4, 3], &[11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0]);
    let b = integers(UINT8, &[3, 2], &[1, 4, 2, 5, 3, 6]);
    let y = integers(INT32, &[4, 2], &[-38, -83, -44, -98, -50, -113, -56, -128]);
    let points = [integers(UINT8, &[1], &[12]), integers(UINT8, &[1], &[0])];
    let [one, other] = points;
    node_test(&dir.join("test_matmulinteger"), "MatMulInteger", Vec::new(), &[a, b, one, other], &y);
    let x = integers(UINT8, &[1, 1, 3, 3], &[2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let w = integers(UINT8, &[1, 1, 2, 2], &[1; 4]);
    let y = integers(INT32, &[1, 1, 4, 4], &[1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9]);
    let point = integers(UINT8, &[], &[1]);
    let pads = vec![list("pads", &[1, 1, 1, 1])];
    node_test(&dir.join("test_convinteger_with_padding"), "ConvInteger", pads, &[x, w, point], &y);
    // Two channels in, two out, and strides: [out channel][row][column].
    let x = integers(INT8, &[1, 2, 2, 3], &[1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6]);
    let w = integers(INT8, &[2, 2, 1, 2], &[1, 0, 0, 1, 2, 3, 0, 0]);
    let y = integers(INT32, &[1, 2, 2, 1], &[-1, -1, 8, 23]);
    let strides = vec![list("strides", &[1, 2])];
    node_test(&dir.join("test_convinteger_channels"), "ConvInteger", strides, &[x, w], &y);
}

/// Returns the inputs of a `QLinearMatMul` with these scales of lhs, rhs and results, and its results for scales of 1, 1 and 4.
fn scaled_product(lhs: f32, rhs: f32, out: f32) -> ([Tensor; 8], Tensor) {
    let scale = |value: f32| floats(&[], &[value]);
    let point = |value: i32| integers(UINT8, &[], &[value]);
    let a = integers(UINT8, &[1, 2], &[13, 10]);
    let b = integers(UINT8, &[2, 2], &[7, 0, 1, 252]);
    // [3, 0] * [[5, -2], [-1, 250]] = [15, -6], a quarter of which is [3.75, -1.5]; plus the zero point 100.
    let inputs = [a, scale(lhs), point(10), b, scale(rhs), point(2), scale(out), point(100)];
    (inputs, integers(UINT8, &[1, 2], &[104, 98]))
}

/// `QLinearMatMul` and `QLinearConv` are chains: a sum and a requantization with ties to even.
#[test]
fn node_tests_of_scaled_sums_are_judged() {
    let dir = dir();
    let (inputs, y) = scaled_product(1.0, 1.0, 4.0);
    node_test(&dir.path().join("test_qlinearmatmul"), "QLinearMatMul", Vec::new(), &inputs, &y);
    // One pixel with two channels in and two out, a scale for each channel out, and a bias: sums [1*1 + 2*2, 1*3 - 2*4] = [5, -5], with the bias [6,
    // -4].
    let x = integers(INT8, &[1, 2, 1, 1], &[1, 2]);
    let w = integers(INT8, &[2, 2, 1, 1], &[1, 2, 3, -4]);
    let (zero, bias) = (integers(INT8, &[], &[0]), integers(INT32, &[2], &[1, 1]));
    let inputs = [
        x,
        floats(&[], &[0.5]),
        zero.clone(),
        w,
        floats(&[2], &[0.5, 2.0]),
        integers(INT8, &[2], &[0, 0]),
        floats(&[], &[1.0]),
        zero,
        bias,
    ];
    // A quarter of 6 is 1.5, which goes to the even 2; -4 times 1 is -4.
    let y = integers(INT8, &[1, 2, 1, 1], &[2, -4]);
    node_test(&dir.path().join("test_qlinearconv"), "QLinearConv", Vec::new(), &inputs, &y);
    let path = dir.path().to_str().expect("UTF-8");
    let run = tiebreak(&["judge", "--cases", path]).exits(0);
    assert!(run.stdout.contains("2 lines, 4 results compared: 2 lines equal"), "{}", run.printed());
    let y = integers(INT8, &[1, 2, 1, 1], &[1, -4]);
    put(&dir.path().join("test_qlinearconv/test_data_set_0"), "output_0.pb", &y.encode_to_vec());
    let run = tiebreak(&["judge", "--cases", path]).exits(1);
    assert!(run.stdout.contains("requantize ties-even:wrap: 1 differing result"), "{}", run.printed());
}

/// `QLinearConcat` of ONNX Runtime: each input has its own scale and zero point.
#[test]
fn node_tests_of_concatenations_are_judged() {
    let dir = dir();
    let scale = |value: f32| floats(&[], &[value]);
    let point = |value: i32| integers(INT8, &[], &[value]);
    let axis = |i: i64| vec![Attribute { name: "axis".to_owned(), i, ..Attribute::default() }];
    let inputs = [
        scale(0.5),
        point(1),
        integers(INT8, &[2, 1], &[3, -4]),
        scale(0.5),
        point(1),
        integers(INT8, &[2, 2], &[5, 6, 7, 100]),
        scale(0.25),
        point(2),
    ];
    // The first input is copied. The second gives (x - 2) * 0.25 / 0.5, rounded, plus 1: 1.5 to the even 2, 2, 2.5 to 2, 49.
    let y = integers(INT8, &[2, 3], &[3, 3, 3, -4, 3, 50]);
    let test = dir.path().join("test_qlinearconcat");
    for last in [1, -1] {
        node_test(&test, "com.microsoft.QLinearConcat", axis(last), &inputs, &y);
        let run = tiebreak(&["judge", "--cases", test.to_str().expect("UTF-8")]).exits(0);
        assert!(run.stdout.contains("1 line, 6 results compared: 1 line equal"), "{}", run.printed());
    }
    let wrong = integers(INT8, &[2, 3], &[3, 3, 3, -4, 4, 50]);
    put(&test.join("test_data_set_0"), "output_0.pb", &wrong.encode_to_vec());
    let run = tiebreak(&["judge", "--cases", test.to_str().expect("UTF-8")]).exits(1);
    assert!(run.stdout.contains("concat onnx: 1 differing result"), "{}", run.printed());
    // Along the first axis, the inputs have different numbers of columns.
    node_test(&test, "com.microsoft.QLinearConcat", axis(0), &inputs, &y);
    let run = tiebreak(&["judge", "--cases", test.to_str().expect("UTF-8")]).exits(2);
    assert!(run.stdout.contains("an input of [2, 1] for results of [2, 3] along axis 0"), "{}", run.printed());
}

/// Writes `count` data sets of `MatMulInteger` and of `QLinearMatMul` each, with values that vary between sets. The results are computed here.
fn many(dir: &Path, count: usize) {
    let value = |set: usize, at: usize| ((set * 31 + at * 57 + set * at) % 256) as i32;
    let (sums, scaled) = (dir.join("test_matmulinteger"), dir.join("test_qlinearmatmul"));
    for set in 0..count {
        let a: Vec<i32> = (0..6).map(|at| value(set, at)).collect();
        let b: Vec<i32> = (6..12).map(|at| value(set, at)).collect();
        let (za, zb) = (value(set, 12), value(set, 13));
        let sum = |r: usize, c: usize| (0..3).map(|l| (a[r * 3 + l] - za) * (b[l * 2 + c] - zb)).sum::<i32>();
        let all = [sum(0, 0), sum(0, 1), sum(1, 0), sum(1, 1)];
        let point = |value: i32| integers(UINT8, &[], &[value]);
        let one = |op: &str, dir: &Path, inputs: &[Tensor], y: &Tensor| {
            node_test(dir, op, Vec::new(), inputs, y);
            fs::rename(dir.join("test_data_set_0"), dir.join(format!("test_data_set_{}", set + 1))).expect("renamed");
        };
        let (lhs, rhs) = (integers(UINT8, &[2, 3], &a), integers(UINT8, &[3, 2], &b));
        let y = integers(INT32, &[2, 2], &all);
        one("MatMulInteger", &sums, &[lhs.clone(), rhs.clone(), point(za), point(zb)], &y);
        // By 0.25 * 0.25 / 16 = 1/256, ties to even.
        let scale = |value: f32| floats(&[], &[value]);
        let rounded = all.map(|v| ((f64::from(v) / 256.0).round_ties_even() as i32 + 128).clamp(0, 255));
        let inputs = [lhs, scale(0.25), point(za), rhs, scale(0.25), point(zb), scale(16.0), point(128)];
        one("QLinearMatMul", &scaled, &inputs, &integers(UINT8, &[2, 2], &rounded));
    }
}

/// Data sets of node tests, and 100,000 lines of these and of test vectors: all are equal, and one changed result is found.
#[test]
fn one_corrupted_result_of_a_hundred_thousand_lines_is_found() {
    let dir = dir();
    let path = dir.path().to_str().expect("UTF-8");
    many(dir.path(), 250);
    let run = tiebreak(&["judge", "--cases", path]).exits(0);
    assert!(run.stdout.contains("500 lines, 2,000 results compared: 500 lines equal"), "{}", run.printed());
    let set = dir.path().join("test_qlinearmatmul/test_data_set_200");
    let output = set.join("output_0.pb");
    let mut y = Tensor::decode(&fs::read(&output).expect("results")[..]).expect("a tensor");
    y.int32_data[3] ^= 1;
    fs::write(&output, y.encode_to_vec()).expect("written");
    let found = objects(&tiebreak(&["judge", "--cases", path, "--format=json"]).exits(1).stdout);
    let wrong: Vec<&Value> = found.iter().filter(|line| line["verdict"] == "differs").collect();
    assert_eq!((found.len(), wrong.len()), (501, 1));
    assert_eq!(
        (&wrong[0]["id"], &wrong[0]["first"]["at"]),
        (&json!("test_qlinearmatmul/test_data_set_200"), &json!(3))
    );
    // Lines from `tiebreak vectors`.
    let mut lines = Vec::new();
    for (op, scheme) in
        [("requantize", "gemmlowp-double"), ("matmul", "exact"), ("quantize", "onnx"), ("dequantize", "ideal")]
    {
        let vectors = tiebreak(&["vectors", "--op", op, "--scheme", scheme, "--format=json"]).exits(0).stdout;
        let vectors: Value = serde_json::from_str(&vectors).expect("JSON");
        for vector in vectors["vectors"].as_array().expect("a list") {
            let keys = ["op", "scheme", "type", "case", "expected"];
            lines.push(
                keys.iter()
                    .filter(|key| !vector[**key].is_null())
                    .map(|key| ((*key).to_owned(), vector[*key].clone()))
                    .collect::<serde_json::Map<_, _>>(),
            );
        }
    }
    let count = 100_000;
    let mut text = String::new();
    for at in 0..count {
        let mut line = Value::Object(lines[at % lines.len()].clone());
        line["id"] = json!(at);
        if at == 70_003 {
            let is_zero = line["expected"][0] == json!(0);
            line["expected"][0] = json!(i32::from(is_zero));
        }
        text += &format!("{line}\n");
    }
    let cases = put(dir.path(), "cases.jsonl", text.as_bytes());
    let found = objects(&tiebreak(&["judge", "--cases", &cases, "--format=json"]).exits(1).stdout);
    let wrong: Vec<&Value> = found[..count].iter().filter(|line| line["verdict"] != "equal").collect();
    assert_eq!((found.len(), wrong.len()), (count + 1, 1), "{wrong:?}");
    assert_eq!((&wrong[0]["id"], &wrong[0]["first"]["at"]), (&json!(70_003), &json!(0)));
    assert_eq!(found[count]["summary"]["equal"], json!(count - 1));
}

#[test]
fn node_tests_are_judged() {
    let dir = dir();
    node_tests(dir.path());
    let path = dir.path().to_str().expect("UTF-8");
    let run = tiebreak(&["judge", "--cases", path]).exits(0);
    assert!(run.stdout.contains("5 lines, 40 results compared: 5 lines equal"), "{}", run.printed());
    // A test of another operator is skipped in a directory of tests, and reported.
    node_test(&dir.path().join("test_relu"), "Relu", Vec::new(), &[floats(&[1], &[1.0])], &floats(&[1], &[1.0]));
    let run = tiebreak(&["judge", "--cases", path]).exits(0);
    assert!(
        run.stdout.contains("5 lines equal") && run.stderr.contains("1 node tests of other operators"),
        "{}",
        run.printed()
    );
    // One wrong result is found, with the name of its test.
    let set = dir.path().join("test_matmulinteger/test_data_set_0");
    let y = integers(INT32, &[4, 2], &[-38, -83, -44, -98, -50, -113, -56, -127]);
    put(&set, "output_0.pb", &y.encode_to_vec());
    let run = tiebreak(&["judge", "--cases", path, "--format=json"]).exits(1);
    let found = objects(&run.stdout);
    let wrong: Vec<&Value> = found.iter().filter(|line| line["verdict"] == "differs").collect();
    assert_eq!(wrong.len(), 1, "{}", run.printed());
    assert_eq!(wrong[0]["id"], "test_matmulinteger/test_data_set_0");
    assert_eq!(wrong[0]["first"], json!({"at": 7, "got": -127, "expected": -128}));
    // A single test, by its directory and by its model.
    let one = dir.path().join("test_quantizelinear");
    for path in [one.clone(), one.join("model.onnx")] {
        let results = objects(&tiebreak(&["eval", "--cases", path.to_str().expect("UTF-8")]).exits(0).stdout);
        assert_eq!(results[0]["results"], json!([128, 129, 130, 255, 1, 0]));
    }
}

fn integer(name: &str, i: i64) -> Attribute {
    Attribute { name: name.to_owned(), i, ..Attribute::default() }
}

/// Blocks along the last axis, along the first axis of several, and along the second of four. A shorter last block is rejected.
#[test]
fn node_tests_of_blocks_are_judged() {
    let dir = dir();
    let attributes = |axis, size| vec![integer("axis", axis), integer("block_size", size)];
    let scales = || floats(&[2, 2], &[1.0, 2.0, 4.0, 0.5]);
    let points = || integers(INT8, &[2, 2], &[0, 1, -1, 3]);
    let x = floats(&[2, 4], &[1.5, 2.5, 1.0, 3.0, 6.0, 1000.0, 0.25, 0.75]);
    let y = integers(INT8, &[2, 4], &[2, 2, 1, 3, 1, 127, 3, 5]);
    let last = dir.path().join("test_quantizelinear_last_axis");
    node_test(&last, "QuantizeLinear", attributes(-1, 2), &[x, scales(), points()], &y);
    let x = floats(&[4, 2], &[1.5, 1.0, 2.5, 3.0, 6.0, 0.25, 1000.0, 0.75]);
    let y = integers(INT8, &[4, 2], &[2, 1, 2, 3, 1, 3, 127, 5]);
    let first = dir.path().join("test_quantizelinear_first_axis");
    node_test(&first, "QuantizeLinear", attributes(0, 2), &[x, scales(), points()], &y);
    let stored = integers(UINT8, &[1, 4, 1, 2], &[3, 89, 34, 200, 74, 59, 0, 255]);
    let scales = floats(&[1, 2, 1, 2], &[2.0, 4.0, 1.0, 0.5]);
    let real = floats(&[1, 4, 1, 2], &[6.0, 356.0, 68.0, 800.0, 74.0, 29.5, 0.0, 127.5]);
    let inputs = [stored, scales];
    node_test(&dir.path().join("test_dequantizelinear_blocked"), "DequantizeLinear", attributes(1, 2), &inputs, &real);
    let path = dir.path().to_str().expect("UTF-8");
    let run = tiebreak(&["judge", "--cases", path]).exits(0);
    assert!(run.stdout.contains("3 lines, 24 results compared: 3 lines equal"), "{}", run.printed());
    let y = integers(INT8, &[4, 2], &[2, 1, 2, 3, 1, 3, 127, 4]);
    put(&first.join("test_data_set_0"), "output_0.pb", &y.encode_to_vec());
    let run = tiebreak(&["judge", "--cases", path]).exits(1);
    assert!(run.stdout.contains("1 differing result"), "{}", run.printed());
    node_test(&dir.path().join("test_dequantizelinear_blocked"), "DequantizeLinear", attributes(1, 3), &inputs, &real);
    let run = tiebreak(&["judge", "--cases", path]).exits(2);
    assert!(run.printed().contains("whole blocks are read"), "{}", run.printed());
}

#[test]
fn node_tests_that_cannot_be_judged_say_why() {
    let float = || floats(&[1], &[1.0]);
    let byte = |dims: &[i64], values: &[i32]| integers(UINT8, dims, values);
    type Row = (&'static str, Vec<Attribute>, Vec<Tensor>, Tensor, &'static str);
    let rows: [Row; 9] = [
        ("Relu", vec![], vec![float()], float(), "Relu is no operator that is read"),
        ("QLinearMatMul", vec![], vec![float()], float(), "its input 0 is neither UINT8 nor INT8"),
        (
            "QLinearMatMul",
            vec![],
            scaled_product(1e30, 1e30, 1.0).0.into(),
            byte(&[1, 2], &[1, 2]),
            "outside of 2^-32 to 2^31",
        ),
        ("QuantizeLinear", vec![], vec![float()], byte(&[1], &[1]), "QuantizeLinear has no input 1"),
        (
            "QuantizeLinear",
            vec![],
            vec![float(), float()],
            integers(INT64, &[1], &[1]),
            "output_0.pb: TensorProto: its type is INT64",
        ),
        (
            "MatMulInteger",
            vec![],
            vec![byte(&[2], &[1, 2]), byte(&[2], &[1, 2])],
            integers(INT32, &[1], &[5]),
            "two matrices are read",
        ),
        (
            "MatMulInteger",
            vec![],
            vec![byte(&[1, 2], &[1]), byte(&[2, 1], &[1, 2])],
            integers(INT32, &[1, 1], &[5]),
            "1 values for dimensions of [1, 2]",
        ),
        (
            "ConvInteger",
            vec![Attribute { name: "auto_pad".to_owned(), s: b"SAME_UPPER".to_vec(), ..Attribute::default() }],
            vec![byte(&[1, 1, 1, 1], &[1]), byte(&[1, 1, 1, 1], &[1])],
            integers(INT32, &[1, 1, 1, 1], &[1]),
            "auto_pad SAME_UPPER; write its pads",
        ),
        (
            "DequantizeLinear",
            vec![],
            vec![byte(&[2, 2], &[1; 4]), floats(&[2, 1], &[1.0; 2])],
            floats(&[2, 2], &[1.0; 4]),
            "without a block_size",
        ),
    ];
    for (op, attributes, inputs, output, said) in rows {
        let dir = dir();
        node_test(dir.path(), op, attributes, &inputs, &output);
        let run = tiebreak(&["judge", "--cases", dir.path().to_str().expect("UTF-8"), "--format=json"]).exits(2);
        let error = objects(&run.stdout)[0]["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(said) && error.contains("test_data_set_0"), "{op}: {error}");
    }
    let dir = dir();
    let path = dir.path().to_str().expect("UTF-8").to_owned();
    let says = |word: &str| {
        let run = tiebreak(&["judge", "--cases", &path, "--format=json"]).exits(2);
        assert!(run.printed().contains(word), "{word}: {}", run.printed());
    };
    says("neither model.onnx");
    put(dir.path(), "model.onnx", b"text");
    says("no test_data_set_* beside it");
    fs::create_dir(dir.path().join("test_data_set_0")).expect("a directory");
    says("model.onnx: ");
    node_test(dir.path(), "QuantizeLinear", Vec::new(), &[float(), float()], &byte(&[1], &[1]));
    put(dir.path(), "test_data_set_0/input_1.pb", b"\xff\xff");
    says("input_1.pb: TensorProto, at byte 0");
    fs::remove_file(dir.path().join("test_data_set_0/input_0.pb")).expect("it is there");
    says("input_0.pb");
}

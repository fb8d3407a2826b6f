//! Tests of TOSA's conformance suite for `eval` and `judge`. The files have the form that tosa-tools 2026.8 writes. Its 141 tests of RESCALE and
//! MATMUL of int8, with the results of its reference model, were judged by hand.

use crate::common::tiebreak;
use crate::offline_files::{npy, objects, put};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use serde_json::{Value, json};
use std::path::Path;

/// Values of `DType` and `Op` in tosa.fbs.
const INT8: u32 = 3;
const INT16: u32 = 4;
const INT32: u32 = 5;
const MATMUL: u32 = 7;
const RESCALE: u32 = 66;
const CONST: u32 = 67;

/// Returns the offset of a field in a vtable.
const fn slot(number: u16) -> u16 {
    4 + 2 * number
}

/// Tensor of the file: name, shape, type, and the bytes of a constant.
struct Tensor {
    name: &'static str,
    shape: Vec<i32>,
    element: u32,
    data: Vec<u8>,
}

fn tensor(name: &'static str, shape: &[i32], element: u32, data: &[u8]) -> Tensor {
    Tensor { name, shape: shape.to_vec(), element, data: data.to_vec() }
}

/// Rounding mode, and true if input and output are unsigned.
type Rescale = (u32, bool, bool);

/// Returns a file with constants and one operator, whose output is the last tensor.
fn file(op: u32, rescale: Option<Rescale>, tensors: &[Tensor]) -> Vec<u8> {
    let mut b = FlatBufferBuilder::new();
    let mut listed = Vec::new();
    for tensor in tensors {
        let (name, shape) = (b.create_string(tensor.name), b.create_vector(&tensor.shape));
        let data = b.create_vector(&tensor.data);
        let start = b.start_table();
        b.push_slot_always(slot(0), name);
        b.push_slot_always(slot(1), shape);
        b.push_slot_always(slot(2), tensor.element);
        b.push_slot_always(slot(3), data);
        listed.push(b.end_table(start));
    }
    let tensors_at = b.create_vector(&listed);
    let names: Vec<_> = tensors.iter().map(|tensor| b.create_string(tensor.name)).collect();
    let mut operators = Vec::new();
    for (at, _) in tensors.iter().enumerate().filter(|(_, tensor)| !tensor.data.is_empty()) {
        let outputs = b.create_vector(&names[at..=at]);
        let start = b.start_table();
        b.push_slot_always(slot(0), CONST);
        b.push_slot_always(slot(4), outputs);
        operators.push(b.end_table(start));
    }
    let attribute = rescale.map(|(mode, input, output)| {
        let start = b.start_table();
        b.push_slot_always(slot(0), true);
        b.push_slot_always(slot(1), mode);
        b.push_slot_always(slot(3), input);
        b.push_slot_always(slot(4), output);
        let end: WIPOffset<UnionWIPOffset> = WIPOffset::new(b.end_table(start).value());
        end
    });
    let (inputs, outputs) = names.split_at(names.len() - 1);
    let (inputs, outputs) = (b.create_vector(inputs), b.create_vector(outputs));
    let start = b.start_table();
    b.push_slot_always(slot(0), op);
    if let Some(attribute) = attribute {
        b.push_slot_always(slot(1), 66u8);
        b.push_slot_always(slot(2), attribute);
    }
    b.push_slot_always(slot(3), inputs);
    b.push_slot_always(slot(4), outputs);
    operators.push(b.end_table(start));
    let operators = b.create_vector(&operators);
    let start = b.start_table();
    b.push_slot_always(slot(1), operators);
    b.push_slot_always(slot(2), tensors_at);
    let block = b.end_table(start);
    let blocks = b.create_vector(&[block]);
    let start = b.start_table();
    b.push_slot_always(slot(1), blocks);
    let region = b.end_table(start);
    let regions = b.create_vector(&[region]);
    let start = b.start_table();
    b.push_slot_always(slot(1), regions);
    let graph = b.end_table(start);
    b.finish(graph, Some("TOSA"));
    b.finished_data().to_vec()
}

/// Writes a test: its description, its operator, and arrays of inputs and results, one in each file.
fn test(dir: &Path, operator: &[u8], inputs: &[&str], arrays: &[(&str, Vec<u8>)]) {
    std::fs::create_dir_all(dir).expect("a directory");
    let files: Vec<String> = inputs.iter().map(|name| format!("{name}.npy")).collect();
    let description = json!({
        "tosa_file": "test.tosa", "ifm_name": inputs, "ifm_file": files, "ofm_name": ["result-0"],
        "ofm_file": ["ref-result-0.npy"], "expected_failure": false, "version": "1.2",
    });
    put(dir, "desc.json", description.to_string().as_bytes());
    put(dir, "test.tosa", operator);
    arrays.iter().for_each(|(name, bytes)| drop(put(dir, name, bytes)));
}

/// Multiplier and shift at which TOSA's two rounding modes differ.
const SCALE: (i32, u8) = (1_395_864_371, 39);

/// Writes a rescale of int32 to int8 in a rounding mode.
fn rescale(dir: &Path, mode: u32, x: &[i32], results: &[i8]) {
    let (element, zero) = (INT32, 0i32.to_le_bytes());
    let tensors = [
        tensor("input-0", &[x.len() as i32], element, &[]),
        tensor("const-0", &[1], INT32, &SCALE.0.to_le_bytes()),
        // Padded to a whole word, as by the generator.
        tensor("const-1", &[1], INT8, &[SCALE.1, 0, 0, 0, 0, 0, 0, 0]),
        tensor("const-2", &[1], element, &zero),
        tensor("const-3", &[1], INT8, &[3]),
        tensor("result-0", &[x.len() as i32], INT8, &[]),
    ];
    let words: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    let bytes: Vec<u8> = results.iter().map(|v| *v as u8).collect();
    let shape = format!("({},)", x.len());
    let arrays =
        [("input-0.npy", npy("<i4", false, &shape, &words)), ("ref-result-0.npy", npy("|i1", false, &shape, &bytes))];
    test(dir, &file(RESCALE, Some((mode, false, false)), &tensors), &["input-0"], &arrays);
}

/// Returns `apply_scale_32` of TOSA's specification, in 128 bits, with the zero point 3 and the clamp to int8.
fn scaled(x: i32, double: bool) -> i8 {
    let (m, shift) = (i128::from(SCALE.0), u32::from(SCALE.1));
    let twice = if double { if x >= 0 { 1 << 30 } else { -(1 << 30) } } else { 0 };
    let rounded = (i128::from(x) * m + (1 << (shift - 1)) + twice) >> shift;
    (rounded + 3).clamp(-128, 127) as i8
}

#[test]
fn tests_of_tosa_are_judged() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().to_str().expect("UTF-8");
    // The rounding modes differ at 984 and -57698; the last value is beyond the clamp.
    let x = [984, -57_698, 0, 30_000, -30_000, 70_000];
    for (name, mode, double) in [("single", 1, false), ("double", 3, true)] {
        rescale(&dir.path().join("rescale").join(name), mode, &x, &x.map(|x| scaled(x, double)));
    }
    assert_ne!(scaled(984, false), scaled(984, true));
    // Two products of 1x2 by 2x1, with zero points.
    let tensors = [
        tensor("input-0", &[2, 1, 2], INT8, &[]),
        tensor("input-1", &[2, 2, 1], INT8, &[]),
        tensor("const-0", &[1], INT8, &[1]),
        tensor("const-1", &[1], INT8, &[0xfe]),
        tensor("result-0", &[2, 1, 1], INT32, &[]),
    ];
    let results = [(3 - 1) * (4 + 2) + (5 - 1) * (-6 + 2), (-7 - 1) * (8 + 2) + (9 - 1) * (10 + 2)];
    let words: Vec<u8> = results.iter().flat_map(|v: &i32| v.to_le_bytes()).collect();
    let arrays = [
        ("input-0.npy", npy("|i1", false, "(2, 1, 2)", &[3, 5, 0xf9, 9])),
        ("input-1.npy", npy("|i1", false, "(2, 2, 1)", &[4, 0xfa, 8, 10])),
        ("ref-result-0.npy", npy("<i4", false, "(2, 1, 1)", &words)),
    ];
    test(&dir.path().join("matmul/one"), &file(MATMUL, None, &tensors), &["input-0", "input-1"], &arrays);
    let run = tiebreak(&["judge", "--cases", path]).exits(0);
    assert!(run.stdout.contains("4 lines, 14 results compared: 4 lines equal"), "{}", run.printed());
    // The other rounding mode is found, with its class.
    rescale(&dir.path().join("rescale/double"), 3, &x, &x.map(|x| scaled(x, false)));
    let run = tiebreak(&["judge", "--cases", path, "--format=json"]).exits(1);
    let found = objects(&run.stdout);
    let wrong: Vec<&Value> = found.iter().filter(|line| line["verdict"] == "differs").collect();
    assert_eq!((wrong.len(), &wrong[0]["id"]), (1, &json!("rescale/double")), "{}", run.printed());
    let summary = &found.last().expect("a summary")["summary"]["causes"][0];
    assert_eq!(summary["by"], "tosa-apply-scale-32-double", "{}", run.printed());
}

#[test]
fn tests_of_tosa_that_are_not_read_say_why() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path();
    let of = |name: &str| path.join(name).to_str().expect("UTF-8").to_owned();
    let says = |name: &str, said: &str| {
        let run = tiebreak(&["judge", "--cases", &of(name), "--format=json"]).exits(2);
        let error = objects(&run.stdout).first().and_then(|line| line["error"].as_str().map(str::to_owned));
        assert!(error.as_ref().is_some_and(|error| error.contains(said)), "{name}: {}", run.printed());
    };
    rescale(&path.join("inexact"), 2, &[1], &[3]);
    says("inexact", "its rounding mode leaves the result open");
    rescale(&path.join("cut"), 1, &[1], &[3]);
    let whole = std::fs::read(path.join("cut/test.tosa")).expect("a file");
    put(&path.join("cut"), "test.tosa", &whole[..whole.len() / 2]);
    says("cut", "test.tosa");
    test(&path.join("other"), &file(1, None, &[tensor("input-0", &[1], INT16, &[])]), &["input-0"], &[]);
    says("other", "operator 1 of tosa.fbs; MATMUL and RESCALE are read");
    put(&path.join("other"), "desc.json", b"{}");
    says("other", "its keys are not those of a test of TOSA");
    test(&path.join("other"), &file(1, None, &[tensor("input-0", &[1], INT16, &[])]), &["input-0"], &[]);
    rescale(&path.join("without"), 1, &[1], &[3]);
    std::fs::remove_file(path.join("without/ref-result-0.npy")).expect("it is there");
    says("without", "expected: missing");
    let evaluated = tiebreak(&["eval", "--cases", &of("without")]).exits(0);
    assert_eq!(objects(&evaluated.stdout)[0]["results"], json!([3]));
    // Among other tests, they are skipped and counted.
    rescale(&path.join("right"), 1, &[1], &[3]);
    for damaged in ["without", "cut"] {
        std::fs::remove_dir_all(path.join(damaged)).expect("it is there");
    }
    let run = tiebreak(&["judge", "--cases", path.to_str().expect("UTF-8")]).exits(0);
    let left_out =
        ["1 test of TOSA left out: its rounding mode leaves", "1 test of TOSA left out: TosaGraph: operator 1 of"];
    assert!(run.stdout.contains("1 line equal"), "{}", run.printed());
    assert!(left_out.iter().all(|said| run.stderr.contains(said)), "{}", run.printed());
}

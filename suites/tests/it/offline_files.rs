//! `eval` and `judge` on usual file formats: arrays of numpy, and tables.

use crate::common::tiebreak;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

pub(crate) fn dir() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

pub(crate) fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

/// Writes a file, and returns its path.
pub(crate) fn put(dir: &Path, name: &str, bytes: &[u8]) -> String {
    let path = dir.join(name);
    fs::write(&path, bytes).expect("it can be written");
    path.to_str().expect("UTF-8").to_owned()
}

/// Returns a file in the format of `numpy.save`, version 1.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// Returns a file in the format of `numpy.savez_compressed`.
fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        out.start_file(format!("{name}.npy"), options).expect("a file of the archive");
        out.write_all(bytes).expect("it can be written");
    }
    out.finish().expect("an archive").into_inner()
}

fn words(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn tensors_of_files_are_those_of_the_line() {
    let dir = dir();
    let path = dir.path();
    put(path, "lhs.npy", &npy("|i1", false, "(1, 3)", &[1, 2, 0xff]));
    // Columns first: [[1, 2], [-3, 4], [5, 6]].
    put(path, "rhs.npy", &npy("<i4", true, "(3, 2)", &words(&[1, -3, 5, 2, 4, 6])));
    put(
        path,
        "all.npz",
        &npz(&[
            ("out", npy(">i8", false, "(2,)", &[[0xffu8; 7].as_slice(), &[0xf6], &[0; 7], &[4]].concat())),
            ("other", npy("|b1", false, "(1,)", &[1])),
        ]),
    );
    put(path, "x.npy", &npy("<f2", false, "(2,)", &[0x00, 0x3c, 0x00, 0x7c]));
    put(path, "one.npz", &npz(&[("x", npy("<f4", false, "(1,)", &0.45f32.to_le_bytes()))]));
    let lines = [
        json!({"op": "matmul", "scheme": "exact", "case": "m=1 n=2 k=3 lhs=@lhs.npy rhs=@rhs.npy", "expected": "@all.npz:out"}),
        json!({"op": "matmul", "scheme": "exact", "case": {"m": 1, "n": 2, "k": 3, "lhs": "@lhs.npy", "rhs": "@rhs.npy"}, "expected": [-10, 4]}),
        json!({"op": "quantize", "scheme": "nearest-even", "type": "!quant.uniform<i8:f16, 1.0:1>", "case": {"shape": "2", "x": "@x.npy"}, "expected": [2, 127]}),
        json!({"op": "quantize", "scheme": "nearest-even", "type": "!quant.uniform<i8:f32, 0.3:1>", "case": {"x": "@one.npz"}, "expected": [2]}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run = tiebreak(&["judge", "--cases", &put(path, "cases.jsonl", text.as_bytes())]).exits(0);
    assert!(run.stdout.contains("4 lines, 7 results compared: 4 lines equal"), "{}", run.printed());
}

/// The error of a file has its name, the argument, and a remedy; other lines are evaluated.
#[test]
fn files_that_hold_no_tensor_are_refused() {
    let dir = dir();
    let path = dir.path();
    put(path, "text.npy", b"1, 2, 3");
    put(path, "cut.npy", &npy("<i4", false, "(1000000000000,)", &[1, 0, 0, 0]));
    put(path, "records.npy", &{
        let mut bytes = npy("<i4", false, "(1,)", &[0; 8]);
        let old = b"'<i4'";
        let at = bytes.windows(old.len()).position(|window| window == old).expect("the type");
        bytes.splice(at..at + old.len(), b"'|S4'".iter().copied());
        bytes
    });
    put(path, "two.npz", &npz(&[("a", npy("|i1", false, "(1,)", &[1])), ("b", npy("|i1", false, "(1,)", &[1]))]));
    put(path, "text.npz", b"no archive");
    put(path, "many.npy", &npy("|i1", false, "(2,)", &[1, 2]));
    let rows = [
        ("@missing.npy", ["lhs: ", "missing.npy", "cannot read"]),
        ("@text.npy", ["lhs: text.npy", "no array of numpy", "numpy.save"]),
        ("@cut.npy", ["lhs: cut.npy", "cut off", "1000000000000"]),
        ("@records.npy", ["lhs: records.npy", "S4", "give integers"]),
        ("@two.npz", ["lhs: two.npz", "2 arrays (a, b)", "FILE.npz:ARRAY"]),
        ("@two.npz:c", ["lhs: two.npz", "no array `c`", "it has a, b"]),
        ("@text.npz", ["lhs: text.npz", "no archive of numpy", "numpy.savez"]),
        ("@many.npy", ["lhs", "more than the 1 elements", "list"]),
    ];
    let mut text: String = rows
        .map(|(file, _)| format!("{}\n", json!({"op": "matmul", "scheme": "exact", "case": {"lhs": file}})))
        .concat();
    text += &format!("{}\n", json!({"op": "matmul", "scheme": "exact", "case": {"lhs": [3], "rhs": [4]}}));
    let run = tiebreak(&["eval", "--cases", &put(path, "cases.jsonl", text.as_bytes())]).exits(2);
    let all = objects(&run.stdout);
    for ((file, said), line) in rows.iter().zip(&all) {
        let error = line["error"].as_str().unwrap_or_else(|| panic!("{file}: {line}"));
        assert!(said.iter().all(|word| error.contains(word)), "{file}: {error}");
    }
    assert_eq!(all[8]["results"], json!([12]));
}

#[test]
fn a_table_has_a_case_a_line() {
    let dir = dir();
    let text = "op,scheme,type,x,m,s,case,expected,id\n\
                fpm,gemmlowp-double,,\"[1000,-5,7]\",1395864371,-8,,3 0 0,multiply\n\
                requantize,ties-up:wrap,uint8,,,,\"m=1395864371 s=-8 zero_point=5 x=1000\",8,\n\
                fpm,ties-up,,1000,1395864371,-8,,4,wrong\n\
                fpm,ties-up,,1000\n\
                fpm,tie-up,,1000,1395864371,-8,,3,\n";
    let path = put(dir.path(), "cases.csv", text.as_bytes());
    let run = tiebreak(&["judge", "--cases", &path, "--format=json"]).exits(2);
    let all = objects(&run.stdout);
    let verdicts: Vec<&str> = all.iter().filter_map(|line| line["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["equal", "equal", "differs", "refused", "refused"], "{}", run.printed());
    assert_eq!((&all[0]["line"], &all[0]["id"], &all[2]["id"]), (&json!(2), &json!("multiply"), &json!("wrong")));
    let error = |at: usize| all[at]["error"].as_str().unwrap_or_default();
    assert!(
        error(3).contains("4 cells, and the first line has 9 columns") && error(4).contains("`ties-up`"),
        "{all:?}"
    );
    for (text, said) in [
        ("", "no column `op`"),
        ("scheme,x\nties-up,3\n", "no column `op`; write a first line such as"),
        ("op,x,x\nfpm,3,4\n", "the column `x` is there twice"),
        ("op,scheme,x\n", "no case in it"),
    ] {
        let run = tiebreak(&["eval", "--cases", &put(dir.path(), "bad.csv", text.as_bytes())]).exits(2);
        assert!(run.stderr.contains(said) && run.stderr.contains("bad.csv"), "{}", run.printed());
    }
}

/// A chain gives the results of its stages in sequence, in any notation of its cases.
#[test]
fn chains_are_stages_one_after_the_other() {
    let dir = dir();
    put(dir.path(), "rhs.npy", &npy("|i1", false, "(2, 2)", &[1, 2, 3, 4]));
    let (op, scheme) = ("matmul | requantize", "exact:wrap | gemmlowp-double");
    let lines = [
        json!({"op": op, "scheme": scheme, "case": "n=2 k=2 lhs=[100,7] rhs=[1,2,3,4] | m=1073741824 s=-1 zero_point=5"}),
        json!({"op": op, "scheme": scheme, "type": "int8 | uint8", "id": 7, "case": [{"n": 2, "k": 2, "lhs": [100, 7], "rhs": "@rhs.npy"}, {"m": 1_073_741_824, "s": -1, "zero_point": 5, "min": 0, "max": 255}]}),
        json!({"op": "quantize | dequantize | quantize", "scheme": "nearest-even | ideal | nearest-even", "type": "!quant.uniform<i8:f32, 0.5:1> | !quant.uniform<i8:f32, 0.5:1> | !quant.uniform<i8:f32, 0.25>",
            "case": "shape=2 x=[0.75,-2] | shape=2 | shape=2"}),
        json!({"op": "conv2d|requantize", "kernel": "|tflite-requantize-i8", "scheme": "exact|", "case": "input=3 weights=40 | m=1073741824 s=0"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run = tiebreak(&["eval", "--cases", &put(dir.path(), "chains.jsonl", text.as_bytes())]).exits(0);
    let all = objects(&run.stdout);
    // 100*1 + 7*3 = 121 and 100*2 + 7*4 = 228: half of 121 rounds to 61, and half of 61 to 31; with the zero point 36 and 62.
    assert_eq!(all[0]["results"], json!([36, 62]), "{}", run.printed());
    assert_eq!((&all[1]["results"], &all[1]["id"]), (&json!([36, 62]), &json!(7)));
    // 0.75 / 0.5 + 1 = 2.5 goes to the even 2: one step from the zero point, that is two quarters.
    assert_eq!(all[2]["results"], json!([2, -8]), "{}", run.printed());
    assert_eq!(all[3]["results"], json!([60]), "{}", run.printed());
    let rows = [
        (
            json!({"op": op, "scheme": "exact:wrap", "case": "k=1 | m=1 s=0"}),
            "scheme: 1 parts for a chain of 2 operations",
        ),
        (
            json!({"op": op, "scheme": scheme, "case": "lhs=1 rhs=1 | m=1073741824 s=0 x=3"}),
            "stage 2 (requantize): its case has every operand (x)",
        ),
        (
            json!({"op": "matmul | requantise", "scheme": scheme, "case": "lhs=1 rhs=1 | m=1"}),
            "stage 2 (requantise): unknown operation",
        ),
        (json!({"op": op, "scheme": scheme, "case": {"lhs": 1}}), "case: neither a text nor a list"),
        (json!({"op": op, "scheme": scheme, "case": "k=0 lhs=1 rhs=1 | m=1"}), "stage 1 (matmul)"),
    ];
    let text: String = rows.iter().map(|(line, _)| format!("{line}\n")).collect();
    let run = tiebreak(&["eval", "--cases", &put(dir.path(), "bad.jsonl", text.as_bytes())]).exits(2);
    for ((line, said), found) in rows.iter().zip(objects(&run.stdout)) {
        assert!(found["error"].as_str().is_some_and(|error| error.contains(said)), "{line}: {found}");
    }
}

/// `eval --exact` prints the value before any rounding, next to the result.
#[test]
fn exact_values_stand_beside_the_results() {
    let dir = dir();
    let rows = [
        (
            json!({"op": "fpm", "scheme": "ties-up", "case": "m=1073741825 s=-1 x=-1"}),
            json!(["-1073741825/4294967296"]),
        ),
        (
            json!({"op": "requantize", "scheme": "ties-up:wrap", "case": "m=1073741824 s=-1 bias=4 zero_point=5 x=1000"}),
            json!(["256"]),
        ),
        (
            json!({"op": "quantize", "scheme": "nearest-even", "type": "!quant.uniform<i8:f32, 0.5:1>", "case": {"shape": "3", "x": [0.25, "inf", -300]}}),
            json!(["3/2", null, "-599"]),
        ),
        (
            json!({"op": "dequantize", "scheme": "ideal", "type": "!quant.uniform<i8:f32, 0.25:1>", "case": {"q": 2}}),
            json!(["1/4"]),
        ),
        (
            json!({"op": "matmul", "scheme": "exact:wrap", "type": "int16", "case": {"k": 2, "lhs": [-32768, -32768], "rhs": [-32768, -32768]}}),
            json!(["2147483648"]),
        ),
        (
            json!({"op": "conv2d", "scheme": "exact:wrap", "case": {"height": 1, "width": 1, "input": [3], "weights": [4], "input_zero_point": 1}}),
            json!(["8"]),
        ),
        (
            json!({"op": "dot", "scheme": "products-4:wrap", "case": {"acc": [2147483647], "a": [1, 1, 1, 1], "b": [1, 1, 1, 1]}}),
            json!(["2147483651"]),
        ),
        (
            json!({"op": "add", "scheme": "nearest-even", "case": {"lhs_scale": 0.5, "lhs": [3], "rhs": [4], "rhs_scale": 1.0, "out_scale": 1.0}}),
            json!(["11/2"]),
        ),
        (
            json!({"op": "mul", "scheme": "nearest-even", "case": {"lhs_scale": 0.5, "lhs": [3], "rhs": [4], "rhs_scale": 1.0, "out_scale": 4.0}}),
            json!(["3/2"]),
        ),
    ];
    let text: String = rows.iter().map(|(line, _)| format!("{line}\n")).collect();
    let path = put(dir.path(), "cases.jsonl", text.as_bytes());
    let plain = objects(&tiebreak(&["eval", "--cases", &path]).exits(0).stdout);
    let exact = objects(&tiebreak(&["eval", "--cases", &path, "--exact"]).exits(0).stdout);
    for (((line, value), plain), exact) in rows.iter().zip(&plain).zip(&exact) {
        assert_eq!(exact["exact"], *value, "{line}");
        assert_eq!(exact["results"], plain["results"], "{line}");
        assert!(plain.get("exact").is_none());
    }
}

/// J: a user wrote results row by row, under the name `results`. The table named neither the rejected lines nor the reasons, and called the file's
/// result `expected`.
#[test]
fn results_may_be_nested_and_refused_lines_are_printed_with_their_reasons() {
    let dir = dir();
    let line = |results: &str| {
        format!(
            r#"{{"op":"matmul","scheme":"exact","type":"i8","id":"mine","case":"m=1 n=2 k=1 lhs=1 rhs=3",{results}}}"#
        )
    };
    let judged = |lines: &[String]| {
        tiebreak(&["judge", "--cases", &put(dir.path(), "lines.jsonl", lines.join("\n").as_bytes())])
    };
    for results in [r#""expected":[3,3]"#, r#""results":[[3,3]]"#, r#""results":[[3],[3]]"#] {
        let run = judged(&[line(results)]).exits(0);
        assert!(run.stdout.contains("1 line, 2 results compared: 1 line equal, 0 differ"), "{}", run.printed());
    }
    let run = judged(&[line(r#""results":[[3,4]]"#)]).exits(1);
    assert!(run.stdout.contains("at=1: the file has 4, exact gives 3"), "{}", run.printed());
    let run = judged(&[line(r#""results":[3,3]"#), line(r#""results":[3]"#), "{".to_owned()]).exits(2);
    for said in ["line 2 (id mine): expected: ", "and the case has 2 results", "  line 3: EOF", "1 line equal"] {
        assert!(run.stdout.contains(said), "{}", run.printed());
    }
}

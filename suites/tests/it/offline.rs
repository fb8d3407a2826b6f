//! `eval` and `judge`: cases of a file, by scheme or kernel.

use crate::common::tiebreak;
use serde_json::{Value, json};
use std::fmt::Write;

fn written(lines: &[Value]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("cases.jsonl");
    let text = lines.iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").expect("a string");
        text
    });
    std::fs::write(&path, text).expect("it can be written");
    let path = path.to_str().expect("UTF-8").to_owned();
    (dir, path)
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

/// Returns a thousand cases of four operations.
fn thousand() -> Vec<Value> {
    let case = |i: i64| match i % 4 {
        0 => {
            json!({"op": "fpm", "scheme": "gemmlowp-double", "case": {"m": 1395864371, "s": -8, "x": i * 7919 - 3_000_000}})
        }
        1 => {
            json!({"op": "requantize", "scheme": "ties-up:wrap", "type": "uint8", "case": {"m": 1395864371, "s": -6, "x": i * 13}})
        }
        2 => json!({"op": "matmul", "scheme": "exact", "case": {"k": 2, "lhs": [i % 128, -1], "rhs": [3, i % 5]}}),
        _ => json!({"op": "add", "scheme": "nearest-even", "case": {"lhs_scale": 0.5, "lhs": [i % 100], "rhs": [3]}}),
    };
    (0..1000).map(case).collect()
}

#[test]
fn what_is_evaluated_is_judged_equal_and_one_corrupted_line_is_found() {
    let mut lines = thousand();
    let (_dir, path) = written(&lines);
    let results = objects(&tiebreak(&["eval", "--cases", &path]).exits(0).stdout);
    assert_eq!(results.len(), lines.len());
    lines.iter_mut().zip(&results).for_each(|(line, result)| line["expected"] = result["results"].clone());
    let (_dir, path) = written(&lines);
    let equal = objects(&tiebreak(&["judge", "--cases", &path, "--format=json"]).exits(0).stdout);
    assert_eq!(equal.last().expect("a summary")["summary"]["equal"], 1000);
    let right = lines[776]["expected"][0].as_i64().expect("an integer");
    lines[776]["expected"][0] = json!(right + 1);
    let (_dir, path) = written(&lines);
    let found = objects(&tiebreak(&["judge", "--cases", &path, "--format=json"]).exits(1).stdout);
    let differing: Vec<&Value> = found.iter().filter(|line| line["verdict"] == "differs").collect();
    assert_eq!(differing.len(), 1);
    assert_eq!(differing[0]["line"], 777);
    assert_eq!(differing[0]["first"], json!({"at": 0, "got": right + 1, "expected": right}));
}

#[test]
fn a_line_that_cannot_be_read_costs_no_other() {
    let (_dir, path) = written(&[
        json!({"op": "fpm", "scheme": "ties-up", "case": "x=3"}),
        json!({"op": "fpmm", "scheme": "ties-up", "case": "x=3"}),
        json!({"op": "fpm", "scheme": "tie-up", "case": "x=3"}),
        json!({"op": "fpm", "scheme": "ties-up", "case": "y=3"}),
        json!({"op": "matmul", "scheme": "exact", "case": "k=2 lhs=[1,2,3]"}),
        json!({"op": "fpm", "scheme": "ties-up", "kernel": "tvm-relay", "case": "x=3"}),
        json!({"op": "fpm", "kernel": "tvm-relay", "case": "x=5"}),
    ]);
    let all = objects(&tiebreak(&["eval", "--cases", &path]).exits(2).stdout);
    let says = |at: usize, word: &str| {
        let error = all[at]["error"].as_str().unwrap_or_default();
        assert!(error.contains(word), "{error}");
    };
    assert!(all[0]["results"].is_array() && all[6]["results"].is_array(), "{all:?}");
    says(1, "`fpm`");
    says(2, "`ties-up`");
    says(3, "unknown argument `y`");
    says(4, "more than the 2 elements");
    says(5, "either a scheme or a kernel");
}

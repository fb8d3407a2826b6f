//! `atlas`: all pairs of schemes, and the classes of schemes that are one function.

use crate::common::{Run, tiebreak};
use serde_json::{Value, json};

fn atlas(more: &[&str]) -> Run {
    tiebreak(&[&["atlas"], more].concat())
}

fn described(more: &[&str]) -> Value {
    serde_json::from_str(&atlas(&[more, &["--format=json"]].concat()).exits(0).stdout).expect("JSON")
}

fn pair<'a>(all: &'a Value, left: &str, right: &str) -> &'a Value {
    let pairs = all["pairs"].as_array().expect("pairs");
    pairs.iter().find(|p| p["left"] == left && p["right"] == right).unwrap_or_else(|| panic!("no {left}, {right}"))
}

const RIGHT: [&str; 2] = ["--shift=-31..0", "--multipliers=1395864371,1073741824"];

#[test]
fn who_agrees_on_right_shifts() {
    let all = described(&RIGHT);
    assert_eq!(all["parameters"], 64);
    let classes = all["classes"].as_array().expect("classes");
    let named = |c: &Value| {
        c.as_array()
            .expect("members")
            .iter()
            .map(|m| m["scheme"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let of = |scheme: &str| classes.iter().map(named).find(|c| c.contains(&scheme.to_owned())).expect("in a class");
    assert_eq!(of("ties-up"), ["ties-up", "tflite-single", "cmsis-nn-single"]);
    assert_eq!(of("gemmlowp-double"), ["gemmlowp-double", "sqrdmulh-fixup-srshl", "cmsis-nn-double"]);
    let tflite = classes.iter().flat_map(|c| c.as_array().expect("members")).find(|m| m["scheme"] == "tflite-single");
    assert_eq!(tflite.expect("listed")["kernels"], json!(["tflite-single"]));
    let double = pair(&all, "ties-up", "sqrdmulh-srshl");
    assert_eq!((&double["identical"], &double["identical_shifts"]), (&json!(false), &json!([[0, 0]])));
    assert_eq!((&double["largest_delta"], &double["highest_rate"]["rate"]), (&json!(1), &json!(0.25)));
    let first = json!({"x": 1, "multiplier": 1_073_741_824, "shift": -1, "left": 0, "right": 1});
    assert_eq!(double["witness"], first);
}

/// A statement of identity covers only counted parameters; the rest are listed.
#[test]
fn what_is_not_counted_is_told() {
    let all =
        described(&["--scheme=ties-up:wrap", "--scheme=gemmlowp-double", "--multipliers=1395864371", "--shift=0..31"]);
    let both = pair(&all, "ties-up:wrap", "gemmlowp-double");
    let number = |key: &str| both[key].as_u64().expect("a count");
    assert!(number("not_counted_parameters") > 0 && number("counted_parameters") > 4, "{both:#}");
    assert_eq!(number("not_counted_parameters") + number("counted_parameters"), 32);
    assert_eq!(both["larger_than_told"], true);
}

#[test]
fn a_file_and_a_spreadsheet() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("scales.csv");
    std::fs::write(&path, "multiplier,shift\n1395864371,-8\n1395864371,-8\n").expect("it can be written");
    let csv = atlas(&["--params", &path.to_string_lossy(), "--format=csv"]).exits(0).stdout;
    let line = "ties-up,sqrdmulh-srshl,0,1,0,4294967296,8388607,";
    assert!(csv.lines().any(|l| l.starts_with(line) && l.ends_with(",1,-197,1395864371,-8,-1,0")), "{csv}");
    assert!(csv.lines().any(|l| l.starts_with("tflite-single,sqrdmulh-srshl,0,1,0,")), "members of classes are apart");
}

#[test]
fn a_matrix_for_the_eye() {
    let table = atlas(&RIGHT).exits(0).stdout;
    let schemes: Vec<Value> =
        serde_json::from_str(&tiebreak(&["schemes", "--op=fpm", "--format=json"]).stdout).expect("JSON");
    for words in [
        &*format!("{} schemes on 64 pairs (m, s), all 2^32 accumulators of each", schemes.len()),
        "ties-up, tflite-single, cmsis-nn-single",
        "tflite-double",
        "every m at s 0",
        "x=1 m=1073741824 s=-1: 0, 1",
        "Other pairs were not examined.",
    ] {
        assert!(table.contains(words), "no `{words}` in\n{table}");
    }
}

#[test]
fn bad_input() {
    let refused = |more: &[&str], words: &[&str]| {
        let run = atlas(more);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.printed());
        for word in words {
            assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed());
        }
    };
    refused(&["--scheme=tie-up"], &["unknown scheme", "`ties-up`"]);
    refused(&["--scheme=ties-up"], &["at least two --scheme"]);
    refused(&["--shift=3..40"], &["-31..=31"]);
    refused(&["--shift=3..-1"], &["3 is above -1"]);
    refused(&["--multipliers=1,x"], &["`x` is not an int32"]);
    refused(&["--multipliers=0..2147483647"], &["more than 200,000 multipliers"]);
    refused(&["--multipliers=0..10000"], &["630,063 pairs (m, s)", "narrow"]);
    refused(&["--params=/nowhere.csv"], &["cannot read /nowhere.csv"]);
    refused(&["--params=/nowhere.csv", "--shift=0..1"], &["cannot be used with"]);
}

//! `schema`: the JSON Schemas of what commands print, against what they print. Those of ledgers are derived from their types in `reports`; the others
//! from the types below, which accept no unknown key. `UPDATE_EXPECT=1` writes them.

use crate::common::*;
use expect_test::expect_file;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A result of `eval`: a number, a text such as `inf`, or null without a value.
type Results = Vec<Option<Number>>;

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Number {
    Number(serde_json::Number),
    Text(String),
}

/// A line of `eval`: results, or an error.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Evaluated {
    /// Number of the line in the file, from 1.
    line: u64,
    /// The caller's name of the line.
    #[serde(default)]
    id: Value,
    /// Results, row by row.
    results: Option<Results>,
    /// Why the line could not be read.
    error: Option<String>,
}

/// A result that differs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Difference {
    /// Number of the result, from 0.
    at: u64,
    got: Number,
    expected: Number,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Equal,
    Differs,
    NotCompared,
    Refused,
}

/// A line of `judge`, and the last one.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[allow(dead_code)]
enum Judged {
    /// The last line.
    Last { summary: Summary },
    /// One line of the file.
    Line {
        line: u64,
        #[serde(default)]
        id: Value,
        verdict: Verdict,
        /// Results with an expected value.
        compared: Option<u64>,
        /// Results that differ.
        differ: Option<u64>,
        /// The first of them.
        first: Option<Difference>,
        /// Why the line was refused.
        error: Option<String>,
    },
}

/// Counts of lines, and causes over all lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Summary {
    lines: u64,
    equal: u64,
    differ: u64,
    not_compared: u64,
    refused: u64,
    /// Compared results.
    results: u64,
    causes: Vec<Cause>,
}

/// What explains the differences of one scheme and type.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Cause {
    op: String,
    /// Scheme or kernel, and type.
    by: String,
    class: String,
    because: String,
    differ: u64,
    /// The smallest case.
    case: Option<String>,
    witness: Difference,
}

/// A kernel, as `identify` finds it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Identified {
    op: String,
    kernel: String,
    /// The scheme that the lane claims.
    claimed: Option<String>,
    /// Schemes that were candidates.
    candidates: u64,
    /// Schemes that are left.
    left: Vec<String>,
    /// Schemes that give the same, and give no value to more inputs.
    partly: Vec<Partly>,
    /// Schemes of whole vectors and of the rest.
    apart: Option<Apart>,
    /// Inputs that excluded schemes.
    inputs: Vec<Input>,
    /// Excluded schemes, the nearest first.
    excluded: Vec<Excluded>,
    cases: u64,
    refused: u64,
    results: u64,
    /// Results that the first scheme that is left gives too.
    judged: u64,
    /// Why the kernel gave no results.
    refusal: Option<String>,
    /// The kernel in whose domain it was asked.
    like: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Partly {
    scheme: String,
    judged: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Apart {
    vector: u64,
    body: String,
    tail: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Input {
    case: String,
    excluded: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Excluded {
    scheme: String,
    explained: u64,
    compared: u64,
}

/// What `fingerprint` prints.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Fingerprint {
    format: u64,
    observations: u64,
    consistent: bool,
    verdict: Vec<String>,
    groups: Vec<Group>,
    excluded: Vec<Candidate>,
    next: Option<Next>,
}

/// Candidates that give the same outputs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Group {
    within: Option<i64>,
    candidates: Vec<Candidate>,
}

/// A scheme with the derivation of its multiplier, and the observation that excludes it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Candidate {
    scheme: String,
    derivation: Option<String>,
    family: String,
    multiplier: Option<i32>,
    shift: Option<i32>,
    explained: u64,
    line: Option<u64>,
    x: Option<i32>,
    expected: Option<i32>,
    observed: Option<i32>,
}

/// The input that tells most groups apart.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Next {
    x: i32,
    parameters: Parameters,
    zero_point: i32,
    min: i32,
    max: i32,
    outputs: Vec<Option<i32>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[allow(dead_code)]
enum Parameters {
    Multiplier { multiplier: i32, shift: i32 },
    Scales { si: String, sw: String, so: String },
}

/// The schema of a type, with room for keys that later versions add.
fn schema<T: JsonSchema>() -> String {
    let schema = SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    open(&mut schema);
    serde_json::to_string_pretty(&schema).expect("string keys only") + "\n"
}

fn open(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("additionalProperties");
            fields.remove("unevaluatedProperties");
            fields.values_mut().for_each(open);
        }
        Value::Array(items) => items.iter_mut().for_each(open),
        _ => {}
    }
}

#[test]
fn the_schemas_are_those_of_these_types() {
    expect_file!["../../src/schemas/eval.json"].assert_eq(&schema::<Evaluated>());
    expect_file!["../../src/schemas/judge.json"].assert_eq(&schema::<Judged>());
    expect_file!["../../src/schemas/identify.json"].assert_eq(&schema::<Vec<Identified>>());
    expect_file!["../../src/schemas/fingerprint.json"].assert_eq(&schema::<Fingerprint>());
}

/// The printed schema accepts the values, and refuses them without `required`.
#[track_caller]
fn accepts(name: &str, values: &[Value], required: &str) {
    let schema: Value = serde_json::from_str(&tiebreak(&["schema", name]).exits(0).stdout).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(!values.is_empty());
    for value in values {
        let errors: Vec<String> =
            validator.iter_errors(value).take(5).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}\n{value}");
        let mut without = value.clone();
        let object = if without.is_array() { &mut without[0] } else { &mut without };
        if object.as_object_mut().expect("an object").remove(required).is_some() {
            assert!(!validator.is_valid(&without), "{name} accepts an object without {required}");
        }
    }
}

#[track_caller]
fn read<T: DeserializeOwned>(values: &[Value]) {
    for value in values {
        serde_json::from_value::<T>(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn a_run_has_the_form_of_its_schema() {
    let broken =
        ["--op=fpm", "--kernel=mutant-tail-double-rounding", "--kernel=tvm-relay", "--effort=quick", "--format=json"];
    let broken = verify(&broken).exits(1);
    let holds = verify(&["--op=dequantize", "--op=dot", "--lane=host", "--effort=quick", "--format=json"]).exits(0);
    for run in [&broken, &holds] {
        let printed: Value = serde_json::from_str(&run.stdout).expect("JSON alone");
        accepts("verify", &[printed], "self_checks");
        accepts("ledger", &[run.ledger()], "verdict");
    }
    assert_eq!(broken.ledger()["code"]["fpm mutant-tail-double-rounding"], "impls/src/mutants/fpm_rounding.rs");
    let [old, new] = [&holds, &broken].map(|run| run.out().display().to_string());
    let diff = tiebreak(&["diff", &old, &new, "--format=json"]);
    accepts("diff", &[serde_json::from_str(&diff.stdout).expect("JSON")], "compared");
}

#[test]
fn lines_of_cases_have_the_form_of_their_schemas() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("cases.jsonl");
    let cases = [
        json!({"op": "fpm", "scheme": "ties-up", "id": "one", "case": {"m": 1395864371, "s": -8, "x": 7}, "expected": [0]}),
        json!({"op": "fpm", "scheme": "ties-up", "case": {"m": 1395864371, "s": 31, "x": 700_000}, "expected": [0]}),
        json!({"op": "quantize", "scheme": "nearest-even", "type": "!quant.uniform<i8:f32, 0.5>", "case": {"x": [0.25]}, "expected": [null]}),
        json!({"op": "fpm", "scheme": "ties-up", "case": {"m": 1395864371, "s": -1, "x": 700_000}, "expected": [1]}),
        json!({"op": "fpm", "scheme": "no-such-scheme", "case": {}}),
    ];
    std::fs::write(&path, cases.map(|case| format!("{case}\n")).concat()).expect("it can be written");
    let path = path.display().to_string();
    let evaluated = lines(&tiebreak(&["eval", "--cases", &path]).exits(2).stdout);
    accepts("eval", &evaluated, "line");
    read::<Evaluated>(&evaluated);
    let judged = lines(&tiebreak(&["judge", "--cases", &path, "--format=json"]).exits(2).stdout);
    accepts("judge", &judged, "verdict");
    read::<Judged>(&judged);
    let verdicts: Vec<&str> = judged.iter().filter_map(|line| line["verdict"].as_str()).collect();
    assert!(["differs", "refused"].iter().all(|verdict| verdicts.contains(verdict)), "{verdicts:?}");
}

#[test]
fn identified_kernels_and_fingerprints_have_the_form_of_their_schemas() {
    let found = tiebreak(&["identify", "--lane=host", "--op=fpm", "--op=dot", "--format=json"]);
    let found: Value = serde_json::from_str(&found.stdout).expect("JSON");
    read::<Vec<Identified>>(std::slice::from_ref(&found));
    accepts("identify", &[found], "left");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("observations.csv");
    for text in [
        "x,si,sw,so,observed\n1327,.0386069156,.0178998914,.1667338312,6\n",
        "x,multiplier,shift,observed\n7,1395864371,-8,0\n",
    ] {
        std::fs::write(&path, text).expect("it can be written");
        let printed = tiebreak(&["fingerprint", "--observations", &path.display().to_string(), "--format=json"]);
        let printed: Value = serde_json::from_str(&printed.stdout).expect("JSON");
        read::<Fingerprint>(std::slice::from_ref(&printed));
        accepts("fingerprint", &[printed], "groups");
    }
}

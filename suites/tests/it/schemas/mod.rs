//! `schema`: the JSON Schemas of commands, compared with their output. Schemas of ledgers are derived from types in `reports`; all others from the
//! types below, which accept no unknown key. `UPDATE_EXPECT=1` updates them.

mod audit;
mod lists;
mod questions;

use crate::common::*;
use clap::CommandFactory;
use expect_test::expect_file;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tiebreak_suites::cli::Cli;

/// Defines types that accept no unknown key.
macro_rules! forms {
    ($($(#[$about:meta])* struct $name:ident { $($(#[$of:meta])* $field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$about])*
            #[derive(Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            #[allow(dead_code)]
            pub(super) struct $name { $($(#[$of])* $field: $ty,)* }
        )*
    };
}
use forms;

/// Result of `eval`: a number, a text such as `inf`, or null without a value.
type Results = Vec<Option<Number>>;

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Number {
    Number(serde_json::Number),
    Text(String),
}

/// Line of `eval`: results, or an error.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Evaluated {
    /// Number of the line in the file, from 1.
    line: u64,
    /// Caller's name of the line.
    #[serde(default)]
    id: Value,
    /// Results, row by row.
    results: Option<Results>,
    /// Reason why the line could not be read.
    error: Option<String>,
}

/// Result that differs.
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

/// Line of `judge`, or the last one.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
#[allow(dead_code)]
enum Judged {
    /// Last line.
    Last { summary: Summary },
    /// Line of the file.
    Line {
        line: u64,
        #[serde(default)]
        id: Value,
        verdict: Verdict,
        /// Results with an expected value.
        compared: Option<u64>,
        /// Results that differ.
        differ: Option<u64>,
        /// First difference.
        first: Option<Difference>,
        /// Reason why the line was rejected.
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

/// Cause of the differences of one scheme and type.
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
    /// Smallest case.
    case: Option<String>,
    witness: Difference,
}

/// Kernel, as identified by `identify`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Identified {
    op: String,
    kernel: String,
    /// Scheme that the lane claims.
    claimed: Option<String>,
    /// Number of candidate schemes.
    candidates: u64,
    /// Remaining schemes.
    left: Vec<String>,
    /// Schemes with the same results, but without a value for more inputs.
    partly: Vec<Partly>,
    /// Schemes of whole vectors and of the remaining elements.
    apart: Option<Apart>,
    /// Inputs that excluded schemes.
    inputs: Vec<Input>,
    /// Excluded schemes, the nearest first.
    excluded: Vec<Excluded>,
    /// Results of the first cases, on which excluded schemes are compared.
    examined: u64,
    cases: u64,
    refused: u64,
    results: u64,
    /// Results that the first remaining scheme gives, too.
    judged: u64,
    /// Reason why the kernel gave no results.
    refusal: Option<String>,
    /// Kernel whose domain limits the inputs.
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
    /// Index of the first result that excludes the first of the schemes.
    at: u64,
    /// Result of the kernel at this index.
    got: String,
    /// Result of the first excluded scheme at this index.
    gives: String,
    excluded: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Excluded {
    scheme: String,
    explained: u64,
    compared: u64,
    /// Change to the scheme that reproduces all results of the first cases; null if a scheme is left, or if no change does.
    cause: Option<ExcludedCause>,
}

/// Class and description of a change to an excluded scheme.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct ExcludedCause {
    class: String,
    because: String,
}

/// Output of `fingerprint`.
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

/// Candidates with the same outputs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Group {
    within: Option<i64>,
    candidates: Vec<Candidate>,
}

/// Scheme with the derivation of its multiplier, and the observation that excludes it.
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

/// Input that distinguishes most groups.
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

/// Returns the schema of a type, with room for keys that later versions add.
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
    expect_file!["../../../src/schemas/eval.json"].assert_eq(&schema::<Evaluated>());
    expect_file!["../../../src/schemas/judge.json"].assert_eq(&schema::<Judged>());
    expect_file!["../../../src/schemas/identify.json"].assert_eq(&schema::<Vec<Identified>>());
    expect_file!["../../../src/schemas/fingerprint.json"].assert_eq(&schema::<Fingerprint>());
    expect_file!["../../../src/schemas/kernels.json"].assert_eq(&schema::<Vec<lists::Kernel>>());
    expect_file!["../../../src/schemas/schemes.json"].assert_eq(&schema::<Vec<lists::Scheme>>());
    expect_file!["../../../src/schemas/mutants.json"].assert_eq(&schema::<Vec<lists::Mutant>>());
    expect_file!["../../../src/schemas/corrupt.json"].assert_eq(&schema::<Vec<lists::Faults>>());
    expect_file!["../../../src/schemas/vectors.json"].assert_eq(&schema::<lists::Vectors>());
    expect_file!["../../../src/schemas/plan.json"].assert_eq(&schema::<lists::Plan>());
    expect_file!["../../../src/schemas/bounds.json"].assert_eq(&schema::<Vec<lists::Bound>>());
    expect_file!["../../../src/schemas/case.json"].assert_eq(&schema::<questions::Case>());
    expect_file!["../../../src/schemas/explain.json"].assert_eq(&schema::<questions::Explained>());
    expect_file!["../../../src/schemas/atlas.json"].assert_eq(&schema::<questions::Atlas>());
    expect_file!["../../../src/schemas/census.json"].assert_eq(&schema::<questions::Census>());
    expect_file!["../../../src/schemas/space.json"].assert_eq(&schema::<questions::Space>());
    expect_file!["../../../src/schemas/prove.json"].assert_eq(&schema::<questions::Proofs>());
    expect_file!["../../../src/schemas/prove-code.json"].assert_eq(&schema::<questions::ProvedCode>());
    expect_file!["../../../src/schemas/prove-kernels.json"].assert_eq(&schema::<questions::ProvedKernels>());
    expect_file!["../../../src/schemas/prove-bounds.json"].assert_eq(&schema::<questions::ProvedBounds>());
    expect_file!["../../../src/schemas/check-type.json"].assert_eq(&schema::<questions::Checked>());
    expect_file!["../../../src/schemas/check-type-file.json"].assert_eq(&schema::<questions::CheckedFile>());
    expect_file!["../../../src/schemas/rewrites.json"].assert_eq(&schema::<Vec<questions::Rewrite>>());
    expect_file!["../../../src/schemas/audit.json"].assert_eq(&schema::<audit::Audit>());
}

/// Commands that print the form of another command: `show` prints that of `verify`, and `merge` that of `census --space`.
const NAMED: [(&str, &str); 2] = [("show", "verify"), ("merge", "space")];

/// Every command with `--format json` has a schema, under its name or under that of another command.
#[test]
fn every_command_that_prints_json_has_a_schema() {
    let takes = |command: &clap::Command| {
        let values = command.get_arguments().find(|argument| argument.get_id() == "format");
        values.is_some_and(|values| values.get_possible_values().iter().any(|value| value.get_name() == "json"))
    };
    let root = Cli::command();
    let commands = root.get_subcommands().filter(|c| takes(c) || c.get_subcommands().any(takes));
    let of = |name: &str| {
        NAMED.iter().find(|(command, _)| *command == name).map_or(name.to_owned(), |(_, form)| (*form).to_owned())
    };
    let wanted: BTreeSet<String> = commands.map(|command| of(command.get_name())).collect();
    let schema = root.find_subcommand("schema").and_then(|c| c.get_arguments().next()).expect("its argument");
    let there: BTreeSet<String> =
        schema.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let without: Vec<&String> = wanted.difference(&there).collect();
    assert!(wanted.len() > 15 && without.is_empty(), "no schema of {without:?}");
    let more: Vec<&String> = there.difference(&wanted).collect();
    assert_eq!(
        more,
        ["check-type-file", "eval", "ledger", "prove-bounds", "prove-code", "prove-kernels"],
        "a schema of a form that has the name of no command"
    );
}

/// Checks that the output of a command has the form of its schema, and no key that the type lacks.
#[track_caller]
fn printed<T: DeserializeOwned>(form: &str, required: &str, arguments: &[&str]) {
    let run = tiebreak(&[arguments, &["--format", "json"]].concat());
    assert!(matches!(run.code, 0 | 1), "{}", run.printed());
    let values: Vec<Value> = match serde_json::from_str(&run.stdout) {
        Ok(value) => vec![value],
        Err(_) => lines(&run.stdout),
    };
    read::<T>(&values);
    accepts(form, &values, required);
}

#[test]
fn lists_have_the_form_of_their_schemas() {
    printed::<Vec<lists::Kernel>>("kernels", "kernel", &["kernels"]);
    printed::<Vec<lists::Scheme>>("schemes", "steps", &["schemes"]);
    printed::<Vec<lists::Mutant>>("mutants", "mutant", &["mutants", "--op=add"]);
    printed::<Vec<lists::Faults>>("corrupt", "tried", &["corrupt", "--op=add"]);
    printed::<Vec<lists::Bound>>("bounds", "because", &["bounds", "--kernel=arm-umlal-fast", "--kernel=arm-sadalp"]);
    let units = ["verify", "--op=transform", "--lane=host", "--effort=quick"];
    let planned: lists::Plan = {
        let run = tiebreak(&[&["plan", "--format=json", "--sample=1"][..], &units].concat()).exits(0);
        accepts("plan", &[serde_json::from_str(&run.stdout).expect("JSON")], "units");
        serde_json::from_str(&run.stdout).expect("a plan")
    };
    drop(planned);
    for (op, scheme) in [("dequantize", "ideal"), ("matmul", "exact"), ("fpm", "gemmlowp-double")] {
        printed::<lists::Vectors>("vectors", "vectors", &["vectors", "--op", op, "--scheme", scheme]);
    }
}

#[test]
fn answers_about_schemes_have_the_form_of_their_schemas() {
    let [left, right, m, s] = ["--left=ties-up", "--right=sqrdmulh-srshl", "--multiplier=1395864371", "--shift=-8"];
    printed::<questions::Case>("case", "schemes", &["case", "--x=-5", m, s]);
    printed::<questions::Census>("census", "differ", &["census", left, right, m, s]);
    printed::<questions::Census>("census", "differ", &["census", left, right, m, s, "--list=3"]);
    printed::<questions::Proofs>("prove", "pairs", &["prove", left, right, "--shift=-8..1"]);
    printed::<questions::Atlas>("atlas", "pairs", &["atlas", "--scheme=ties-up", "--scheme=sqrdmulh-srshl"]);
    let ledger = workspace().join("reports/published/2026-11-21-space-q31/ties-up-sqrdmulh-srshl-shift-8.jsonl");
    let out = tempfile::tempdir().expect("a directory");
    let out = out.path().join("space.jsonl").display().to_string();
    printed::<questions::Space>("space", "nothing", &["merge", &ledger.display().to_string(), "--out", &out]);
    printed::<questions::Checked>("check-type", "text", &["check-type", "!quant.uniform<i8:f32, 0.3:1>"]);
    printed::<questions::Checked>("check-type", "text", &["check-type", "tensor<4xf32>"]);
    let file = workspace().join("docs/examples/casts.mlir").display().to_string();
    printed::<questions::CheckedFile>("check-type-file", "text", &["check-type", &file]);
    printed::<Vec<questions::Rewrite>>("rewrites", "said", &["rewrites", "--type=!quant.uniform<i4:f32, 0.3>"]);
}

#[test]
fn explanations_have_the_form_of_their_schema() {
    let casts = ["--type=!quant.uniform<i8:f32, 0.3:1>"];
    let all: [&[&str]; 6] = [
        &["fpm", "--scheme=ties-up", "--kernel=tflite-double", "--x=1", "--multiplier=1073741824", "--shift=-1"],
        &["fpm", "--scheme=ties-up", "--x=700000", "--multiplier=1073741824", "--shift=31"],
        &[
            "requantize",
            "--scheme=gemmlowp-double",
            "--scheme=ties-up",
            "--multiplier=2069440233",
            "--shift=-8",
            "--acc=-35730",
        ],
        &["quantize", "--scheme=nearest-even", "--scheme=onnx", casts[0], "--x=inf"],
        &["dequantize", "--scheme=ideal", "--scheme=distributed", casts[0], "--q=5"],
        &["matmul", "--scheme=exact:wrap", "--case=m=1 n=1 k=2 lhs=3 rhs=4"],
    ];
    for arguments in all {
        printed::<questions::Explained>("explain", "parties", &[&["explain"], arguments].concat());
    }
}

#[test]
fn an_audit_has_the_form_of_its_schema() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = crate::audit::file(&dir, "model.tflite", &crate::models::small()).display().to_string();
    printed::<audit::Audit>("audit", "layers", &["audit", &model]);
    printed::<audit::Audit>("audit", "layers", &["audit", &model, "--left=tflite-single", "--right=gemmlowp-double"]);
}

/// Checks that the printed schema accepts the values, and rejects them without `required`.
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

use crate::sample;
use expect_test::expect_file;
use serde_json::Value;
use std::collections::BTreeSet;
use tiebreak_reports::json::render;
use tiebreak_reports::ledger::{DropReason, Example, Extent, LeftOut, OutsideDomain, PathStep, Range, Row, Unchecked};

#[test]
fn the_summary_of_a_broken_run() {
    expect_file!["snapshots/broken.json"].assert_eq(&render(&sample::broken()));
}

#[test]
fn the_summary_holds_the_rows_as_the_ledger_does() {
    let ledger = sample::holding();
    let summary: Value = serde_json::from_str(&render(&ledger)).unwrap();
    let rows: Vec<Row> = serde_json::from_value(summary["rows"].clone()).unwrap();
    assert_eq!(rows, ledger.rows);
    assert_eq!(summary["rows"][5]["by_delta"], serde_json::json!({"1": 8_388_607}));
    assert_eq!(summary["reference"], "ties-up");
    assert_eq!(summary["lanes"][2]["status"], "not-run");
}

#[test]
fn no_reference_is_named_where_there_are_several() {
    let mut ledger = sample::holding();
    ledger.rows[1].scheme = "ties-even:wrap".into();
    let summary: Value = serde_json::from_str(&render(&ledger)).unwrap();
    assert_eq!(summary.get("reference"), None);
}

/// Returns the form in the book, without comments.
fn documented() -> Value {
    let page = include_str!("../../../docs/src/json.md");
    let form = page.lines().skip_while(|line| *line != "```json").skip(1).take_while(|line| *line != "```");
    let form: Vec<_> = form.map(|line| line.split("//").next().unwrap_or_default()).collect();
    serde_json::from_str(&form.join("\n")).unwrap()
}

/// Objects with keys that are data.
const MAPS: [&str; 7] = ["by_delta", "classes", "deviations", "declared", "case", "types", "expected"];

/// Collects every key with its parents, and the kind of every value except null: `rows.witness.got number`.
fn shape(path: &str, value: &Value, out: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Null => return,
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    out.insert(format!("{path} {kind}"));
    match value {
        Value::Array(items) => items.iter().for_each(|item| shape(path, item, out)),
        Value::Object(fields) if MAPS.iter().all(|map| !path.ends_with(map)) => {
            for (key, value) in fields {
                shape(&format!("{path}.{key}"), value, out);
            }
        }
        _ => {}
    }
}

#[test]
fn the_documented_form_is_the_real_one() {
    let mut ledger = sample::broken();
    ledger.unfinished = Some("SIGINT interrupted it".into());
    ledger.lanes.extend(sample::holding().lanes);
    ledger.findings.iter_mut().for_each(|finding| finding.witness = None);
    ledger.agreements =
        vec![sample::agreement("mlir-qcast", "host", ["mlir-qcast-arm", "host"], [0, 9], &[("u8:f32", 9)])];
    ledger.rows[0].path = vec![PathStep {
        class: "directed-rounding".into(),
        from: "nearest-even".into(),
        to: "toward-zero".into(),
        differ: 1,
        rejudged: 1,
        witness: Some("x=0.5: 0, 1".into()),
    }];
    let extent = Extent { most: 2_553, each: false, because: "ties that the type can hold".into() };
    ledger.rows[0].extents = [("tie-direction".to_owned(), extent)].into();
    ledger.rows[0].sizes = [("k", 64)].map(sample::size).into();
    ledger.rows[0].ranges = [("lhs_offset".to_owned(), Range { least: -128.0, greatest: 127.0 })].into();
    ledger.rows[0].kinds = [("inside the clamp".to_owned(), 3)].into();
    ledger.rows[0].examples = vec![Example {
        class: "wrap".into(),
        case: "x=1 m=3 s=1".into(),
        got: 0.into(),
        expected: 1.into(),
        command: "cargo xtask verify".into(),
    }];
    ledger.outside_domain =
        vec![OutsideDomain { op: "fpm".into(), kernel: "tflite-single".into(), domain: "shift <= 0".into() }];
    ledger.left_out = vec![LeftOut { item: "layer Model.subgraphs[0].operators[3]".into(), reason: "floats".into() }];
    ledger.planned = vec![sample::planned("tvm-neon-rfc", "host", 1000, &[(DropReason::OutsideDomain, 999)])];
    ledger.positions = vec![sample::position()];
    ledger.catalogue[0].unanswered = 3;
    ledger.unchecked = vec![Unchecked { op: "fpm".into(), lane: "mine".into() }];
    ledger.code = [("fpm tvm-relay".to_owned(), "impls/src/fpm/tvm_relay.rs".to_owned())].into();
    ledger.figures = sample::figures()[..1].to_vec();
    let real: Value = serde_json::from_str(&render(&ledger)).unwrap();
    let [real, documented] = [real, documented()].map(|value| {
        let mut out = BTreeSet::new();
        shape("", &value, &mut out);
        out
    });
    assert_eq!(real, documented);
}

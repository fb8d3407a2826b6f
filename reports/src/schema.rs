//! JSON Schemas of this crate's forms: `ledger.json`, `verify --format json` and `diff --format json`. `tiebreak schema` prints them from
//! `suites/src/schemas`. Only this test derives them, so that no program compiles the derivation; `UPDATE_EXPECT=1` updates the files.

use crate::diff::{Diff, diff};
use crate::json::{Summary, pretty, summary};
use crate::ledger::Ledger;
use expect_test::expect_file;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::path::Path;

/// Returns the schema of a type's JSON.
fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

#[track_caller]
fn accepts(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(value).take(5).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Returns the published ledgers of the project.
fn published() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(root).expect("it is there") {
        let ledger = entry.expect("listed").path().join(crate::files::LEDGER);
        if ledger.is_file() {
            let text = std::fs::read_to_string(ledger).expect("it is read");
            out.push(serde_json::from_str(&text).expect("JSON"));
        }
    }
    assert!(out.len() >= 2);
    out
}

#[test]
fn the_schemas_of_ledgers_are_those_of_their_types() {
    let (ledger, run, compared) = (schema::<Ledger>(), schema::<Summary<'_>>(), schema::<Diff>());
    expect_file!["../../suites/src/schemas/ledger.json"].assert_eq(&pretty(&ledger));
    expect_file!["../../suites/src/schemas/verify.json"].assert_eq(&pretty(&run));
    expect_file!["../../suites/src/schemas/diff.json"].assert_eq(&pretty(&compared));
    let runs: Vec<Ledger> = published().into_iter().map(|run| serde_json::from_value(run).expect("a ledger")).collect();
    for one in &runs {
        accepts(&ledger, &serde_json::to_value(one).expect("JSON"));
        accepts(&run, &serde_json::to_value(summary(one)).expect("JSON"));
        accepts(&compared, &serde_json::to_value(diff(one, &runs[0])).expect("JSON"));
    }
    let mut wrong = serde_json::to_value(&runs[0]).expect("JSON");
    wrong["verdict"] = "perhaps".into();
    assert!(!jsonschema::is_valid(&ledger, &wrong));
}

use crate::sample;
use expect_test::expect_file;
use serde_json::Value;
use tiebreak_reports::json::render;
use tiebreak_reports::ledger::Row;

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
    assert_eq!(summary["reference"], "ties-up:wrap");
    assert_eq!(summary["lanes"][2]["status"], "not-run");
}

#[test]
fn no_reference_is_named_where_there_are_several() {
    let mut ledger = sample::holding();
    ledger.rows[1].scheme = "ties-even:wrap".into();
    let summary: Value = serde_json::from_str(&render(&ledger)).unwrap();
    assert_eq!(summary.get("reference"), None);
}

//! `prove`: statements over all accumulators and all multipliers of a shift.

use crate::common::{Run, not_run, starts, tiebreak};
use expect_test::expect;
use serde_json::{Value, json};

fn prove(more: &[&str]) -> Run {
    tiebreak(&[&["prove"], more].concat())
}

fn described(more: &[&str]) -> Value {
    serde_json::from_str(&prove(&[more, &["--format=json"]].concat()).stdout).expect("JSON")
}

const ELEVEN: [&str; 11] = [
    "ties-up",
    "gemmlowp-double",
    "sqrdmulh-srshl",
    "sqrdmulh-fixup-srshl",
    "tosa-apply-scale-32-single",
    "tosa-apply-scale-32-double",
    "cmsis-nn-single",
    "cmsis-nn-double",
    "cmsis-nn-mve-single",
    "xnnpack-rndnu",
    "tflite-single",
];

#[test]
fn double_rounding_in_closed_form() {
    let run = prove(&["--left=ties-up", "--right=sqrdmulh-srshl", "--shift=-31..0"]).exits(0);
    expect![[r#"
        sqrdmulh-srshl minus ties-up, by the product p = x*m

         s        verdict    where                                            witness: left, right
         -31..-1  differ     p mod 2^(31-s) in [2^(30-s)-2^30, 2^(30-s)): +1  x=1073741824 m=2147483647 s=-31: 0, 1
         0        identical  for all x and m where both have a value          -

        Every int32 accumulator x and multiplier m, 4,294,967,296 times 4,294,967,296 inputs a shift, to which both schemes give a value. Proved, not sampled; unknown is no pass.
    "#]].assert_eq(&run.stdout);
}

/// Every pair of the schemes that libraries follow is decided at every shift.
#[test]
fn every_pair_of_shipped_schemes_is_decided() {
    let named: Vec<String> = ELEVEN.iter().map(|name| format!("--scheme={name}")).collect();
    let names: Vec<&str> = named.iter().map(String::as_str).collect();
    prove(&names).exits(0);
    let all = described(&names);
    let pairs = all["pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 55);
    for pair in pairs {
        assert_eq!(pair["decided"], true, "{} {}", pair["left"], pair["right"]);
        assert_eq!(pair["shifts"].as_array().map(Vec::len), Some(63));
    }
    let identical = |left: &str, right: &str| {
        let pair = pairs.iter().find(|p| p["left"] == left && p["right"] == right).expect("a pair");
        let shifts = pair["shifts"].as_array().expect("shifts").iter();
        shifts
            .filter(|s| s["verdict"] == "identical")
            .map(|s| s["shift"].as_i64().expect("a shift"))
            .collect::<Vec<_>>()
    };
    assert!((-31..=0).all(|s| identical("tosa-apply-scale-32-double", "cmsis-nn-double").contains(&s)));
    assert!((-31..=0).all(|s| identical("gemmlowp-double", "tosa-apply-scale-32-double").contains(&s)));
    assert_eq!(identical("ties-up", "xnnpack-rndnu"), (-31..=-1).collect::<Vec<_>>());
}

/// Schemes that do not depend on the product alone are refuted by an input or unknown; unknown has exit code 1.
#[test]
fn unknown_is_no_pass() {
    let narrow = ["--left=tflite-int16-multiplier", "--right=tflite-int16-multiplier:wrap", "--shift=-31..-31"];
    let verdict = &described(&narrow)["pairs"][0]["shifts"][0]["verdict"];
    assert_eq!(verdict, &json!("identical"), "one multiplier on both sides is a function of one product");
    let one = described(&["--left=ties-up", "--right=tflite-int16-multiplier", "--shift=-31..31"]);
    let verdicts: Vec<&Value> =
        one["pairs"][0]["shifts"].as_array().expect("shifts").iter().map(|s| &s["verdict"]).collect();
    assert!(verdicts.iter().all(|v| **v != json!("identical")), "{verdicts:?}");
}

#[test]
fn a_call_that_compares_nothing() {
    prove(&["--scheme=ties-up"]).exits(2);
    prove(&["--left=ties-up"]).exits(2);
    prove(&["--left=ties-up", "--right=ties-uq"]).exits(2);
    prove(&["--left=ties-up", "--right=ties-away", "--shift=-32..0"]).exits(2);
}

/// Two solvers, which share nothing with the folding of pieces, confirm its statements.
#[test]
fn solvers_confirm_the_statements() {
    if !starts("z3") {
        return not_run("z3 is not installed: `cargo xtask setup --with solvers` installs it");
    }
    for (left, right) in
        [("ties-up", "sqrdmulh-srshl"), ("tosa-apply-scale-32-double", "cmsis-nn-double"), ("ties-even", "ties-away")]
    {
        let run = prove(&["--left", left, "--right", right, "--shift=-31..0", "--confirm", "--format=json"]).exits(0);
        let all: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let solvers = all["pairs"][0]["solvers"].as_array().expect("solvers");
        for solver in solvers {
            assert_eq!(
                (&solver["confirmed"], &solver["contradicted"]),
                (&json!(32), &json!(0)),
                "{left} {right}: {solver}"
            );
        }
        assert!(!solvers.is_empty());
    }
}

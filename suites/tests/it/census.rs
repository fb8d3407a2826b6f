//! `census`: counts over all accumulators in closed form, or by a sweep, with the method in the output.

use crate::common::{Run, tiebreak};
use serde_json::{Value, json};

fn census(arguments: &[&str]) -> Run {
    tiebreak(&[&["census"], arguments].concat())
}

fn answer(left: &str, right: &str, more: &[&str]) -> Value {
    let run = census(&[&["--left", left, "--right", right, "--format=json"], more].concat()).exits(0);
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn known_counts() {
    let all = answer("ties-up", "sqrdmulh-srshl", &["--multiplier=1395864371", "--shift=-8"]);
    let expected = json!({
        "left": "ties-up", "right": "sqrdmulh-srshl", "multiplier": 1395864371, "shift": -8,
        "x_min": i32::MIN, "x_max": i32::MAX, "inputs": 1u64 << 32, "differ": 8388607, "by_delta": {"1": 8388607},
        "nearest_zero": {"x": -197, "left": -1, "right": 0}, "method": "closed-form",
    });
    assert_eq!(all, expected);
    let fixup = answer("ties-up", "sqrdmulh-fixup-srshl", &["--multiplier", "1395864371", "--shift", "-1"]);
    assert_eq!(fixup["by_delta"], json!({"1": 536870910, "-1": 536870911}));
    let long = ["--multiplier=1518500250", "--shift=-15"];
    assert_eq!(answer("ties-up", "sqrdmulh-srshl", &long)["by_delta"], json!({"1": 65558}));
    assert_eq!(answer("ties-up", "sqrdmulh-fixup-srshl", &long)["by_delta"], json!({"1": 32782, "-1": 32782}));
}

/// At the largest shift, every accumulator is a separate piece.
#[test]
fn a_sweep_says_so() {
    let range = ["--x-min=-300000", "--x-max=300000", "--multiplier=1073741825", "--list=5"];
    let swept = answer("ties-up:wrap", "gemmlowp-double", &[&range[..], &["--shift=31"]].concat());
    assert_eq!((&swept["method"], &swept["inputs"]), (&json!("sweep"), &json!(600_001)));
    let x = |i: usize| swept["list"][i]["x"].as_i64();
    // -1 shifted left by 31 is still an int32; 1 is not.
    assert_eq!([x(0), x(1), x(2)], [Some(1), Some(2), Some(-2)]);
    let sum: u64 = swept["by_delta"].as_object().expect("counts").values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(sum), swept["differ"].as_u64());
    let closed = answer("ties-up:wrap", "gemmlowp-double", &[&range[..], &["--shift=3"]].concat());
    assert_eq!(
        (&closed["method"], &closed["differ"], &closed["nearest_zero"]),
        (&json!("closed-form"), &json!(0), &Value::Null)
    );
}

/// A scheme in floats is counted at changes of its result; an 8-bit output has at most 255 of them.
#[test]
fn schemes_in_floats() {
    // tensorflow #102943: 585 times this float32 is 6.5 in float32, which is rounded to even.
    let scale = ["--multiplier=1527099520", "--shift=-6"];
    let all =
        answer("ties-up", "f32-product", &[&scale[..], &["--zero-point=3", "--clamp=-128:127", "--list=3"]].concat());
    assert_eq!((&all["inputs"], &all["method"]), (&json!(1u64 << 32), &json!("bisection")));
    let listed = all["list"].as_array().expect("a list");
    assert_eq!(listed.len(), 3);
    for place in listed {
        let x = place["x"].as_i64().expect("a number").to_string();
        let (x, at) = (format!("--x-min={x}"), format!("--x-max={x}"));
        let one =
            answer("ties-up", "f32-product", &[&scale[..], &["--zero-point=3", "--clamp=-128:127", &x, &at]].concat());
        assert_eq!((&one["inputs"], &one["differ"]), (&json!(1), &json!(1)));
    }
    // Without an output, over a range short enough for a sweep: two schemes of one name and different multipliers.
    let range = ["--x-min=-60000", "--x-max=60000"];
    let other = ["--right-multiplier=1527099521", "--right-shift=-6"];
    let same = answer("ties-up", "ties-up", &[&scale[..], &range, &other].concat());
    assert_eq!(
        (&same["method"], &same["inputs"], &same["right_multiplier"]),
        (&json!("closed-form"), &json!(120_001), &json!(1527099521))
    );
    let alone = ["--multiplier=1", "--shift=0"];
    refused(
        &[&["--left=ties-up", "--right=f32-dequantize-quantize"], &alone[..]].concat(),
        &["needs the scales of a layer"],
    );
    refused(
        &["--left=f32-product", "--right=ties-up", "--space=q31", "--shift=-1"],
        &["--space counts schemes of fixed point"],
    );
    refused(&[&["--left=f32-prodct", "--right=ties-up"], &alone[..]].concat(), &["`f32-product`"]);
}

#[test]
fn outputs_and_lists() {
    let given = ["--multiplier=1518500250", "--shift=-15", "--zero-point=3", "--clamp=-128:127", "--list=2"];
    let all = answer("ties-up", "sqrdmulh-fixup-srshl", &given);
    assert_eq!(all["output"], json!({"zero_point": 3, "min": -128, "max": 127}));
    let first = json!({"x": 23170, "left": 3, "right": 4, "exact": "8795912698125/17592186044416", "decimal": "0.4999897497..."});
    assert_eq!((&all["list"][0], &all["list"][1]["x"]), (&first, &json!(-23170)));
    // Beyond about 8.5 million, every output is clamped.
    let wide = [&given[..], &["--x-min=-9000000", "--x-max=9000000"]].concat();
    assert_eq!(answer("ties-up", "sqrdmulh-fixup-srshl", &wide)["by_delta"], all["by_delta"]);
}

#[test]
fn a_model_at_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("scales.csv");
    std::fs::write(&path, "multiplier,shift\n1395864371,-8\n1518500250,-15\n").expect("it can be written");
    let params = path.to_string_lossy().into_owned();
    let all = answer("ties-up", "sqrdmulh-srshl", &["--params", &params]);
    assert_eq!((&all[0]["differ"], &all[1]["differ"]), (&json!(8_388_607), &json!(65_558)));
    let lines = |more: &[&str]| {
        let given = ["--left=ties-up", "--right=sqrdmulh-srshl", "--format=csv", "--params", &params];
        census(&[&given[..], more].concat()).exits(0).stdout
    };
    assert!(lines(&[]).contains("\nties-up,sqrdmulh-srshl,1518500250,-15,-2147483648,2147483647,4294967296,65558,1:65558,23170,0,1,closed-form\n"));
    assert!(
        lines(&["--list=1"])
            .contains("\nties-up,sqrdmulh-srshl,1395864371,-8,-197,-274985281087/549755813888,-0.5001953124...,-1,0\n")
    );
}

#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let run = census(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.printed());
    for word in words {
        assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed());
    }
}

#[test]
fn bad_input() {
    let with = |more: &[&'static str]| [&["--left=ties-up", "--right=ties-even"], more].concat();
    let at = |more: &[&'static str]| [with(&["--multiplier=1", "--shift=0"]), more.to_vec()].concat();
    refused(&["--left=tie-up", "--right=ties-up"], &["'tie-up'", "--left", "`ties-up`"]);
    refused(&["--left=ties-up", "--right=ties-up:wrapped"], &["--right", "overflow policy", "`wrap`"]);
    refused(&["--left=ties-up", "--multiplier=1", "--shift=0"], &["--right"]);
    refused(&with(&[]), &["--multiplier", "--shift"]);
    refused(&with(&["--multiplier=1"]), &["--shift"]);
    refused(&with(&["--multiplier=2147483648", "--shift=0"]), &["--multiplier", "-2147483648..=2147483647"]);
    refused(&with(&["--multiplier=1", "--shift=32"]), &["--shift", "-31..=31"]);
    refused(&with(&["--multiplier=1", "--shift", "-32"]), &["--shift", "-31..=31"]);
    refused(&with(&["--multiplier=1", "--shift=0", "--params=a.csv"]), &["--params", "cannot be used with"]);
    refused(&with(&["--params=/nowhere/scales.csv"]), &["cannot read /nowhere/scales.csv"]);
    refused(&at(&["--x-min=5", "--x-max=4"]), &["--x-min 5 is above --x-max 4"]);
    refused(&at(&["--x-max=2147483648"]), &["--x-max", "-2147483648..=2147483647"]);
    refused(&at(&["--clamp=4"]), &["--clamp", "LO:HI"]);
    refused(&at(&["--clamp=127:-128"]), &["--clamp", "127 is above -128"]);
    refused(&at(&["--zero-point=a"]), &["--zero-point"]);
    refused(&at(&["--list=-1"]), &["--list"]);
    refused(&at(&["--format=xml"]), &["--format", "table", "json", "csv"]);
}

/// Two multipliers, also with a zero point, took minutes, because each accumulator with a change of result was visited. The count now equals the sum
/// over two halves, of which some are small enough to visit.
#[test]
fn two_multipliers_and_an_output_in_closed_form() {
    let scale =
        ["--multiplier=1395864371", "--shift=0", "--right-multiplier=1395864373", "--right-shift=0", "--zero-point=3"];
    let all = answer("ties-up", "gemmlowp-double", &scale);
    assert_eq!((&all["method"], &all["inputs"]), (&json!("closed-form"), &json!(1u64 << 32)));
    let part = |lo: i64, hi: i64| {
        let (lo, hi) = (format!("--x-min={lo}"), format!("--x-max={hi}"));
        answer("ties-up", "gemmlowp-double", &[&scale[..], &[&lo, &hi]].concat())["differ"].as_u64().expect("a count")
    };
    let (lo, hi) = (i64::from(i32::MIN), i64::from(i32::MAX));
    assert_eq!(part(lo, -5) + part(-4, 4000) + part(4001, hi), all["differ"].as_u64().expect("a count"));
    // round(x * 1395864371 / 2^31) and round(x * 1395864373 / 2^31), half up and half away from zero.
    let (m, other) = (1_395_864_371i64, 1_395_864_373i64);
    let differs = |x: &i64| (x * m + (1 << 30)) >> 31 != (x * other + (1 << 30)) >> 31;
    assert_eq!(part(0, 400_000), (0..=400_000).filter(differs).count() as u64);
}

/// The accumulator nearest to zero may be far away. One thread once searched for this accumulator step by step.
#[test]
fn the_nearest_is_found_where_it_is_far() {
    let given = |from: i64, to: i64| {
        let (from, to) = (format!("--x-min={from}"), format!("--x-max={to}"));
        answer("ties-up", "f64-product", &["--multiplier=1395864369", "--shift=0", &from, &to])
    };
    let far = given(-40_000_000, i64::from(i32::MAX));
    let x = far["nearest_zero"]["x"].as_i64().expect("an accumulator");
    assert!(x > 1 << 22 && far["differ"].as_u64() > Some(0), "{far}");
    assert_eq!(given(-40_000_000.max(-x), x - 1)["differ"], 0);
    assert_eq!(given(x, x)["differ"], 1);
}

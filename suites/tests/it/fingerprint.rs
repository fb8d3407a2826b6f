//! `fingerprint`: observed outputs compared with every scheme and derivation, and the input to run next.

use crate::common::{Run, tiebreak};
use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiebreak_suites::fingerprint::observations::{Observation, Observations, parse};
use tiebreak_suites::fingerprint::{Fingerprint, search::Group};

/// tensorflow #102943.
const TIE_IN_FLOAT: &str = "x,si,sw,so,observed\n585,.05296124517917633,.024093778803944588,.11484327912330627,6\n";
/// tensorflow #23800; tests append the observed value.
const TIE_BY_DERIVATION: &str = "x,si,sw,so,observed\n1327,.0386069156,.0178998914,.1667338312,";

/// Runs `fingerprint` on a file.
fn fingerprint(text: impl AsRef<[u8]>, more: &[&str]) -> (Run, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("observations.csv");
    std::fs::write(&path, text).expect("the temporary directory can be written");
    let given = path.to_string_lossy().into_owned();
    (tiebreak(&[&["fingerprint", "--observations", &given], more].concat()), path)
}

fn answer(text: &str, code: i32) -> Value {
    let (run, _) = fingerprint(text, &["--format=json"]);
    serde_json::from_str(&run.exits(code).stdout).expect("JSON")
}

/// Returns the candidates of an array, as `scheme derivation`, without policies.
fn names(candidates: &Value) -> BTreeSet<String> {
    let name = |c: &Value| {
        let scheme = c["scheme"].as_str().expect("a scheme").split(':').next().unwrap_or_default();
        format!("{scheme} {}", c["derivation"].as_str().unwrap_or("-"))
    };
    candidates.as_array().expect("an array").iter().map(name).collect()
}

fn consistent(answer: &Value) -> BTreeSet<String> {
    answer["groups"].as_array().expect("groups").iter().flat_map(|g| names(&g["candidates"])).collect()
}

fn verdict(answer: &Value) -> Vec<&str> {
    answer["verdict"].as_array().expect("sentences").iter().filter_map(Value::as_str).collect()
}

/// No fixed-point scheme that rounds to nearest gives 6; the product in float is exactly 6.5, and rounds to 6.
#[test]
fn a_tie_that_only_float_sees() {
    let first = answer(TIE_IN_FLOAT, 0);
    assert!(verdict(&first).contains(&"no fixed-point scheme that rounds to nearest gives 6 at x=585: they give 7"));
    let left = consistent(&first);
    assert!(left.iter().all(|name| name.starts_with("f32-product") || name.starts_with("toward-")), "{left:?}");
    assert!(left.contains("f32-product f32") && !left.contains("f32-product f64"), "{left:?}");
    // Truncation gives 6 as well; a second observation distinguishes them.
    let more = format!("{TIE_IN_FLOAT}50,.05296124517917633,.024093778803944588,.11484327912330627,1\n");
    let second = answer(&more, 0);
    let expected = ["f32", "f32-f64", "f32-reciprocal"]
        .iter()
        .flat_map(|d| [format!("f32-product {d}"), format!("f32-product-zero-point {d}")]);
    assert_eq!(consistent(&second), expected.collect());
    assert_eq!((second["groups"].as_array().map(Vec::len), &second["next"]), (Some(1), &Value::Null));
    let directed = "no fixed-point scheme that rounds in one direction gives all: each fails at some observation";
    assert!(verdict(&second).contains(&directed), "{second}");
}

/// With one rounding, fixed-point multipliers from float steps give 5, from double steps 6. Two roundings go up with either multiplier.
#[test]
fn a_tie_that_the_derivation_decides() {
    let (five, six) = (answer(&format!("{TIE_BY_DERIVATION}5\n"), 0), answer(&format!("{TIE_BY_DERIVATION}6\n"), 0));
    let (five, six) = (consistent(&five), consistent(&six));
    for scheme in ["ties-up", "ties-away", "tflite-single", "cmsis-nn-single", "xnnpack-rndnu"] {
        for derivation in ["f32-f64", "f32", "f32-reciprocal"] {
            let name = format!("{scheme} {derivation}");
            assert!(five.contains(&name) && !six.contains(&name), "{name}");
        }
        for derivation in ["exact", "exact-doubles", "f64", "f64-doubles"] {
            let name = format!("{scheme} {derivation}");
            assert!(six.contains(&name) && !five.contains(&name), "{name}");
        }
    }
    assert!(six.contains("gemmlowp-double f32") && six.contains("gemmlowp-double f64"), "{six:?}");
    assert!(six.contains("f32-product f32") && five.contains("f64-product f32"));
}

#[test]
fn as_a_table() {
    let more = format!("{TIE_IN_FLOAT}1000,.05296124517917633,.024093778803944588,.11484327912330627,11\n");
    let (run, _) = fingerprint(more, &[]);
    expect![[r#"
        Consistent candidates, grouped
         group  schemes (derivations of the multiplier)
         1      toward-negative (exact, exact-doubles, f64, f64-doubles)
         2      toward-zero (exact, exact-doubles, f64, f64-doubles)
         3      toward-negative (f32-f64)
         4      toward-zero (f32-f64)
         5      f32-product, f32-product-zero-point (f32-f64, f32, f32-reciprocal)
         6      toward-negative (f32, f32-reciprocal)
         7      toward-zero (f32, f32-reciprocal)

        Excluded candidates, each with the first observation that it does not give
         line  x    observed  expected  by
         2     585  6         7         ties-up, ties-away, ties-even, ties-down, ties-to-zero, toward-positive,
                                        gemmlowp-double, sqrdmulh-srshl, sqrdmulh-fixup-srshl, tosa-apply-scale-32-single,
                                        tosa-apply-scale-32-double, tflite-single, cmsis-nn-single, cmsis-nn-double,
                                        cmsis-nn-mve-single, xnnpack-rndnu, tflite-int16-multiplier, f32-product-away,
                                        f32-product-add-half, f32-product-add-half-away, f64-product, f64-product-away,
                                        f64-product-add-half (any derivation)
                                        f32-product, f32-product-zero-point (exact, exact-doubles, f64, f64-doubles)
                                        f32-dequantize-quantize, f32-dequantize-reciprocal

        Next input: x=-1 at si=.05296124517917633 sw=.024093778803944588 so=.11484327912330627
         output  groups
         -1      1, 3, 6
         0       2, 4, 5, 7

        consistent with every observation: 34 of 324 candidates, in 7 groups
        no fixed-point scheme that rounds to nearest gives 6 at x=585: they give 7
        run x=-1 at si=.05296124517917633 sw=.024093778803944588 so=.11484327912330627 and add the output: it separates the most groups
    "#]].assert_eq(&run.exits(0).stdout);
}

#[test]
fn given_multipliers_and_the_line_of_each_candidate() {
    let text = "observed,shift,multiplier,x,name\n-1,-1,1073741825,-1,conv\n";
    let answered = answer(text, 0);
    let left = consistent(&answered);
    assert!(left.contains("gemmlowp-double -") && !left.contains("ties-up -") && !left.contains("sqrdmulh-srshl -"));
    let excluded = answered["excluded"].as_array().expect("an array");
    let up = excluded.iter().find(|c| c["scheme"] == "ties-up:wrap").expect("excluded");
    let expected = json!({
        "scheme": "ties-up:wrap", "derivation": null, "family": "fixed-point", "multiplier": 1073741825, "shift": -1,
        "explained": 0, "line": 2, "x": -1, "expected": 0, "observed": -1,
    });
    assert_eq!(up, &expected);
    let (run, _) = fingerprint(text, &["--format=csv"]);
    let csv = run.exits(0).stdout;
    assert!(csv.starts_with("scheme,derivation,family,multiplier,shift,explained,group,line,x,expected,observed\n"));
    assert!(csv.contains("\nties-up:wrap,,fixed-point,1073741825,-1,0,,2,-1,0,-1\n"), "{csv}");
}

/// A file may have lines with a multiplier and lines with scales. Zero points and clamps belong to their line.
#[test]
fn lines_of_both_kinds() {
    let text = "x,multiplier,shift,si,sw,so,zero_point,min,max,observed\n\
                1000,1073741824,-1,,,,3,-128,127,127\n\
                10,,,0.5,0.5,0.5,-4,,,1\n";
    let left = consistent(&answer(text, 0));
    assert!(left.contains("ties-up f64") && left.contains("f32-product f32"), "{left:?}");
    // A scheme with separate scales takes no multiplier.
    assert!(!left.iter().any(|name| name.starts_with("f32-dequantize")), "{left:?}");
}

#[test]
fn nothing_explains_everything() {
    let text = "x,multiplier,shift,observed\n4,1073741824,0,2\n8,1073741824,0,4\n100,1073741824,0,51\n";
    let answered = answer(text, 1);
    assert_eq!((&answered["consistent"], &answered["next"]), (&json!(false), &Value::Null));
    let said = verdict(&answered);
    assert!(
        said[0].starts_with("consistent with every observation: no candidate; the closest give 2 of 3 observations: "),
        "{said:?}"
    );
    assert!(said.contains(&"no float scheme gives 51 at x=100: they give 50"), "{said:?}");
    assert!(fingerprint(text, &[]).0.exits(1).stdout.contains("Excluded"));
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, words: &[&str]) {
    let (run, path) = fingerprint(text, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.printed());
    for word in [&[path.to_string_lossy().as_ref()], words].concat() {
        assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed());
    }
}

#[test]
fn files_that_cannot_be_used() {
    refused("", &["no column `x`"]);
    refused("x,multiplier,shift\n1,1,0\n", &["no column `observed`"]);
    refused("x,observed\n1,1\n", &["no column `multiplier`", "`si`, `sw` and `so`"]);
    refused("x,observed,multiplier\n1,1,1\n", &["no column `shift`"]);
    refused("x,observed,si,so\n1,1,1,1\n", &["no column `sw`"]);
    refused("x,obsreved,multiplier,shift\n", &["unknown column `obsreved`", "`observed`", "zero_point"]);
    refused("x,x,observed,multiplier,shift\n", &["two columns `x`"]);
    refused("x,observed,multiplier,shift\n", &["no observations"]);
    refused("x,observed,multiplier,shift\n1,1,1,0\n\n1.5,1,1,0\n", &[":4: column `x`: `1.5` is not an int32"]);
    refused("x,observed,multiplier,shift\n1,,1,0\n", &[":2: column `observed`: `` is not an int32"]);
    refused("x,observed,multiplier,shift\n1,1,1,32\n", &[":2: column `shift`: `32`", "-31..=31"]);
    refused("x,observed,multiplier,shift\n1,1,2147483648,0\n", &[":2: column `multiplier`: `2147483648`"]);
    refused("x,observed,multiplier,shift\n1,1,1\n", &[":2", "3 fields"]);
    for scale in ["-1", "0", "9e-10", "2e9", "inf", "nan", "0x1p3", "one", "1,", ""] {
        refused(format!("x,observed,si,sw,so\n1,1,\"{scale}\",1,1\n"), &[":2: column `si`", "1e-9..=1e9"]);
    }
    let both = "x,observed,multiplier,shift,si,sw,so\n";
    refused(format!("{both}1,1,1,0,1,1,1\n"), &[":2: a line has either"]);
    refused(format!("{both}1,1,,,,,\n"), &[":2: a line has either"]);
    refused(format!("{both}1,1,1,,,,\n"), &[":2: column `shift`"]);
    refused("x,observed,multiplier,shift,min,max\n1,1,1,0,5,4\n", &[":2: `min` 5 is above `max` 4"]);
    let run = tiebreak(&["fingerprint", "--observations=/nowhere/a.csv"]);
    assert!(run.code == 2 && run.stderr.contains("cannot read /nowhere/a.csv"), "{}", run.printed());
    assert!(tiebreak(&["fingerprint"]).exits(2).stderr.contains("--observations"));
}

/// Returns a line of a layer, as a file; its observed value is not yet known.
fn layer(scales: Option<[f32; 3]>, (multiplier, shift): (i32, i32), output: (i32, i32, i32)) -> Observations {
    let (zero_point, min, max) = output;
    let parameters = match scales {
        Some([si, sw, so]) => format!("si,sw,so,zero_point,min,max\n0,0,{si},{sw},{so}"),
        None => format!("multiplier,shift,zero_point,min,max\n0,0,{multiplier},{shift}"),
    };
    let text = format!("x,observed,{parameters},{zero_point},{min},{max}\n");
    parse(Path::new("layer.csv"), text.as_bytes()).expect("a layer")
}

fn holds(groups: &[Group], candidate: usize) -> bool {
    groups.iter().any(|group| group.members.contains(&candidate))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// A library among the candidates is never excluded, and the proposed inputs lead to it, or to equal candidates.
    #[test]
    fn proposed_inputs_lead_to_the_candidate(
        which in any::<prop::sample::Index>(), scales in proptest::option::weighted(0.7, [1e-3f32..0.1, 1e-3f32..0.1, 0.05f32..1.0]),
        multiplier in 1i32 << 30..=i32::MAX, shift in -10..=2, zero_point in -20i32..20, clamped in any::<bool>(), x in -3000..3000,
    ) {
        let (min, max) = if clamped { (-128, 127) } else { (i32::MIN, i32::MAX) };
        let mut observations = layer(scales, (multiplier, shift), (if clamped { zero_point } else { 0 }, min, max));
        let candidates = tiebreak_suites::fingerprint::candidates::all(&observations);
        let library = which.index(candidates.len());
        let (mut x, mut groups) = (x, usize::MAX);
        observations.rows.clear();
        loop {
            // A scheme without a value has no observation of its library.
            let Some(observed) = candidates[library].at(&observations, 0, x) else { return Ok(()) };
            observations.rows.push(Observation { line: 2, setting: 0, x, observed });
            let fingerprint = Fingerprint::of(&observations);
            prop_assert!(holds(&fingerprint.groups, library), "{:?}", candidates[library]);
            prop_assert!(fingerprint.groups.len() < groups, "x={} parted nothing", x);
            groups = fingerprint.groups.len();
            match fingerprint.next {
                Some(next) => x = next.x,
                None => break,
            }
        }
        prop_assert_eq!(groups, 1);
    }
}

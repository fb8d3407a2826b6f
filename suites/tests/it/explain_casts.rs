//! `explain quantize` and `explain dequantize`: published witnesses of rows 12 to 14 of the list of known bugs, poison, and bad input.

use crate::common::tiebreak;
use serde_json::{Value, json};
use tiebreak_suites::class::Class;
use tiebreak_suites::dequantize::Dequantize;
use tiebreak_suites::operation::{Change, Operation, kernels, scheme_named};
use tiebreak_suites::quantize::Quantize;

fn described(op: &str, ty: &str, input: &str, parties: &[&str]) -> Value {
    let run = tiebreak(&[&["explain", op, "--type", ty, input, "--format=json"], parties].concat()).exits(0);
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// Operation, type, input, the two schemes, both results, class, and the change that explains the difference.
type Row = (&'static str, &'static str, &'static str, [&'static str; 2], [f64; 2], &'static str, &'static str);

const NARROW: &str = "!quant.uniform<i8<-8:7>:f32, 0.3:1>";
const HALVES: &str = "!quant.uniform<i8:f32, 0.5>";
const SUM: &str = "\"the sum rounds\" is left out";

#[rustfmt::skip]
const ROWS: [Row; 10] = [
    ("quantize", NARROW, "--x=0.149999991", ["nearest-even", "mlir-qcast-nearest-even:saturate"], [1.0, 2.0], "f32-step", SUM),
    ("quantize", NARROW, "--x=0.149999991", ["mlir-qcast-nearest-even:saturate", "nearest-even"], [2.0, 1.0], "f32-step", SUM),
    ("quantize", NARROW, "--x=0.2", ["nearest-even", "mlir-qcast"], [2.0, 1.0], "directed-rounding", "rounded by ties-even"),
    ("quantize", HALVES, "--x=0.25", ["nearest-even", "tflite"], [0.0, 1.0], "tie-direction", "rounded by ties-even"),
    ("quantize", HALVES, "--x=1.25", ["nearest-even", "tflite"], [2.0, 3.0], "tie-direction", "rounded by ties-even"),
    ("quantize", "!quant.uniform<i8:f32, 1.0:63>", "--x=63.5000038", ["onnx", "mlir-qcast-nearest-even"], [127.0, 126.0], "zero-point-placement", "before the rounding"),
    ("dequantize", "!quant.uniform<i32:f32, 0.001:16777217>", "--q=16777216", ["ideal", "mlir-dcast"], [-0.001, 0.0], "f32-step", "the zero point is not rounded"),
    ("dequantize", "!quant.uniform<i16:f16, 1.0:3000>", "--q=2999", ["ideal", "mlir-dcast"], [-1.0, 0.0], "f16-step", "\"the stored value converts\" is left out"),
    ("dequantize", "!quant.uniform<u8:f32, 1028.02:255>", "--q=254", ["mlir-dcast", "distributed"], [-1028.02, -1028.0156], "distributed", "in place of each term"),
    ("dequantize", "!quant.uniform<i32:f32, 0.001:16777217>", "--q=1", ["ideal", "distributed"], [-16777.217, -16777.215], "f32-step", "rounded in f32 as mlir-dcast does"),
];

#[test]
fn witnesses_of_rows_12_to_14() {
    for (op, ty, input, [left, right], values, class, because) in ROWS {
        let all = described(op, ty, input, &["--scheme", left, "--scheme", right]);
        let c = &all["comparisons"][0];
        let got = [&c["left_value"], &c["right_value"]].map(|v| v.as_f64().expect("a number"));
        assert_eq!((got, c["class"].as_str()), (values, Some(class)), "{op} {ty} {input}: {c:#}");
        assert!(c["because"].as_str().is_some_and(|b| b.contains(because)), "no `{because}` in {c:#}");
        let sentence = c["sentence"].as_str().expect("a sentence");
        assert!(sentence.contains(&format!(", class {class}: {}", all["parties"][1]["name"].as_str().expect("named"))));
        for party in all["parties"].as_array().expect("parties") {
            let steps = party["steps"].as_array().expect("steps");
            for pair in steps.windows(2) {
                assert_eq!(pair[0]["after"], pair[1]["before"], "{party:#}");
            }
            // The steps of an integer end at its value.
            if op == "quantize" {
                assert_eq!(steps.last().expect("steps")["after"]["fraction"], json!(party["result"].to_string()));
            }
        }
    }
    let ties = [("0.75", 2), ("1.75", 4)];
    for (x, value) in ties {
        let all = described("quantize", HALVES, &format!("--x={x}"), &["--scheme=nearest-even", "--scheme=tflite"]);
        assert_eq!((&all["comparisons"][0]["class"], &all["parties"][1]["result"]), (&Value::Null, &json!(value)));
    }
}

/// `explain` names one of the changes that `verify` tries as causes, with the same class. The last of the rows had no explanation when the two
/// commands had separate lists.
#[test]
fn explain_names_the_changes_of_verify() {
    fn listed<O: Operation>(schemes: [&str; 2]) -> Vec<(Class, String)> {
        let domain = &kernels::<O>()[0].contract.domain;
        let of = |scheme: &str| O::changes(&scheme_named::<O>(scheme).expect("known"), domain);
        let words = |change: &Change<O>| Some((change.class, change.because()?.to_owned()));
        schemes.into_iter().flat_map(of).filter_map(|change| words(&change)).collect()
    }
    for (op, ty, input, schemes, ..) in ROWS {
        let [left, right] = schemes;
        let all = described(op, ty, input, &["--scheme", left, "--scheme", right]);
        let comparison = &all["comparisons"][0];
        let because = comparison["because"].as_str().expect("a change");
        let (_, words) = because.split_once(" too: ").expect("one change");
        let class: Class = comparison["class"].as_str().expect("a class").parse().expect("known");
        let listed = if op == "quantize" { listed::<Quantize>(schemes) } else { listed::<Dequantize>(schemes) };
        let found = listed.iter().any(|(own, because)| because == words && [*own, own.reversed()].contains(&class));
        assert!(found, "{op} {ty} {input}: no change is `{words}` of class {class}");
    }
}

/// A type, its bits and its text: a note reports the rounding of an input.
#[test]
fn inputs_that_are_rounded_are_told() {
    let all = described("quantize", NARROW, "--x=0.149999991", &["--scheme=nearest-even"]);
    assert_eq!(all["input"]["bits"], "0x3e199999");
    assert!(
        all["notes"]
            .as_array()
            .expect("notes")
            .iter()
            .any(|n| n.as_str().is_some_and(|n| n.contains("x 0.149999991 is rounded to f32")))
    );
    assert_eq!(all["exact"]["fraction"], "30198989/20132660");
    let bits = described("quantize", NARROW, "--x=0x3e199999", &["--scheme=nearest-even"]);
    assert_eq!((&bits["exact"], &bits["parties"]), (&all["exact"], &all["parties"]));
    let channels = "!quant.uniform<i8:f32:1, {0.25, 0.5:3}>";
    let second = described("quantize", channels, "--x=1", &["--scheme=nearest-even", "--channel=1"]);
    assert_eq!(second["parties"][0]["result"], 5);
}

/// Poison has no value, and three targets have three results.
#[test]
fn poison_has_no_value() {
    let kernels = ["--kernel=mlir-qcast", "--kernel=mlir-qcast-vector", "--kernel=mlir-qcast-arm"];
    let schemes = ["--scheme=nearest-even", "--scheme=mlir-qcast"];
    let all =
        described("quantize", "!quant.uniform<i8:f32, 0.1>", "--x=12.8000002", &[&schemes[..], &kernels].concat());
    let parties = all["parties"].as_array().expect("parties");
    let results: Vec<_> = parties.iter().map(|p| (p["name"].as_str().expect("named"), &p["result"])).collect();
    let expected = [
        ("nearest-even", json!(127)),
        ("mlir-qcast", json!("poison")),
        ("kernel mlir-qcast", json!(-128)),
        ("mlir-qcast-vector (body)", json!(127)),
        ("mlir-qcast-vector (tail)", json!(-128)),
        ("mlir-qcast-arm", json!(-128)),
    ];
    assert_eq!(results, expected.each_ref().map(|(name, value)| (*name, value)));
    let comparisons = all["comparisons"].as_array().expect("comparisons");
    assert!(comparisons.iter().all(|c| c["left_value"] == c["right_value"] || c["class"] == "poison"), "{all:#}");
    let sentence = comparisons[0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("128 is no i8, which has -128 to 127"), "{sentence}");
    let targets = comparisons[0]["because"].as_str().expect("targets");
    assert!(
        targets.contains("mlir-qcast gives -128, mlir-qcast-vector gives 127 (after its vectors -128)"),
        "{targets}"
    );
}

#[test]
fn bad_input_exits_2() {
    let refused = |args: &[&str], words: &str| {
        let run = tiebreak(&[&["explain"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.printed());
        assert!(run.stderr.contains(words), "no `{words}` in\n{}", run.printed());
    };
    let channels = ["quantize", "--type=!quant.uniform<i8:f16:1, {0.1, 0.2}>", "--scheme=nearest-even"];
    refused(&[&channels[..], &["--x=1"]].concat(), "--channel 0 to 1");
    refused(&[&channels[..], &["--x=1", "--channel=2"]].concat(), "beyond the last of 2 scales");
    refused(&[&channels[..], &["--x=1e", "--channel=1"]].concat(), "neither a decimal");
    refused(&[&channels[..], &["--x=0x1ffff", "--channel=1"]].concat(), "16 bits");
    refused(&["quantize", "--type=!quant.uniform<i8:f33, 0.1>", "--x=1", "--scheme=nearest-even"], "character");
    refused(&["quantize", "--type=f32", "--x=1", "--scheme=nearest-even"], "is not a quantized type");
    refused(&["quantize", "--type=!quant.uniform<i8:f32, 0.1>", "--x=1", "--scheme=nearest-evn"], "`nearest-even`");
    refused(
        &["quantize", "--type=!quant.uniform<i8:f32, 0.1>", "--x=1", "--kernel=tflite-quantiz"],
        "`tflite-quantize`",
    );
    refused(
        &["quantize", "--type=!quant.uniform<i8:f16, 0.1>", "--x=1", "--kernel=tflite-quantize"],
        "its domain is f32",
    );
    refused(&["dequantize", "--type=!quant.uniform<i8:f16, 0.1>", "--q=1000", "--scheme=ideal"], "-128 to 127");
}

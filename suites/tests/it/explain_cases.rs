//! `explain` with a case as text and a kernel, in the same way for every operation.

use crate::common::tiebreak;
use serde_json::{Value, json};

fn explained(op: &str, more: &[&str]) -> Value {
    let run = tiebreak(&[&["explain", op, "--format=json"], more].concat()).exits(0);
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// The case of a witness has the same explanation as the same input given by options.
#[test]
fn a_case_is_the_input_that_options_give() {
    let parts =
        |explained: Value| [explained["exact"].clone(), explained["parties"].clone(), explained["comparisons"].clone()];
    let schemes = ["--scheme", "ties-up", "gemmlowp-double"];
    let by_case =
        explained("fpm", &[&schemes[..], &["--case", "m=1395864371,1073741825 s=-8,-1 x=[7,-1]  at=1"]].concat());
    let by_options = explained("fpm", &[&schemes[..], &["--x=-1", "--multiplier=1073741825", "--shift=-1"]].concat());
    assert_eq!(by_case["input"], json!({"x": -1, "m": 1073741825, "s": -1}));
    assert_eq!(parts(by_case), parts(by_options));
    let case = "m=1395864371 s=-8 bias=3 zero_point=5 x=1000";
    let by_case = explained("requantize", &["--scheme=ties-up:wrap", "--type=uint8", "--case", case]);
    let options =
        ["--acc=1000", "--bias=3", "--multiplier=1395864371", "--shift=-8", "--zero-point=5", "--clamp=0:255"];
    let by_options = explained("requantize", &[&["--scheme=ties-up:wrap"], &options[..]].concat());
    assert_eq!(parts(by_case), parts(by_options));
    let ty = "!quant.uniform<i8:f32:0, {0.25:1, 0.5:3}>";
    let case = format!("type={ty} shape=2x2 x=[0,1,2,0.75] at=3");
    let by_case = explained("quantize", &["--scheme=nearest-even", "--scheme=tflite", "--case", &case]);
    let by_options =
        explained("quantize", &["--scheme=nearest-even", "--scheme=tflite", "--type", ty, "--channel=1", "--x=0.75"]);
    assert_eq!(by_case["exact"], json!({"fraction": "9/2", "decimal": "4.5"}));
    assert_eq!(parts(by_case), parts(by_options));
    let by_case =
        explained("dequantize", &["--scheme=ideal", "--case", &format!("type={ty} shape=2x2 q=[0,1,2,-7] at=3")]);
    let by_options = explained("dequantize", &["--scheme=ideal", "--type", ty, "--channel=1", "--q=-7"]);
    assert_eq!(parts(by_case), parts(by_options));
}

/// A kernel of requantization runs. If it fulfils its contract, it has the steps of its scheme; a known bug has a class.
#[test]
fn a_kernel_of_requantization_is_explained() {
    let case = "m=1073741825 s=-1 zero_point=5 x=-1";
    let right = explained("requantize", &["--kernel=tflite-requantize-i8", "--case", case]);
    let [scheme, kernel] = &right["parties"].as_array().expect("a list")[..] else { panic!("{right}") };
    assert_eq!((&kernel["result"], &kernel["name"]), (&scheme["result"], &json!("tflite-requantize-i8")));
    assert!(kernel["steps"].as_array().is_some_and(|steps| steps.len() > 3), "{kernel}");
    let listed: Vec<Value> =
        serde_json::from_str(&tiebreak(&["mutants", "--op=requantize", "--format=json"]).stdout).expect("JSON");
    let mut shown = 0;
    for mutant in &listed {
        let (name, class) = (mutant["mutant"].as_str().expect("a name"), &mutant["class"]);
        let witness = mutant["witness"].as_str().expect("a witness");
        let case = witness.split(": got").next().expect("a case");
        if case.contains("type=") || case.contains("misalign") {
            continue;
        }
        let run = tiebreak(&["explain", "requantize", "--format=json", "--kernel", name, "--case", case]).exits(0);
        let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let all = found["comparisons"].as_array().expect("a list");
        shown += usize::from(all.iter().any(|one| one["class"] == *class && one["left_value"] != one["right_value"]));
    }
    assert!(shown * 2 > listed.len(), "{shown} of {}", listed.len());
}

/// Every other operation is explained by a case: the exact value, the schemes, kernels and known bugs, and causes of their differences.
#[test]
fn every_operation_is_explained_by_a_case() {
    let listed: Vec<Value> = serde_json::from_str(&tiebreak(&["mutants", "--format=json"]).stdout).expect("JSON");
    let mut shown = 0;
    for op in [
        "matmul",
        "conv2d",
        "qconv2d",
        "qmatmul",
        "dot",
        "add",
        "sub",
        "mul",
        "concat",
        "pool",
        "exp",
        "softmax",
        "transform",
        "instruction",
    ] {
        for mutant in listed.iter().filter(|mutant| mutant["op"] == op) {
            let name = mutant["mutant"].as_str().expect("a name");
            let witness = mutant["witness"].as_str().expect("a witness");
            let (case, rest) = witness.split_once(": got ").expect("a case");
            let (got, rest) = rest.split_once(", ").expect("a value");
            let right = rest.split(", class ").next().and_then(|rest| rest.rsplit(' ').next()).expect("a value");
            let found = explained(op, &["--kernel", name, "--case", case]);
            let [scheme, kernel] = &found["parties"].as_array().expect("a list")[..] else { panic!("{found}") };
            assert_eq!(
                (kernel["result"].to_string(), scheme["result"].to_string()),
                (got.to_owned(), right.to_owned()),
                "{op} {name} {case}"
            );
            let comparison = &found["comparisons"][0];
            assert!(comparison["class"].is_string() && comparison["because"].is_string(), "{op} {name}: {comparison}");
            shown += 1;
        }
    }
    assert!(shown > 30, "{shown}");
    let found = explained("matmul", &["--scheme=exact:wrap", "--case", "k=2 lhs=255 rhs=127", "--type=uint8,int8"]);
    assert_eq!(found["exact"]["fraction"], "64770");
}

#[test]
fn what_cannot_be_explained_says_why() {
    let says = |arguments: &[&str], words: &[&str]| {
        let run = tiebreak(&[&["explain"], arguments].concat()).exits(2);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{}", run.printed());
    };
    says(&["fpm", "--scheme=ties-up", "--case", "y=3"], &["--case: ", "unknown argument `y`"]);
    says(&["fpm", "--scheme=ties-up", "--case", "x=3", "--x=3"], &["cannot be used with"]);
    says(&["fpm", "--scheme=ties-up", "--case", "x=[1,2] at=2"], &["--case: at: 2 is not one of the 2 results"]);
    says(&["fpm", "--scheme=ties-up", "--x=3"], &["--multiplier"]);
    says(&["requantize", "--kernel=tflite-requantise-i8", "--case", "x=3"], &["`tflite-requantize-i8`"]);
    says(&["requantize", "--case", "x=3"], &["--scheme"]);
    says(&["matmul", "--kernel=arm-uadal", "--case", "k=1"], &["`arm-uadal"]);
    says(&["matmul", "--scheme=exact", "--case", "k=0"], &["--case: ", "k"]);
    says(&["matmul", "--scheme=exac", "--case", "k=1"], &["`exact`"]);
}

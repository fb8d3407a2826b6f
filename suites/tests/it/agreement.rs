//! Bit-for-bit comparison of kernels of one scheme, and of lanes, also without a contract value. `cargo xtask test` installs the tools.

use crate::common::*;
use expect_test::expect;
use serde_json::{Value, json};

/// Returns the results compared, the poison among them, and the differing results with and without a contract value.
fn described(ledger: &Value, [kernel, lane]: [&str; 2], [other, other_lane]: [&str; 2]) -> [u64; 4] {
    let sought = [("kernel", kernel), ("lane", lane), ("other", other), ("other_lane", other_lane)];
    let found = items(ledger, "agreements").iter().find(|a| sought.iter().all(|(key, value)| a[key] == *value));
    let found = found.unwrap_or_else(|| panic!("{kernel} in {lane} is not compared with {other} in {other_lane}"));
    let counts = ["results", "open", "differ", "differ_open"].map(|key| found[key].as_u64().expect("a count"));
    assert_eq!(found["witness"].is_null(), counts[2] + counts[3] == 0, "{found}");
    counts
}

/// Models of x86 and aarch64 in one process differ only in results for poison. The command next to a difference reproduces it.
#[test]
fn models_of_targets_part_at_poison_alone() {
    let ledger = verify(&["--op=quantize", "--kernel=mlir-qcast", "--lane=host", "--effort=quick"]).exits(0).ledger();
    for other in ["mlir-qcast-vector", "mlir-qcast-arm", "mlir-qcast-neon", "mlir-qcast-neon-f16"] {
        let [results, open, differ, differ_open] = described(&ledger, ["mlir-qcast", "host"], [other, "host"]);
        assert!(results > open && open > 1000 && differ_open > 0, "{results} {open} {differ_open}");
        assert_eq!(differ, 0, "{other}");
    }
    for agreement in items(&ledger, "agreements") {
        let command = agreement["witness"]["command"].as_str().expect("a command");
        // A case with only poison has no judged input and no verdict; a case with more elements may have one.
        let run = again(command);
        assert!(run.code == 0 || run.stdout.contains("no contract gives a value to any input"), "{}", run.printed());
        let ledger = run.ledger();
        let seen = items(&ledger, "agreements").iter().find(|a| a["other"] == agreement["other"]);
        let seen = &seen.unwrap_or_else(|| panic!("{command} compares nothing"))["witness"];
        assert_eq!([&seen["got"], &seen["other"]], ["got", "other"].map(|key| &agreement["witness"][key]), "{command}");
    }
}

/// Results for poison, counted on every pattern of three types. A change of a compiler, a target or a kernel is visible here, but in no contract.
#[test]
fn differences_at_poison_between_targets_are_pinned() {
    let types = [
        "--type=!quant.uniform<u8<1:254>:bf16, 0.3:129>",
        "--type=!quant.uniform<i8<-8:7>:bf16, 0.3:1>",
        "--type=!quant.uniform<u16:f16, 0.1>",
    ];
    let counted = |arguments: &[&str]| {
        let ledger = verify(&[arguments, &types, &["--op=quantize", "--effort=exhaustive"]].concat()).exits(0).ledger();
        let line = |a: &Value| {
            let [kernel, lane, other, other_lane] =
                ["kernel", "lane", "other", "other_lane"].map(|key| a[key].as_str().expect("text"));
            let [results, open, differ, differ_open] = described(&ledger, [kernel, lane], [other, other_lane]);
            format!("{kernel} {lane}, {other} {other_lane}: {differ} of {results}, {differ_open} of {open} poison\n")
        };
        items(&ledger, "agreements").iter().map(line).collect::<String>()
    };
    expect![[r#"
        mlir-qcast host, mlir-qcast-vector host: 0 of 215716, 34939 of 89090 poison
        mlir-qcast host, mlir-qcast-arm host: 0 of 215716, 45377 of 89090 poison
        mlir-qcast host, mlir-qcast-neon host: 0 of 215716, 28993 of 89090 poison
        mlir-qcast host, mlir-qcast-neon-f16 host: 0 of 215716, 28993 of 89090 poison
    "#]]
    .assert_eq(&counted(&["--kernel=mlir-qcast", "--lane=host"]));
    if cfg!(target_arch = "x86_64") {
        let lanes = ["--kernel=mlir-opt-qcast-o2", "--lane=mlir-x86", "--lane=mlir-aarch64"];
        expect![[r#"
            mlir-opt-qcast-o2 mlir-x86, mlir-qcast host: 0 of 215716, 34939 of 89090 poison
            mlir-opt-qcast-o2 mlir-x86, mlir-qcast-vector host: 0 of 215716, 0 of 89090 poison
            mlir-opt-qcast-o2 mlir-x86, mlir-qcast-arm host: 0 of 215716, 67638 of 89090 poison
            mlir-opt-qcast-o2 mlir-x86, mlir-qcast-neon host: 0 of 215716, 51254 of 89090 poison
            mlir-opt-qcast-o2 mlir-x86, mlir-qcast-neon-f16 host: 0 of 215716, 51254 of 89090 poison
            mlir-opt-qcast-o2 mlir-x86, mlir-opt-qcast-o2 mlir-aarch64: 2417 of 215716, 51253 of 89090 poison
            mlir-opt-qcast-o2 mlir-aarch64, mlir-qcast host: 2417 of 215716, 29093 of 89090 poison
            mlir-opt-qcast-o2 mlir-aarch64, mlir-qcast-vector host: 2417 of 215716, 51253 of 89090 poison
            mlir-opt-qcast-o2 mlir-aarch64, mlir-qcast-arm host: 2417 of 215716, 16484 of 89090 poison
            mlir-opt-qcast-o2 mlir-aarch64, mlir-qcast-neon host: 2417 of 215716, 100 of 89090 poison
            mlir-opt-qcast-o2 mlir-aarch64, mlir-qcast-neon-f16 host: 2417 of 215716, 100 of 89090 poison
        "#]]
        .assert_eq(&counted(&lanes));
    }
}

/// The shipped compiler at -O0 equals its model, poison included: registers wider than the type, folded bounds, unsigned conversions.
#[test]
fn code_without_optimization_is_its_model() {
    let sampled =
        ["!quant.uniform<i8<-8:7>:f32, 0.3:1>", "!quant.uniform<i4<-8:2>:f32, 0.3:1>", "!quant.uniform<u32:f64, 0.1>"];
    // Types with every pattern compared.
    let whole = [
        "!quant.uniform<u8<1:254>:bf16, 0.3:129>",
        "!quant.uniform<i8<-8:7>:bf16, 0.3:1>",
        "!quant.uniform<u16:f16, 0.1>",
    ];
    let models = [("mlir-x86", "mlir-qcast"), ("mlir-aarch64", "mlir-qcast-arm")];
    for (lane, model) in models.into_iter().skip(usize::from(cfg!(target_arch = "aarch64"))) {
        let arguments = ["--op=quantize", "--kernel=mlir-opt-qcast-o0", "--lane", lane];
        let mut compared = [0, 0];
        for (types, effort) in [(sampled, "--effort=standard"), (whole, "--effort=exhaustive")] {
            let types = types.iter().flat_map(|ty| ["--type", ty]).collect::<Vec<_>>();
            let ledger = verify(&[&arguments[..], &types, &[effort]].concat()).exits(0).ledger();
            let [results, open, differ, differ_open] = described(&ledger, ["mlir-opt-qcast-o0", lane], [model, "host"]);
            assert_eq!((differ, differ_open), (0, 0), "{lane}: {}", ledger["agreements"]);
            compared = [compared[0] + results, compared[1] + open];
        }
        assert!(compared[0] > 100_000 && compared[1] > 30_000, "{compared:?}");
    }
}

/// Issue 30, item 8: the shipped compiler at -O2 equals its model, poison included: vectors and their remainders, registers, folded bounds.
#[test]
fn optimized_code_is_its_model() {
    let types = [
        "!quant.uniform<i8:f32, 0.1>",
        "!quant.uniform<i8<-8:7>:f32, 0.3:1>",
        "!quant.uniform<u8<3:170>:f32, 0.3:129>",
        "!quant.uniform<u8:bf16, 0.1>",
        "!quant.uniform<u16:f16, 0.1>",
        "!quant.uniform<i16:f16, 0.0625:-32768>",
        "!quant.uniform<i8:f64, 0.1>",
        "!quant.uniform<u32:f64, 0.1>",
        "!quant.uniform<u32<67108863:2863311530>:f16, 0.3:134742017>",
        "!quant.uniform<i8:f16:{0:1}, {{0.1}, {0.25:127}}>",
    ];
    let types: Vec<&str> = types.iter().flat_map(|ty| ["--type", ty]).collect();
    let models = [
        ("mlir-x86", "mlir-qcast-vector"),
        ("mlir-aarch64", "mlir-qcast-neon"),
        ("mlir-aarch64-bf16", "mlir-qcast-neon-f16"),
    ];
    for (lane, model) in models.into_iter().skip(usize::from(cfg!(target_arch = "aarch64"))) {
        let arguments = ["--op=quantize", "--kernel=mlir-opt-qcast-o2", "--effort=standard", "--lane", lane];
        let ledger = verify(&[&arguments[..], &types].concat()).exits(0).ledger();
        let [results, open, differ, differ_open] = described(&ledger, ["mlir-opt-qcast-o2", lane], [model, "host"]);
        assert_eq!((differ, differ_open), (0, 0), "{lane}: {}", ledger["agreements"]);
        assert!(results > 20_000 && open > 5_000, "{results} {open}");
    }
}

/// NaN times an exact zero has a sign on only one of two targets. Kernels with only defined results are compared, too.
#[test]
fn dequantizations_are_compared() {
    let run = verify(&["--op=dequantize", "--kernel=pytorch-dequantize", "--lane=host", "--effort=quick"]).exits(0);
    let [results, open, ..] = described(&run.ledger(), ["pytorch-dequantize", "host"], ["xnnpack-dequantize", "host"]);
    assert!(results > 1000 && open == 0, "{results} {open}");
    assert!(run.stdout.contains("as xnnpack-dequantize in all"), "{}", run.stdout);
    let other = verify(&["--op=requantize", "--lane=host", "--effort=quick", "--kernel=tflite-requantize-u8"]);
    assert_eq!(other.ledger().get("agreements").unwrap_or(&json!(null)), &json!(null));
}

/// Poison alone gives no judged input, and the row states this. A kernel that does not take a case is not compared on it.
#[test]
fn a_run_of_poison_alone_judges_nothing() {
    let case =
        ["--op=quantize", "--kernel=mlir-qcast", "--lane=host", "--case", "type=!quant.uniform<i8:f32, 0.5> x=nan"];
    let run = verify(&case).exits(1);
    let why = "no contract gives a value to any input of this run, so that nothing was judged";
    assert!(run.stdout.contains(why), "{}", run.stdout);
    let channels = "type=!quant.uniform<i8:f32:0,{0.5,0.25}> q=3";
    let dequantize =
        |case| verify(&["--op=dequantize", "--kernel=pytorch-dequantize", "--lane=host", "--case", case]).exits(0);
    assert!(!dequantize(channels).stdout.contains("xnnpack-dequantize"));
    assert!(dequantize("type=!quant.uniform<i8:f32,0.5> q=3").stdout.contains("xnnpack-dequantize"));
}

/// Witnesses have the requested types, and the command of a witness has the requested rounding.
#[test]
fn witnesses_are_of_the_type_asked_for() {
    let ty = "!quant.uniform<i8<-8:7>:f32, 0.3:1>";
    let arguments =
        ["--op=quantize", "--kernel=mlir-qcast", "--lane=host", "--effort=quick", "--rounding=nearest-away"];
    let ledger = verify(&[&arguments[..], &["--type", ty]].concat()).exits(0).ledger();
    let rows = items(&ledger, "rows").iter().map(|row| &row["witness"]);
    let all: Vec<&Value> = rows.chain(items(&ledger, "agreements").iter().map(|a| &a["witness"])).collect();
    let seen: Vec<&Value> = all.into_iter().filter(|witness| !witness.is_null()).collect();
    assert!(seen.len() > 1);
    for witness in seen {
        assert_eq!(witness["case"]["type"], ty.replace(' ', ""));
        assert!(
            witness["command"].as_str().is_some_and(|command| command.contains("--rounding ties-away")),
            "{witness}"
        );
    }
    let add = ["--op=add", "--kernel=tflite-add-single-i8", "--lane=host", "--effort=quick", "--rounding=ties-down"];
    let text = verify(&add).exits(0).stdout;
    assert!(text.contains("--kernel tflite-add-single-i8 --lane host --rounding ties-down --case"), "{text}");
}

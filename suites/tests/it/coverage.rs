//! A run never prints `holds` for inputs that were not judged. Each test is named after an earlier run that did.

use crate::bad_input::refused;
use crate::common::*;
use crate::models::build::{Operator, Options, Tensor, model};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tiebreak_impls::fpm;

fn fpm_kernels() -> usize {
    fpm::kernels().len()
}

/// Writes pairs with right shifts, then pairs with left shifts; kernels that only shift right accept the first `right` pairs.
fn pairs(dir: &Path, right: usize, left: usize) -> String {
    let shifts = (0..right).map(|_| -8).chain((0..left).map(|_| 2));
    let lines = shifts.enumerate().map(|(i, shift)| format!("{},{shift}\n", 1_395_864_371 + i));
    let file = dir.join("scales.csv");
    std::fs::write(&file, format!("multiplier,shift\n{}", lines.collect::<String>())).expect("it can be written");
    file.to_string_lossy().into_owned()
}

/// Checks that the only finding is this share of parameters that did not run.
#[track_caller]
fn left_out(run: &Run, kernel: &str, share: &str) {
    let ledger = run.ledger();
    let findings = items(&ledger, "findings");
    assert_eq!(findings.len(), 1, "{}", run.printed());
    assert_eq!((&findings[0]["class"], &findings[0]["kernel"]), (&json!("outside-domain"), &json!(kernel)));
    let message = findings[0]["message"].as_str().expect("a message");
    assert!(message.starts_with(share) && message.contains("`--allow-outside-domain` accepts that"), "{message}");
}

/// Returns the entry of one kernel and lane in units of one kind.
fn planned<'a>(ledger: &'a Value, kernel: &str, lane: &str, unit: &str) -> &'a Value {
    let of = |p: &&Value| p["kernel"] == kernel && p["lane"] == lane && p["unit"] == unit;
    items(ledger, "planned").iter().find(of).unwrap_or_else(|| panic!("nothing planned for {kernel} in {lane}"))
}

/// Two of four pairs did not run, but the run held.
#[test]
fn parameters_that_a_named_kernel_of_requantize_does_not_take() {
    let dir = TempDir::new().expect("a temporary directory");
    let params = pairs(dir.path(), 2, 2);
    let named = ["--op=requantize", "--kernel=xnnpack-rndnu-scalar-i8", "--lane=host", "--params", &params];
    let run = verify(&named).exits(1);
    left_out(
        &run,
        "xnnpack-rndnu-scalar-i8",
        "2 of 4 pairs given not run, the first m=1395864373 s=2: outside its domain, to i8, m 0..=2147483647, s -31..=0",
    );
    let ledger = run.ledger();
    let entry = planned(&ledger, "xnnpack-rndnu-scalar-i8", "host", "pair");
    assert_eq!((&entry["given"], &entry["planned"], &entry["run"]), (&json!(true), &json!(4), &json!(2)));
    let dropped = &entry["dropped"][0];
    assert_eq!((&dropped["why"], &dropped["count"]), (&json!("outside-domain"), &json!(2)));
    let allowed = verify(&[&named[..], &["--allow-outside-domain"]].concat()).exits(0);
    assert!(allowed.stdout.contains("2 of 4 pairs given not run"), "{}", allowed.printed());
    assert!(allowed.file("summary.md").contains("2 of 4 pairs given not run"));
    // For unnamed kernels, the omitted pairs are only listed.
    let unnamed = verify(&["--op=requantize", "--lane=host", "--params", &params]).exits(0);
    assert!(
        unnamed.stdout.contains("Left out") && unnamed.stdout.contains("2 of 4 pairs given"),
        "{}",
        unnamed.printed()
    );
}

/// 999 of 1,000 pairs were outside the domain, but the run held.
#[test]
fn parameters_that_a_named_kernel_of_fixed_point_multiply_does_not_take() {
    let dir = TempDir::new().expect("a temporary directory");
    let params = pairs(dir.path(), 1, 999);
    let run = verify(&["--kernel=tvm-relay-tonearest", "--lane=host", "--params", &params]).exits(1);
    left_out(&run, "tvm-relay-tonearest", "999 of 1,000 pairs given not run, the first m=1395864372 s=2: outside its");
    assert_eq!(planned(&run.ledger(), "tvm-relay-tonearest", "host", "pair")["run"], 1);
    // One kernel takes every pair, the other none. The run must include both.
    let left = pairs(dir.path(), 0, 3);
    let both = ["--kernel=tvm-relay", "--kernel=tvm-relay-tonearest", "--lane=host", "--params", &left];
    left_out(&verify(&both).exits(1), "tvm-relay-tonearest", "3 of 3 pairs given not run");
}

/// A type without storage in a kernel was silently dropped if there was another type with storage.
#[test]
fn types_that_a_named_kernel_does_not_take() {
    for (op, kernel) in [("quantize", "onnx-quantizelinear"), ("dequantize", "onnx-dequantizelinear")] {
        let types = ["--type=!quant.uniform<i8:f32,0.3:1>", "--type=!quant.uniform<i5:f32,0.3:1>"];
        let run = verify(&[&["--op", op, "--kernel", kernel, "--lane=host"], &types[..]].concat()).exits(1);
        left_out(&run, kernel, "1 of 2 types given not run, the first type=!quant.uniform<i5:f32,0.3:1>: outside its");
    }
}

#[test]
fn a_layer_that_a_named_kernel_does_not_take() {
    let layer = |depth: i32| {
        let tensor = |shape: &[i32]| Tensor {
            shape: shape.to_vec(),
            kind: 9,
            zero_points: vec![0],
            name: "layer",
            ..Tensor::default()
        };
        let options = Some(Options { kind: 8, bytes: vec![], ints: vec![] });
        Operator {
            code: 9,
            tensors: [tensor(&[1, depth]), tensor(&[1, depth]), tensor(&[1, 1])],
            options,
            ..Operator::default()
        }
    };
    let dir = TempDir::new().expect("a temporary directory");
    let file = dir.path().join("deep.tflite");
    std::fs::write(&file, model(&[layer(20), layer(524_176)])).expect("it can be written");
    let file = file.to_str().expect("UTF-8");
    for op in ["--op=conv2d", "--op=matmul"] {
        let run = verify(&["--model", file, op, "--kernel=arm-bitserial", "--lane=host", "--effort=quick"]).exits(1);
        left_out(&run, "arm-bitserial", "1 of 2 layers given not run, the first layer 2, ");
    }
}

/// If one named kernel took a case and another did not, neither ran.
#[test]
fn a_case_that_one_of_two_named_kernels_does_not_take() {
    let case = "type=!quant.uniform<i8:f32,0.5> container=scalar x=3";
    let kernels = ["--kernel=mlir-qcast", "--kernel=onnx-quantizelinear"];
    let run = verify(&[&["--op=quantize", "--lane=host", "--case", case], &kernels[..]].concat()).exits(1);
    left_out(&run, "onnx-quantizelinear", "1 of 1 case given not run, the first type=!quant.uniform<i8:f32,0.5>");
    // An invalid case is bad input, whichever kernel is named.
    refused(&verify(&["--op=quantize", "--case=type=i8", kernels[0], kernels[1]]), &["mlir-qcast does not take this"]);
}

/// The run counted `2 kernels`, but one had no judged input.
#[test]
fn a_named_kernel_that_judged_nothing() {
    let case = "type=!quant.uniform<i8:f32,0.3:1> x=nan";
    let kernels = ["--kernel=mlir-qcast", "--kernel=onnx-quantizelinear"];
    let run = verify(&[&["--op=quantize", "--lane=host", "--case", case], &kernels[..]].concat()).exits(1);
    let ledger = run.ledger();
    assert_eq!(finding_classes(&ledger), ["nothing-judged"]);
    assert_eq!(ledger["findings"][0]["kernel"], "mlir-qcast");
    // If neither kernel is named, the run only states the missing judgement.
    let run = verify(&["--op=quantize", "--lane=host", "--case", case]).exits(0);
    assert!(run.stdout.contains("mlir-qcast (host): no input was judged"), "{}", run.printed());
}

/// Writes a lanes file with a worker that offers some kernels of fixed point multiply, and is otherwise that of the project.
pub(crate) fn offering(dir: &Path, lane: &str, kernels: &[&str]) -> PathBuf {
    lanes_with(dir, lane, &["/bin/sh".to_owned(), offering_script(dir, kernels)])
}

/// Writes the script of such a worker.
pub(crate) fn offering_script(dir: &Path, kernels: &[&str]) -> String {
    let offer = |kernel: &&str| json!({"op": "fpm", "kernel": kernel, "isa_path": "scalar"});
    let offers: Vec<Value> = kernels.iter().map(offer).collect();
    let hello = json!({"answer": "hello", "protocol": 1, "arch": std::env::consts::ARCH, "kernels": offers});
    let file = dir.join("worker.sh");
    let body = format!("read -r hello\necho '{hello}'\nexec '{}'\n", worker("host-worker")[0]);
    std::fs::write(&file, body).expect("the temporary directory can be written");
    file.to_string_lossy().into_owned()
}

fn lanes_of(ledger: &Value) -> Vec<&str> {
    items(ledger, "lanes").iter().map(|lane| lane["name"].as_str().expect("a name")).collect()
}

/// Without `--lane`, the file was read but its lane never started.
#[test]
fn a_lane_of_ones_own_that_is_not_named_runs() {
    let dir = TempDir::new().expect("a temporary directory");
    let file = offering(dir.path(), "mine", &["tvm-relay"]);
    let run = verify_in(&file, &["--op=fpm", "--effort=quick"]).exits(0);
    let ledger = run.ledger();
    assert_eq!(lanes_of(&ledger), ["host", "mine"]);
    let mine: Vec<&Value> = items(&ledger, "rows").iter().filter(|row| row["lane"] == "mine").collect();
    assert!(mine.iter().all(|row| row["kernel"] == "tvm-relay" && row["inputs"].as_u64() > Some(0)), "{mine:?}");
    assert_eq!(mine.len(), 2);
}

/// A correct kernel had 34 findings: the worker was sent jobs of other kernels and mutants, which the worker had not offered.
#[test]
fn a_lane_of_ones_own_is_asked_for_what_it_offers() {
    let dir = TempDir::new().expect("a temporary directory");
    let file = offering(dir.path(), "mine", &["tvm-relay"]);
    let run = verify_in(&file, &["--op=fpm", "--effort=quick", "--lane=mine"]).exits(0);
    let offers = format!("mine: the worker offers 1 of {} kernels of fpm", fpm_kernels());
    assert!(run.stdout.contains(&offers), "{}", run.printed());
    assert!(run.stdout.contains("self-checks did not run in lane mine (fpm)"), "{}", run.printed());
    let ledger = run.ledger();
    assert_eq!(planned(&ledger, "tflite-single", "mine", "pair")["dropped"][0]["why"], "not-offered");
    assert_eq!(ledger["unchecked"], json!([{"op": "fpm", "lane": "mine"}]));
    // A mutant that the lane offers is a self-check of the lane.
    let file = offering(dir.path(), "mine", &["tvm-relay", "mutant-ties-down"]);
    let ledger = verify_in(&file, &["--op=fpm", "--effort=quick", "--lane=mine"]).exits(0).ledger();
    let checks: Vec<_> = items(&ledger, "self_checks").iter().map(|check| &check["name"]).collect();
    assert!(checks.contains(&&json!("mutant-ties-down")), "{checks:?}");
}

#[test]
fn what_was_named_and_is_not_offered_is_a_finding() {
    let dir = TempDir::new().expect("a temporary directory");
    let file = offering(dir.path(), "mine", &["tvm-relay"]);
    let named = ["--op=fpm", "--effort=quick", "--lane=mine", "--kernel=tvm-relay", "--kernel=tflite-single"];
    let ledger = verify_in(&file, &named).exits(1).ledger();
    assert_eq!(finding_classes(&ledger), ["not-run"]);
    assert_eq!(ledger["findings"][0]["kernel"], "tflite-single");
    // An operation of which the lane offers nothing; and a lane that offers nothing of the run.
    let ledger = verify_in(&file, &["--op=fpm", "--op=dot", "--effort=quick", "--lane=mine"]).exits(1).ledger();
    assert_eq!((finding_classes(&ledger), &ledger["findings"][0]["op"]), (vec!["not-run"], &json!("dot")));
    let idle = ["--op=fpm", "--effort=quick", "--lane=host", "--lane=mine", "--kernel=tflite-single"];
    let ledger = verify_in(&file, &idle).exits(1).ledger();
    let [finding] = items(&ledger, "findings") else { panic!("{ledger}") };
    assert_eq!((&finding["class"], &finding["lane"]), (&json!("nothing-judged"), &json!("mine")));
}

/// A kernel missing from a worker of the project is a fault.
#[test]
fn a_lane_of_the_projects_own_must_offer_every_kernel() {
    let dir = TempDir::new().expect("a temporary directory");
    let file = offering(dir.path(), "host-worker", &["tvm-relay"]);
    let ledger = verify_in(&file, &["--op=fpm", "--effort=quick", "--lane=host-worker"]).exits(1).ledger();
    let missing = items(&ledger, "findings").iter().filter(|finding| finding["class"] == "not-run");
    assert_eq!(missing.count(), fpm_kernels() - 1);
    let run = |kernels: &[&str]| {
        let file = offering(dir.path(), "host-worker", kernels);
        tiebreak(&["bounds", "--lane=host-worker", "--lanes", file.to_str().expect("UTF-8")])
    };
    refused(&run(&["tvm-relay"]), &["lane host-worker offers no kernel with bounds", "kernels with bounds are"]);
}

/// `bounds` had no bound in a lane, but printed that all were right.
#[test]
fn bounds_of_a_lane_without_any() {
    let dir = TempDir::new().expect("a temporary directory");
    let file = offering(dir.path(), "mine", &["tvm-relay"]);
    let bounds = ["bounds", "--lane=mine", "--lanes", file.to_str().expect("UTF-8")];
    refused(&tiebreak(&bounds), &["lane mine offers no kernel with bounds"]);
    refused(&tiebreak(&[&bounds[..], &["--kernel=arm-uadalp"]].concat()), &["lane mine does not offer arm-uadalp"]);
}

/// The second of two lanes with one name was ignored, and `host` was always this process.
#[test]
fn names_in_a_lanes_file_that_mean_another_lane() {
    let dir = TempDir::new().expect("a temporary directory");
    let file = dir.path().join("lanes.json");
    for (names, described) in [(&["host"][..], "lane `host` is this process"), (&["mine", "mine"], "two lanes `mine`")]
    {
        let lanes: Vec<_> = names.iter().map(|name| json!({"name": name, "command": ["true"]})).collect();
        std::fs::write(&file, json!({ "lanes": lanes }).to_string()).expect("it can be written");
        for lane in ["host", "mine"] {
            refused(&verify_in(&file, &["--op=fpm", "--effort=quick", "--lane", lane]), &["lanes.json", described]);
        }
    }
}

/// A kernel that was named twice counted twice.
#[test]
fn what_is_named_twice_counts_once() {
    let case = ["--case", "m=2 n=2 k=2 lhs=3 rhs=2"];
    let named = ["--op=matmul", "--lane=host", "--kernel=arm-uadalp"];
    let once = verify(&[&named[..], &case].concat()).exits(0).ledger();
    let twice = verify(&[&named[..], &named, &case].concat()).exits(0).ledger();
    assert_eq!((lanes_of(&twice), items(&twice, "rows").len()), (vec!["host"], 2));
    let counts = |ledger: &Value| items(ledger, "rows").iter().map(|row| row["inputs"].clone()).collect::<Vec<_>>();
    assert_eq!(counts(&twice), counts(&once));
    let ty = "--type=!quant.uniform<i8:f32,0.3:1>";
    let types = ["--op=quantize", "--lane=host", "--kernel=mlir-qcast", ty];
    let once = verify(&types).exits(0).ledger();
    let twice = verify(&[&types[..], &[ty]].concat()).exits(0).ledger();
    assert_eq!(counts(&twice), counts(&once));
    assert_eq!(planned(&twice, "mlir-qcast", "host", "type")["planned"], 1);
}

/// An unset shell variable ran the case with all default values, and held.
#[test]
fn values_that_an_unset_variable_leaves_empty() {
    let named = ["--op=matmul", "--lane=host", "--kernel=arm-uadalp"];
    for case in ["--case=", "--case= "] {
        refused(&verify(&[&named[..], &[case]].concat()), &["--case", "the case is empty"]);
    }
    for other in ["--out=", "--lane=", "--op=", "--kernel=", "--lanes=", "--reference=", "--allow-not-run="] {
        assert_eq!(verify(&[&named[..], &[other]].concat()).code, 2, "{other}");
    }
}

/// `at` was dropped, so the replay of a nonexistent position was equal.
#[test]
fn the_position_that_a_case_names() {
    let named = ["--op=matmul", "--lane=host", "--kernel=arm-uadalp", "--case"];
    let at = |at: &str| verify(&[&named[..], &[&format!("m=2 n=2 k=2 lhs=3 rhs=2 rhs[0,1]=7 at={at}")]].concat());
    let ledger = at("1").exits(0).ledger();
    let [position] = items(&ledger, "positions") else { panic!("{ledger}") };
    // 3*7 + 3*2.
    assert_eq!((&position["at"], &position["got"]), (&json!(1), &json!(27)));
    assert!(position["expected"].as_object().is_some_and(|all| all.values().all(|value| *value == 27)), "{position}");
    assert!(at("1").stdout.contains("at=1: got 27"));
    refused(&at("4"), &["at: 4 is not one of the 4 results"]);
    refused(&at("-1"), &["at: -1 is not in"]);
    refused(&at("x"), &["at: `x` is not an integer"]);
}

/// If no named kernel was of an operation, the operation was silently skipped.
#[test]
fn an_operation_of_which_no_kernel_is_named() {
    let named = ["--op=fpm", "--op=dot", "--kernel=tvm-relay", "--lane=host"];
    refused(&verify(&named), &["none of the kernels named is one of dot", "leave --op dot out"]);
}

/// A sweep of one multiplier format was requested in another format; and operations ignored options.
#[test]
fn options_that_an_operation_would_leave_alone() {
    let pair = ["--multiplier=12345", "--shift=-3", "--lane=host"];
    let with = |more: &[&str]| verify(&[&pair[..], more].concat());
    refused(&with(&["--kernel=tvm-neon-rfc", "--effort=exhaustive", "--q=15"]), &["--effort exhaustive", "--q 15"]);
    refused(&with(&["--op=requantize", "--x=15"]), &["--x and --q apply only to --op fpm", "--case"]);
    refused(&with(&["--op=requantize", "--q=15"]), &["--x and --q apply only to --op fpm", "Q0.31"]);
}

/// A ledger once did not state the range of its inputs: no add had a length other than multiples of 16, no requantization had more than seven
/// channels, and 16 % of the results of one kernel were inside its clamp.
#[test]
fn a_ledger_says_how_far_the_inputs_reached() {
    for (op, kernel, tails, beyond) in [
        ("requantize", "tflite-requantize-i8", "results", ("channels.len", 70)),
        ("add", "tflite-add-i8", "len", ("len", 4_099)),
        ("matmul", "arm-uadalp", "k", ("k", 4_099)),
        ("conv2d", "tflite-reference", "out_channels", ("out_channels", 65)),
        ("dequantize", "mlir-dcast", "results", ("quantized.scales.len", 9)),
    ] {
        let arguments = ["--op", op, "--kernel", kernel, "--lane=host", "--effort=quick"];
        let run = verify(&arguments).exits(0);
        let ledger = run.ledger();
        let row = items(&ledger, "rows").iter().find(|row| row["against"] == "contract").expect("a row");
        assert_eq!(row["sizes"][tails]["remainders"], 64, "{op} {tails}: {}", row["sizes"]);
        assert!(row["sizes"][beyond.0]["greatest"].as_u64() >= Some(beyond.1), "{op} {beyond:?}: {}", row["sizes"]);
        let others = items(&ledger, "rows").iter().filter(|row| row["against"] != "contract");
        assert!(others.into_iter().all(|row| row["sizes"].is_null()), "{op}");
        let summary = run.file("summary.md");
        assert!(summary.contains("no case is larger than") && !summary.contains("no result was"), "{summary}");
        if op == "requantize" {
            let inside = row["kinds"]["inside the clamp"].as_u64().expect("a count");
            assert!(5 * inside > 2 * row["inputs"].as_u64().expect("a count"), "{row}");
            let zero_points = &row["ranges"]["zero_point"];
            assert_eq!([&zero_points["least"], &zero_points["greatest"]], [-128.0, 127.0], "{}", row["ranges"]);
        }
    }
}

//! `identify` names the scheme of every kernel with a known scheme, of libraries, and of workers that answer with another scheme.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use crate::libraries::{compiled, example};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// Returns the result of `identify`.
#[track_caller]
fn identified(arguments: &[&str], code: i32) -> Vec<Value> {
    let run = tiebreak(&[&["identify", "--format", "json"], arguments].concat()).exits(code);
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The contract of each kernel is among the remaining schemes, and few enough inputs are needed for a reader. Some kernels follow no single scheme:
/// two of fpm, which take another path if Q is not 31; three of qconv2d, for the last output channels of a pixel; two of qmatmul, for the last
/// columns of a row; four of requantize and one of quantize, for the last elements of a tensor.
#[test]
fn the_scheme_of_each_kernel_of_this_project_is_left() {
    let listed: Vec<Value> = serde_json::from_str(&tiebreak(&["kernels", "--format", "json"]).stdout).expect("JSON");
    let (mut kernels, mut inputs) = (0, 0);
    for found in identified(&["--lane=host"], 1) {
        let is_it = |kernel: &&Value| kernel["op"] == found["op"] && kernel["kernel"] == found["kernel"];
        let Some(kernel) = listed.iter().find(is_it) else { continue };
        let scheme = kernel["scheme"].as_str().expect("a scheme");
        let partly = found["partly"].as_array().into_iter().flatten().filter_map(|one| one["scheme"].as_str());
        let left: Vec<&str> = strings(&found["left"]).into_iter().chain(partly).collect();
        let is_left = left.iter().any(|label| label.split(':').next() == Some(scheme));
        let name = found["kernel"].as_str().expect("a name");
        let fused = ["tvm-qnn-conv2d-neon", "tvm-qnn-dense-neon", "tvm-requantize-neon", "tflite-quantize-neon"];
        let deviates =
            ["tvm-neon-rfc", "tvm-neon-fixup"].contains(&name) || fused.iter().any(|fused| name.starts_with(fused));
        assert!(is_left != deviates, "{} {}: {scheme} {left:?}", found["op"], found["kernel"]);
        let asked = found["inputs"].as_array().map_or(0, Vec::len);
        assert!(asked <= 16, "{} {} took {asked} inputs", found["op"], found["kernel"]);
        (kernels, inputs) = (kernels + 1, inputs + asked);
    }
    println!("{kernels} kernels, {inputs} inputs that excluded schemes");
    assert!(kernels > 150, "{kernels}");
}

/// Body and tail follow two schemes.
#[test]
fn a_tail_that_follows_another_scheme_is_named() {
    let found = identified(&["--lane=host", "--kernel=tvm-neon-rfc", "--domain=q=31"], 0);
    assert_eq!(found[0]["apart"], json!({"vector": 4, "body": "sqrdmulh-srshl", "tail": "ties-up:wrap"}));
    assert_eq!(found[0]["left"], json!([]));
}

/// From `identify --lane hhb-tvm`: a kernel with a compiled-in multiplier was sent other multipliers, and no scheme remained.
#[test]
fn a_kernel_is_asked_in_its_domain_alone() {
    let domain = ["--domain=multipliers=1395864371", "--domain=shifts=-8", "--domain=per_channel=false"];
    let found = identified(&[&["--lane=host", "--kernel=tvm-requantize-i8"], &domain[..]].concat(), 0);
    let inputs: Vec<&str> =
        found[0]["inputs"].as_array().into_iter().flatten().filter_map(|i| i["case"].as_str()).collect();
    assert!(!inputs.is_empty() && inputs.iter().all(|case| case.starts_with("m=1395864371 s=-8 ")), "{inputs:?}");
}

/// A worker offers a kernel of the project under another name, without its scheme.
#[test]
fn a_kernel_under_a_foreign_name_is_identified_by_its_answers() {
    for (op, kernel, domain, scheme) in [
        ("fpm", "gemmlowp-neon", json!({}), "gemmlowp-double"),
        ("requantize", "tvm-requantize-tonearest-i8", json!({"output": "i8"}), "ties-away"),
        (
            "quantize",
            "onnx-quantizelinear",
            json!({"expressed": "f32", "storage": "i8", "bounds": false, "containers": "ranked"}),
            "onnx",
        ),
        ("mul", "xnnpack-qs8-vmul", json!({"element": "i8", "clamp": false}), "xnnpack-fp32"),
        ("matmul", "x86-maddubs", json!({"lhs": "u8", "rhs": "i8"}), "pairs-s16-saturate"),
    ] {
        let dir = TempDir::new().expect("a temporary directory");
        let renamed = workspace().join("suites/tests/it/workers/renamed.py").to_string_lossy().into_owned();
        let mut command = ["python3", &renamed, op, kernel, &domain.to_string()].map(str::to_owned).to_vec();
        command.extend(worker("host-worker"));
        let lane = json!({"name": "mine", "command": command});
        let file = dir.path().join("lanes.json");
        fs::write(&file, json!({"lanes": [lane]}).to_string()).expect("written");
        let file = file.to_string_lossy().into_owned();
        let found = identified(&["--lanes", &file, "--lane=mine", "--kernel=foreign"], 0);
        let left = strings(&found[0]["left"]);
        println!("{kernel}: {left:?} by {} inputs", found[0]["inputs"].as_array().map_or(0, Vec::len));
        assert!(left.iter().any(|label| label.split(':').next() == Some(scheme)), "{kernel}: {left:?}");
    }
}

/// An unknown library is identified, and the printed command, which judges it, holds.
#[test]
fn a_library_is_identified_and_the_printed_command_holds() {
    let (bin, work) = installed();
    compiled(bin.path(), work.path(), "requantize.c", &example("requantize.c", &[]));
    let run = shell(bin.path(), work.path(), "tiebreak identify --library ./libmine.so");
    let printed = text(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{printed}{}", text(&run.stderr));
    assert!(printed.contains("scheme    gemmlowp-double\n"), "{printed}");
    let command = printed.lines().find_map(|line| line.trim().strip_prefix("verify")).expect("a command").trim();
    let verified = shell(bin.path(), work.path(), &format!("{command} --effort quick"));
    assert_eq!(verified.status.code(), Some(0), "{command}\n{}", text(&verified.stdout));
    // The vectors of that scheme are for the same domain.
    let command = printed.lines().find_map(|line| line.trim().strip_prefix("vectors")).expect("a command").trim();
    let run = shell(bin.path(), work.path(), command);
    assert!(run.status.success() && text(&run.stdout).contains("they detect"), "{command}\n{}", text(&run.stderr));
    // A kernel that follows no scheme: the nearest scheme is named, and `verify` reports the differences.
    compiled(
        bin.path(),
        work.path(),
        "requantize.c",
        &example("requantize.c", &[("+ p->zero_point;", "- p->zero_point;")]),
    );
    let run = shell(bin.path(), work.path(), "tiebreak identify --library ./libmine.so");
    let printed = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("scheme    none of") && printed.contains("  nearest   gemmlowp-double:wrap gives "),
        "{printed}"
    );
    assert!(printed.contains("class offset-sign: the zero point is subtracted (reproduces all "), "{printed}");
}

#[test]
fn what_cannot_be_identified_is_refused() {
    for (arguments, said) in [
        (&["--lane=host", "--kernel=tvm-relai"][..], "did you mean `tvm-relay`?"),
        (&["--lane=host", "--op=fpn"], "did you mean `fpm`?"),
        (&["--lane=nowhere"], "nowhere"),
        (&["--lane=host", "--kernel=tvm-relay", "--domain=shift=0"], "did you mean `shifts`?"),
        (&[], "--library <FILE>"),
    ] {
        let run = tiebreak(&[&["identify"], arguments].concat()).exits(2);
        assert!(run.stderr.contains(said), "{}", run.printed());
    }
}

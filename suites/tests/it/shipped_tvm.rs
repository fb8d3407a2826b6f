//! TVM's shipped kernels as lanes.

use crate::common::*;
use crate::shipped::{judged, ledger_of, worker_of, wrong};
use serde_json::{Value, json};

/// TVM's kernels, in a lane that `setup --with shipped` omits; true for those that differ as findings 31 and 32 say.
const TVM: [(&str, bool); 14] = [
    ("shipped-tvm-arm-rule", false),
    ("shipped-tvm-arm-lengths", true),
    ("shipped-tvm-arm-per-axis", false),
    ("shipped-tvm-x86-relay", true),
    ("shipped-tvm-x86-per-axis", false),
    ("shipped-tvm-upward", false),
    ("shipped-tvm-tonearest", false),
    ("shipped-tvm-arm-conv2d-upward", true),
    ("shipped-tvm-arm-neon-gemm-u8", true),
    ("shipped-tvm-arm-neon-gemm-i8", true),
    ("shipped-tvm-arm-dotprod-gemm-u8", false),
    ("shipped-tvm-arm-dotprod-gemm-i8", false),
    ("shipped-tvm-arm-neon-conv2d-u8", false),
    ("shipped-tvm-arm-neon-conv2d-i8", false),
];

/// TVM 0.27 is wrong only for 2^30 (finding 1), for the reason on the page of findings.
#[test]
fn tvm_027_wraps_by_one_multiplier_alone() {
    let Some(ledger) = ledger_of("tvm") else { return };
    let judged = judged(&ledger);
    assert!(judged.values().all(|[inputs, _]| *inputs > 1_000));
    assert_eq!((judged.len(), wrong(&judged)), (3, vec!["shipped-tvm-topi-half"]));
    let classes: Vec<&Value> = items(&ledger, "findings").iter().map(|finding| &finding["class"]).collect();
    assert_eq!(classes, [&json!("wrap")]);
}

/// Returns the command of TVM's worker; `None` if it is not installed.
fn worker_of_tvm() -> Option<Value> {
    let worker = worker_of("hhb-tvm");
    if worker.is_none() {
        not_run("the lane hhb-tvm is not installed; `cargo xtask setup --with hhb-tvm` installs it");
    }
    worker
}

/// Arm rule and Arm GEMM kernels of TVM, each judged under an emulator.
#[test]
fn tvm_gives_what_the_findings_say() {
    let Some(ledger) = ledger_of("hhb-tvm") else { return };
    let judged = judged(&ledger);
    assert_eq!(judged.len(), TVM.len());
    for (kernel, broken) in TVM {
        let [inputs, differ] = judged[kernel];
        assert!(inputs > 0 && (differ > 0) == broken, "{kernel}: {differ} of {inputs} differ");
    }
    let unanswered: Vec<&Value> = items(&ledger, "findings").iter().filter(|f| f["class"] == "refused").collect();
    assert!(unanswered.is_empty(), "{unanswered:?}");
}

/// K: TVM's shipped Arm rule differs from one rounding on as many accumulators as `census` counts for its scheme.
#[test]
fn tvm_differs_from_one_rounding_as_often_as_census_says() {
    use std::io::{BufRead, BufReader, Read, Write};
    const COUNT: i32 = 1 << 22;
    const M: i64 = 1_395_864_371;
    let Some(worker) = worker_of_tvm() else { return };
    let command: Vec<String> = serde_json::from_value(worker["command"].clone()).expect("a command");
    let mut process = std::process::Command::new(&command[0])
        .args(&command[1..])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the worker starts");
    let mut input = process.stdin.take().expect("a pipe");
    let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
    let mut differing = 0;
    for start in [-COUNT, 0] {
        let channel = json!({"multiplier": M, "shift": -8});
        let request = json!({
            "command": "run", "op": "fpm", "kernel": "shipped-tvm-arm-rule", "params": {"q": 31, "channels": [channel]},
            "len": COUNT, "source": {"range": {"start": start}}, "misalign": 0
        });
        writeln!(input, "{request}").and_then(|()| input.flush()).expect("the worker reads");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("the worker answers");
        assert!(answer.contains("done"), "{answer}");
        let mut bytes = vec![0; 4 * COUNT as usize];
        output.read_exact(&mut bytes).expect("results");
        for (x, word) in (start..).zip(bytes.chunks_exact(4)) {
            let got = i32::from_le_bytes(word.try_into().expect("four bytes"));
            let exact = (i64::from(x) * M + (1 << 38)) >> 39;
            differing += u64::from(i64::from(got) != exact);
        }
    }
    drop(input);
    assert!(process.wait().expect("the worker ends").success());
    let bounds = [format!("--x-min={}", -COUNT), format!("--x-max={}", COUNT - 1)];
    let schemes = ["census", "--left=ties-up", "--right=sqrdmulh-srshl", "--multiplier=1395864371", "--shift=-8"];
    let census = tiebreak(&[&schemes[..], &[&bounds[0], &bounds[1], "--format=json"]].concat());
    let census: Value = serde_json::from_str(&census.stdout).unwrap_or_else(|e| panic!("{e}: {}", census.printed()));
    println!("{differing} differ");
    assert_eq!(census["differ"], json!(differing), "{census}");
    assert!(differing > 0);
}

//! K: statements of the project on a library equal the library's own results. `cargo xtask setup --with shipped` installs the lanes.

use crate::caller_lanes::lanes;
use crate::common::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Libraries, by the names of their lanes.
const LIBRARIES: [&str; 13] = [
    "gemmlowp",
    "gemmlowp-scalar",
    "xnnpack",
    "onednn",
    "onednn-avx2",
    "onnxruntime",
    "onnxruntime-avx2",
    "litert",
    "tflite-micro",
    "tosa-reference",
    "tract",
    "rten",
    "rten-avx2",
];

/// Kernels that break their contract on x86-64, each described in `docs/src/findings.md`; all other kernels hold.
const BROKEN: [(&str, &str); 40] = [
    ("gemmlowp", "shipped-gemmlowp"),
    ("gemmlowp", "shipped-gemmlowp-fixedpoint-u8"),
    ("gemmlowp", "shipped-gemmlowp-fixedpoint-i16"),
    ("gemmlowp", "shipped-gemmlowp-exponent-u8"),
    ("gemmlowp", "shipped-gemmlowp-exponent-i8"),
    ("gemmlowp", "shipped-gemmlowp-exponent-i16"),
    ("gemmlowp", "shipped-gemmlowp-pipeline-u8"),
    ("gemmlowp", "shipped-gemmlowp-pipeline-i8"),
    ("gemmlowp", "shipped-gemmlowp-pipeline-i16"),
    ("gemmlowp-scalar", "shipped-gemmlowp"),
    ("gemmlowp-scalar", "shipped-gemmlowp-exponent-u8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-exponent-i8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-exponent-i16"),
    ("gemmlowp-scalar", "shipped-gemmlowp-pipeline-u8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-pipeline-i8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-pipeline-i16"),
    ("xnnpack", "shipped-xnnpack-quantize"),
    ("onednn-avx2", "shipped-onednn-matmul-u8s8"),
    ("onednn-avx2", "shipped-onednn-matmul-s8s8"),
    ("onednn-avx2", "shipped-onednn-conv2d-u8s8"),
    ("onednn-avx2", "shipped-onednn-conv2d-s8s8"),
    ("onnxruntime", "shipped-onnxruntime-qlinearadd-i8"),
    ("onnxruntime", "shipped-onnxruntime-qlinearadd-u8"),
    ("onnxruntime-avx2", "shipped-onnxruntime-qlinearadd-i8"),
    ("onnxruntime-avx2", "shipped-onnxruntime-qlinearadd-u8"),
    ("onnxruntime-avx2", "shipped-onnxruntime-matmulinteger-u8i8"),
    ("litert", "shipped-litert-optimized-depthwise-conv-2d"),
    ("litert", "shipped-litert-optimized-quantize"),
    ("litert", "shipped-litert-optimized-dequantize"),
    ("litert", "shipped-litert-optimized-add-i8"),
    ("litert", "shipped-litert-optimized-add-u8"),
    ("litert", "shipped-litert-optimized-mul-i8"),
    ("litert", "shipped-litert-optimized-mul-u8"),
    ("litert", "shipped-litert-reference-quantize"),
    ("litert", "shipped-litert-xnnpack-conv-2d"),
    ("litert", "shipped-litert-xnnpack-depthwise-conv-2d"),
    ("litert", "shipped-litert-xnnpack-fully-connected"),
    ("litert", "shipped-litert-xnnpack-quantize"),
    ("tflite-micro", "shipped-tflite-micro-quantize"),
    ("rten-avx2", "shipped-rten-gemm"),
];

/// Matrix kernels of tract with wrong scaling of the least accumulator, or of ties (findings 22 and 23).
const TRACT: [&str; 2] = ["shipped-tract-avx2-mmm-i32-8x8-", "shipped-tract-avx512vnni-mmm-i32-16x16-"];

fn is_broken(lane: &str, kernel: &str) -> bool {
    BROKEN.contains(&(lane, kernel)) || lane == "tract" && TRACT.iter().any(|prefix| kernel.starts_with(prefix))
}

/// Counts the kernels of tract on this CPU: scalar and matrix kernels, for five tie policies and as a product.
fn of_tract() -> usize {
    5 + 6 * (1 + usize::from(has_avx2()) + usize::from(has_avx512_vnni()))
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512_vnni() -> bool {
    std::is_x86_feature_detected!("avx512vnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512_vnni() -> bool {
    false
}

/// True if this machine has the instructions without which ONNX Runtime and oneDNN add products in saturating pairs (findings 5 and 7).
#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    std::is_x86_feature_detected!("avx512vnni") || std::is_x86_feature_detected!("avxvnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vnni() -> bool {
    true
}

/// Returns the command of a library's worker, if installed.
fn worker_of(library: &str) -> Option<Value> {
    let record = target().join("tiebreak/shipped").join(library).join("installed.json");
    let text = std::fs::read_to_string(record).ok()?;
    let installed: Value = serde_json::from_str(&text).expect("a record of xtask");
    Some(json!({"name": library, "command": installed["command"], "patience_seconds": 60}))
}

/// Writes a lanes file of these libraries; `None` if one is not installed.
fn installed(dir: &Path, libraries: &[&str]) -> Option<PathBuf> {
    let workers: Option<Vec<Value>> = libraries.iter().map(|library| worker_of(library)).collect();
    if workers.is_none() {
        let with = if libraries.contains(&"tosa-mlir") { "tosa-mlir" } else { "shipped" };
        not_run(&format!(
            "{} are not installed; `cargo xtask setup --with {with}` installs them",
            libraries.join(", ")
        ));
    }
    Some(lanes(dir, &workers?))
}

/// Each kernel in each lane is judged, and broken exactly if the page of findings says so.
#[test]
fn each_library_gives_what_the_findings_say() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), &LIBRARIES) else { return };
    if !cfg!(target_arch = "x86_64") {
        return not_run("the findings are of libraries built for x86-64");
    }
    let named: Vec<String> = LIBRARIES.iter().map(|library| format!("--lane={library}")).collect();
    let arguments: Vec<&str> = named.iter().map(String::as_str).chain(["--effort=quick"]).collect();
    let ledger = verify_in(&file, &arguments).exits(1).ledger();
    let judged = judged_in_lanes(&ledger);
    assert_eq!(judged.len(), 2 * 12 + 2 * 9 + 6 + 2 * 4 + 35 + 11 + 10 + of_tract() + 2, "kernels in lanes");
    for (&(lane, kernel), [inputs, differ]) in &judged {
        let in_pairs = kernel == "shipped-onnxruntime-matmulinteger-u8i8" || kernel.starts_with("shipped-onednn");
        let saturates = in_pairs && !has_vnni();
        let broken = saturates || is_broken(lane, kernel);
        // LiteRT's layers take only multipliers that are products of two floats, and with several channels those of 24 bits. Products of tract have
        // no zero points. The reference model requires int16 zero points of 0, and calls overflows unpredictable.
        let least = if ["litert", "tflite-micro", "tosa-reference", "tract"].contains(&lane) { 2_000 } else { 50_000 };
        assert!(*inputs > least && (*differ > 0) == broken, "{lane} {kernel}: {differ} of {inputs} differ");
    }
    let saturated = items(&ledger, "findings").iter().find(|f| f["kernel"] == "shipped-onnxruntime-matmulinteger-u8i8");
    assert_eq!(saturated.map(|f| &f["class"]), Some(&json!("16-bit-saturation")), "finding 5");
    // Every job was answered, and every finding is a difference.
    let unanswered: Vec<&Value> = items(&ledger, "findings").iter().filter(|f| f["class"] == "refused").collect();
    assert!(unanswered.is_empty(), "{unanswered:?}");
}

/// Libraries for aarch64, which run under an emulator.
const FOR_AARCH64: [&str; 7] = [
    "gemmlowp-aarch64",
    "xnnpack-aarch64",
    "onnxruntime-aarch64",
    "onnxruntime-cortex-a72",
    "litert-aarch64",
    "tract-aarch64",
    "rten-aarch64",
];

/// Kernels on aarch64 that break their contract. LiteRT's other operators take minutes there.
const BROKEN_ON_AARCH64: [&str; 16] = [
    "shipped-gemmlowp",
    "shipped-gemmlowp-exponent-u8",
    "shipped-gemmlowp-exponent-i8",
    "shipped-gemmlowp-exponent-i16",
    "shipped-gemmlowp-pipeline-u8",
    "shipped-gemmlowp-pipeline-i8",
    "shipped-gemmlowp-pipeline-i16",
    "shipped-xnnpack-quantize",
    "shipped-xnnpack-mul-i8",
    "shipped-xnnpack-mul-u8",
    "shipped-onnxruntime-qlinearadd-i8",
    "shipped-onnxruntime-qlinearadd-u8",
    "shipped-onnxruntime-qlinearmul-i8",
    "shipped-onnxruntime-qlinearmul-u8",
    "shipped-litert-optimized-conv-2d",
    "shipped-litert-optimized-fully-connected",
];

/// Kernels that do so only on a CPU without dot products (finding 4).
const WRAPPING: [&str; 2] = ["shipped-onnxruntime-matmulinteger-i8i8", "shipped-onnxruntime-matmulinteger-u8i8"];

/// On aarch64, other kernels break their contract than on x86-64 (findings 16, 40 and 42 to 44).
#[test]
fn libraries_for_aarch64_give_what_the_findings_say() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let workers: Option<Vec<Value>> = FOR_AARCH64.iter().map(|library| worker_of(library)).collect();
    let Some(workers) = workers else {
        return not_run("`cargo xtask setup --with shipped-aarch64` installs these libraries");
    };
    let file = lanes(dir.path(), &workers);
    let but_litert = FOR_AARCH64.iter().filter(|lane| **lane != "litert-aarch64").map(|lane| format!("--lane={lane}"));
    let but_litert: Vec<String> = but_litert.chain(["--effort=quick".to_owned()]).collect();
    let layers = ["reference-conv-2d", "reference-fully-connected", "optimized-conv-2d", "optimized-fully-connected"];
    let layers: Vec<String> = ["--lane=litert-aarch64", "--op=requantize", "--effort=quick"]
        .map(str::to_owned)
        .into_iter()
        .chain(layers.map(|layer| format!("--kernel=shipped-litert-{layer}")))
        .collect();
    for (arguments, kernels) in [(but_litert, 48), (layers, 4)] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ledger = verify_in(&file, &arguments).exits(1).ledger();
        let judged = judged_in_lanes(&ledger);
        assert_eq!(judged.len(), kernels, "kernels in lanes");
        for (&(lane, kernel), [inputs, differ]) in &judged {
            let wraps = lane == "onnxruntime-cortex-a72" && WRAPPING.contains(&kernel);
            let broken = wraps || BROKEN_ON_AARCH64.contains(&kernel);
            assert!(*inputs > 2_000 && (*differ > 0) == broken, "{lane} {kernel}: {differ} of {inputs} differ");
        }
    }
}

/// Findings 16, 17, 19 and 20, each by its own input.
#[test]
fn findings_of_shipped_libraries_are_shown_by_one_input() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), &LIBRARIES) else { return };
    if !cfg!(target_arch = "x86_64") {
        return not_run("the findings are of libraries built for x86-64");
    }
    let cases = [
        (
            "requantize",
            "shipped-gemmlowp-fixedpoint-u8",
            "gemmlowp",
            "--case=m=-2147483648 s=0 zero_point=0 min=0 max=255 len=9 x[7]=-2147483648 misalign=8 at=7",
            "got 0, gemmlowp-double 255",
        ),
        (
            "add",
            "shipped-onnxruntime-qlinearadd-i8",
            "onnxruntime",
            "--case=lhs_scale=0.5 rhs_scale=0.5 out_scale=4.656612873077393e-10 lhs=1 rhs=1",
            "got -128, onnx 127",
        ),
        (
            "quantize",
            "shipped-xnnpack-quantize",
            "xnnpack",
            "--case=type=!quant.uniform<i8:f32,1.1754943508222875e-38> x=8.816208e-39",
            "got 0, xnnpack 1",
        ),
    ];
    for (op, kernel, lane, case, gives) in cases {
        let [op, kernel, lane] = [("op", op), ("kernel", kernel), ("lane", lane)].map(|(k, v)| format!("--{k}={v}"));
        let run = verify_in(&file, &[&op, &kernel, &lane, case]).exits(1);
        let printed = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(gives), "{printed}");
    }
    let shift =
        ["--op=fpm", "--kernel=shipped-gemmlowp", "--lane=gemmlowp-scalar", "--multiplier=1", "--shift=31", "--x=-1"];
    let run = verify_in(&file, &shift).exits(1);
    assert!(run.stdout.contains("got 1, gemmlowp-double"), "{}", run.printed());
}

/// The scheme that an adapter claims is among those that `identify` finds among all schemes of the operation, unless the kernel breaks its contract.
#[test]
fn the_claims_of_adapters_are_what_identify_finds() {
    let mut counts = [0, 0];
    for library in ["gemmlowp", "xnnpack", "onnxruntime", "litert", "tflite-micro", "tosa-reference", "tract", "rten"] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let Some(file) = installed(dir.path(), &[library]) else { continue };
        let file = file.to_string_lossy().into_owned();
        let lane = ["--lanes", &file, "--lane", library, "--format", "json"];
        let run = tiebreak(&[&["identify"], &lane[..]].concat());
        let found: Vec<Value> = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
        for kernel in &found {
            let name = kernel["kernel"].as_str().expect("a name");
            let claimed = kernel["claimed"].as_str().unwrap_or_default();
            let left: Vec<&str> = kernel["left"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let is_left = left.iter().any(|label| label.split(':').next() == claimed.split(':').next());
            let broken = is_broken(library, name);
            println!("{library} {name}: {claimed}, of which {left:?} are left");
            assert!(is_left || broken, "{library} {name} claims {claimed}; left are {left:?}");
            counts[usize::from(is_left)] += 1;
        }
    }
    println!("{} claims are left, {} kernels break theirs", counts[1], counts[0]);
    if counts == [0, 0] {
        not_run("no shipped library is installed");
    }
}

/// Real model in LiteRT's reference and optimized kernels: the audit predicts each layer that is the first to differ, and its channel.
#[test]
fn differences_of_a_real_model_are_those_that_the_audit_predicts() {
    let model = target().join("tiebreak/models/hey_jarvis.tflite");
    let (Some(worker), true) = (worker_of("litert"), model.exists()) else {
        return not_run(
            "LiteRT or the model is not there; `cargo xtask setup --with litert --with models` installs both",
        );
    };
    let words: Vec<PathBuf> = serde_json::from_value(worker["command"].clone()).expect("a command");
    let (model, kernels) = (model.to_string_lossy(), ["tflite-reference", "tflite-optimized"]);
    let script = words[1].with_file_name("trace.py");
    let mut python = std::process::Command::new(&words[0]);
    let run = python.arg(script).arg(&*model).args(kernels).args(["--samples", "300"]).output().expect("python starts");
    let traced: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run:?}"));
    let run = tiebreak(&["audit", &model, "--from", kernels[0], "--to", kernels[1], "--format", "json"]);
    let audit: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
    let layer = |index: u64| {
        let layers = items(&audit["comparisons"][0], "layers");
        layers.iter().find(|layer| layer["index"] == index).unwrap_or_else(|| panic!("layer {index} is not audited"))
    };
    println!("{}", traced["first"]);
    let differing = traced["first_layers"].as_object().expect("layers");
    assert!(!differing.is_empty(), "no layer differs: {traced}");
    for index in differing.keys() {
        let layer = layer(index.parse().expect("a number"));
        assert!(layer["totals"]["differ"].as_u64() > Some(0), "the audit holds layer {index} unchanged");
    }
    let first = &traced["first"];
    let channels = items(layer(first["layer"].as_u64().expect("a layer")), "channels");
    let channel = channels.iter().find(|channel| channel["channel"] == first["channel"]).expect("the channel");
    assert!(channel["differ"].as_u64() > Some(0), "{channel}");
}

/// K: the audit and `identify` find the same schemes for LiteRT's layers, separately for whole vectors and remaining elements.
#[test]
fn the_audit_and_the_lane_name_the_same_schemes() {
    let model = target().join("tiebreak/models/hey_jarvis.tflite");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), &["litert"]).filter(|_| model.exists()) else {
        return not_run(
            "LiteRT or the model is not there; `cargo xtask setup --with litert --with models` installs both",
        );
    };
    let (model, file) = (model.to_string_lossy(), file.to_string_lossy().into_owned());
    let kernels = ["tflite-reference", "tflite-optimized"];
    let audit = tiebreak(&["audit", &model, "--from", kernels[0], "--to", kernels[1], "--format", "json"]);
    let audit: Value = serde_json::from_str(&audit.stdout).unwrap_or_else(|e| panic!("{e}: {}", audit.printed()));
    let mut said = BTreeMap::new();
    for layer in items(&audit["comparisons"][0], "layers") {
        let operator = layer["op"].as_str().expect("an operator").to_lowercase().replace('_', "-");
        for (kernels, side) in [("reference", "left"), ("optimized", "right")] {
            let labels = layer[side].as_str().expect("derivations and schemes").split(", ");
            let schemes: Vec<String> = labels.filter_map(|label| Some(label.split(' ').nth(1)?.to_owned())).collect();
            said.insert(format!("shipped-litert-{kernels}-{operator}"), schemes);
        }
    }
    let mut compared = 0;
    for (kernel, schemes) in said.iter().filter(|(kernel, _)| !kernel.ends_with("-quantize")) {
        let lane = ["--lanes", &file, "--lane", "litert", "--op", "requantize", "--format", "json"];
        let run = tiebreak(&[&["identify", "--kernel", kernel], &lane[..]].concat());
        let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
        let found = &found[0];
        let left = items(found, "left").iter().chain([&found["apart"]["body"], &found["apart"]["tail"]]);
        let left: Vec<&str> = left.filter_map(Value::as_str).collect();
        println!("{kernel}: the audit says {schemes:?}, left are {left:?}");
        for scheme in schemes {
            // The audit has the real multiplier; the lane has only multipliers that 24 bits hold exactly.
            let scheme = if scheme == "f64-product-away" { "ties-away" } else { scheme };
            assert!(left.contains(&scheme), "{kernel}: {scheme} is not among {left:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 7, "two kinds of kernels, three operators, and one that has two schemes");
}

/// Corrupt build of a library: one result of a vector is one too large.
#[test]
fn a_library_with_one_wrong_position_is_shown_there() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(Value::Object(worker)) = worker_of("gemmlowp") else {
        return not_run("gemmlowp is not installed; `cargo xtask setup --with gemmlowp` installs it");
    };
    let wrapper = dir.path().join("wrapper.py");
    std::fs::write(&wrapper, WRAPPER).expect("the temporary directory can be written");
    let mut command = vec![json!("python3"), json!(wrapper)];
    command.extend(worker["command"].as_array().expect("a command").iter().cloned());
    let file = lanes(dir.path(), &[json!({"name": "gemmlowp", "command": command})]);
    let kernel = "shipped-gemmlowp-quantize-down";
    let run = verify_in(&file, &["--op=requantize", "--kernel", kernel, "--lane=gemmlowp", "--effort=quick"]).exits(1);
    let ledger = run.ledger();
    let witness = &items(&ledger, "findings")[0]["witness"];
    assert_eq!(witness["case"]["at"], 5, "{}", run.printed());
    assert_eq!(witness["case"]["len"].as_i64(), Some(6), "{}", run.printed());
}

/// Script that passes all data on, and adds one to the sixth of every eight results.
const WRAPPER: &str = r#"
import json, struct, subprocess, sys
worker = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    request = json.loads(line)
    payload = request.get("source", {}).get("payload", {}).get("bytes", 0)
    worker.stdin.write(line + sys.stdin.buffer.read(payload))
    worker.stdin.flush()
    header = worker.stdout.readline()
    count = json.loads(header).get("bytes", 0) // 4
    out = list(struct.unpack("<%di" % count, worker.stdout.read(4 * count)))
    out[5::8] = [(x + 1 + 2**31) % 2**32 - 2**31 for x in out[5::8]]
    sys.stdout.buffer.write(header + struct.pack("<%di" % count, *out))
    sys.stdout.buffer.flush()
"#;

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

/// Returns the ledger of a lane that has findings; `None` if it is not installed.
fn ledger_of(lane: &str) -> Option<Value> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(worker) = worker_of(lane) else {
        not_run(&format!("the lane {lane} is not installed; `cargo xtask setup --with {lane}` installs it"));
        return None;
    };
    let lane = format!("--lane={lane}");
    Some(verify_in(&lanes(dir.path(), &[worker]), &[&lane, "--effort=quick"]).exits(1).ledger())
}

/// Returns inputs and differences of each kernel in each lane, against its contract.
fn judged_in_lanes(ledger: &Value) -> BTreeMap<(&str, &str), [u64; 2]> {
    let mut judged: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for row in items(ledger, "rows").iter().filter(|row| row["against"] == "contract") {
        let of = |key: &str| row[key].as_str().expect("a name");
        let [inputs, differ] = judged.entry((of("lane"), of("kernel"))).or_default();
        *inputs += row["inputs"].as_u64().expect("a count");
        *differ += row["differ"].as_u64().expect("a count");
    }
    println!("{judged:#?}");
    judged
}

/// Returns inputs and differences of each kernel in a ledger with one lane.
fn judged(ledger: &Value) -> BTreeMap<&str, [u64; 2]> {
    judged_in_lanes(ledger).into_iter().map(|((_, kernel), counts)| (kernel, counts)).collect()
}

/// Returns the kernels that differ.
fn wrong<'a>(judged: &BTreeMap<&'a str, [u64; 2]>) -> Vec<&'a str> {
    judged.iter().filter(|(_, [_, differ])| *differ > 0).map(|(kernel, _)| *kernel).collect()
}

/// Debian's PyTorch: sums and quantizations are wrong (findings 36 and 38), and average pools follow two schemes, one for each layout (finding 37).
#[test]
fn pytorch_gives_what_the_findings_say() {
    let Some(ledger) = ledger_of("pytorch") else { return };
    let judged = judged(&ledger);
    assert!(judged.values().all(|[inputs, _]| *inputs > 1_000));
    let broken = ["shipped-pytorch-add-i8", "shipped-pytorch-add-u8", "shipped-pytorch-quantize"];
    assert_eq!((judged.len(), wrong(&judged)), (15, broken.to_vec()));
}

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

/// Lanes of TOSA as lowered by MLIR: both levels on this machine, and on aarch64 under an emulator.
#[cfg(target_arch = "x86_64")]
const COMPILED_TOSA: &[&str] = &["tosa-mlir", "tosa-mlir-o0", "tosa-mlir-aarch64", "tosa-mlir-aarch64-o0"];
#[cfg(not(target_arch = "x86_64"))]
const COMPILED_TOSA: &[&str] = &["tosa-mlir", "tosa-mlir-o0"];

/// Runs `verify` in the lanes of compiled TOSA.
fn verify_compiled_tosa(file: &Path, arguments: &[&str]) -> Run {
    let named: Vec<String> = COMPILED_TOSA.iter().map(|lane| format!("--lane={lane}")).collect();
    let lanes: Vec<&str> = named.iter().map(String::as_str).collect();
    verify_in(file, &[&lanes, arguments].concat())
}

/// TOSA as lowered by MLIR, at both levels and for both machines. Each kernel whose parameters are operands is exact on the quick plan, except the
/// rescaling to unsigned bytes, whose zero point is read as signed (finding 34).
#[test]
fn compiled_tosa_is_exact_but_for_unsigned_zero_points() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), COMPILED_TOSA) else { return };
    let scalings = ["single", "double", "single-32", "double-32"].map(|name| format!("apply-scale-{name}"));
    let rescalings = ["single-i8", "double-i8", "double-u8", "single-i16"].map(|name| format!("rescale-{name}"));
    let sums = ["add-double-i8", "add-single-i8"].map(str::to_owned);
    let kernels = scalings.iter().chain(&rescalings).chain(&sums).map(|name| format!("--kernel=shipped-tosa-{name}"));
    let arguments: Vec<String> = kernels.chain(["--effort=quick".to_owned()]).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ledger = verify_compiled_tosa(&file, &arguments).exits(1).ledger();
    let wrong = "shipped-tosa-rescale-double-u8";
    let judged = judged_in_lanes(&ledger);
    assert_eq!(judged.len(), COMPILED_TOSA.len() * 10, "kernels in lanes");
    for (&(lane, kernel), [inputs, differ]) in &judged {
        assert!(
            *inputs > 100_000 && (*differ > 0) == (kernel == wrong),
            "{lane} {kernel}: {differ} of {inputs} differ"
        );
    }
    let findings = items(&ledger, "findings");
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!((&finding["kernel"], &finding["class"]), (&json!(wrong), &json!("signedness")), "{finding}");
    }
}

/// Operators with compiled-in windows, sizes or zero points, with a few values of each: strides, dilations, paddings of every side, remainders that
/// no window reaches, zero points at both ends of the type, several images. No case differs from the operation's reference (ties go to even results),
/// because evidence for a difference would take the whole quick plan, with a compilation for each window.
const TOSA_CASES: [(&str, &str, &[&str]); 6] = [
    (
        "conv2d",
        "conv2d",
        &[
            "height=3 width=3 kernel_h=2 kernel_w=2 input=uniform@1/1 weights=uniform@1/2",
            "batches=2 height=5 width=6 channels=3 kernel_h=3 kernel_w=2 out_channels=5 stride_h=2 top=1 left=1 input_zero_point=-128 input=uniform@1/3 weights=uniform@1/4",
            "height=8 width=9 channels=2 kernel_h=3 kernel_w=3 out_channels=4 stride_h=2 stride_w=3 dilation_w=2 bottom=2 right=1 input_zero_point=127 weight_zero_point=-128 input=uniform@1/5 weights=uniform@1/6",
            "height=7 width=4 channels=17 kernel_h=2 out_channels=9 dilation_h=3 top=2 bottom=1 input_zero_point=-5 weight_zero_point=7 input=-128 weights=-128",
            "height=6 width=6 channels=16 out_channels=8 stride_h=4 stride_w=5 weight_zero_point=127 input=127 weights=uniform@1/7",
        ],
    ),
    (
        "pool",
        "avg-pool2d-i8",
        &[
            "width=8 kernel_w=2 stride_w=2 input=1..",
            "batches=2 height=6 width=7 channels=5 kernel_h=3 kernel_w=5 stride_h=3 stride_w=2 input_zero_point=-128 out_zero_point=-128 input=uniform@1/2",
            "height=9 width=8 channels=3 kernel_h=5 kernel_w=3 stride_h=2 stride_w=4 top=2 bottom=2 input_zero_point=127 out_zero_point=127 input=uniform@1/3",
            "height=7 width=7 channels=16 kernel_h=7 kernel_w=7 input_zero_point=-1 out_zero_point=-1 input=-128",
        ],
    ),
    (
        "pool",
        "avg-pool2d-i16",
        &[
            "type=i16 height=5 width=6 channels=3 kernel_h=3 kernel_w=3 stride_h=2 stride_w=2 input=uniform@1/1",
            "type=i16 height=5 width=7 channels=9 kernel_h=5 kernel_w=3 stride_w=2 left=2 right=2 input=-32768",
        ],
    ),
    (
        "pool",
        "max-pool2d-i8",
        &[
            "height=5 width=6 channels=3 kernel_h=3 kernel_w=2 stride_h=2 top=1 right=1 input=uniform@1/1",
            "batches=2 height=4 width=4 channels=17 kernel_h=2 kernel_w=2 stride_h=2 stride_w=2 left=1 bottom=1 input=-128",
        ],
    ),
    (
        "matmul",
        "matmul",
        &[
            "m=5 n=9 k=17 lhs=uniform@1/1 rhs=uniform@1/2",
            "m=3 n=4 k=33 lhs_offset=128 rhs_offset=-127 lhs=uniform@1/3 rhs=-128",
            "m=2 n=17 k=64 lhs_offset=-5 rhs_offset=128 lhs=127 rhs=uniform@1/4",
        ],
    ),
    (
        "transform",
        "pad",
        &[
            "zero_point=-128 batches=2 height=3 width=4 channels=3 input=-70..",
            "zero_point=7 batches=2 height=3 width=4 channels=3 top=1 bottom=2 left=3 right=1 input=1..",
            "zero_point=255 height=3 width=2 channels=9 left=1 bottom=2 input=200..",
            "zero_point=127 height=2 width=5 channels=2 batches_before=1 batches_after=2 channels_before=3 channels_after=1 input=-20..",
        ],
    ),
];

/// MLIR's code for one window, size or zero point is exact, at both levels and for both machines.
#[test]
fn compiled_tosa_is_exact_for_windows_and_zero_points() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), COMPILED_TOSA) else { return };
    for (op, kernel, cases) in TOSA_CASES {
        let kernel = format!("shipped-tosa-{kernel}");
        let (named, each) = (format!("--kernel={kernel}"), cases.iter().flat_map(|case| ["--case", case]));
        let arguments: Vec<&str> = ["--op", op, &named].into_iter().chain(each).collect();
        let ledger = verify_compiled_tosa(&file, &arguments).exits(0).ledger();
        let judged = judged_in_lanes(&ledger);
        assert_eq!(judged.len(), COMPILED_TOSA.len(), "{kernel}: kernels in lanes");
        for (&(lane, _), counts) in &judged {
            assert!(counts[0] >= 16 && counts[1] == 0, "{lane} {kernel}: {counts:?}");
        }
        assert_eq!(items(&ledger, "outside_domain"), &[] as &[Value], "{kernel}");
    }
}
